"""A graph of ATen operators, as AOTAutograd makes it, as a function of its flat inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import fx

from ...dialects.int_expr import Arg, IntExpr, Sym
from ...dialects.relax import TensorData
from ...driver import build
from .graph import GraphImport, Input
from .parameters import parameter_data
from .shapes import Symbols
from .tensors import plain, to_torch


class AtenGraph:
    """A graph that was imported, and can be built.

    Raises UnsupportedError, with a line for each operation that cannot be imported.
    """

    def __init__(self, graph: fx.GraphModule):
        self._placeholders = graph.graph.find_nodes(op="placeholder")
        (output,) = graph.graph.find_nodes(op="output")
        self._leaves: list[Any] = _all(output.args[0])
        given = {i: n for i, n in enumerate(self._placeholders) if _is_tensor(n) or _is_symbolic(n)}
        self._inputs = given
        self._symbols = Symbols()
        results = [n for n in self._leaves if _is_tensor(n)]
        graph_import = GraphImport(
            graph.graph,
            [Input(n, n.name) for n in given.values()],
            _constants(graph),
            results,
            self._symbols,
        )
        self.module = graph_import.module() if results else None

    def function(self, **options: Any) -> Callable[..., list[Any]]:
        """What takes the graph's flat inputs and gives its flat outputs, built with `options`."""
        inputs, leaves, symbols = self._inputs, self._leaves, self._symbols
        native = None if self.module is None else build(self.module, **options)["main"]
        sizes = {n: symbols.expr(n.meta["val"]) for n in leaves if _is_symbolic(n)}
        sources = _sizes_of(self._placeholders, symbols)

        def run(*args: Any) -> list[Any]:
            values = [plain(args[i]) if _is_tensor(n) else int(args[i]) for i, n in inputs.items()]
            made = iter(() if native is None else _all(native(*values)))
            return [_output(n, made, sizes, sources, args) for n in leaves]

        return run


def _constants(graph: fx.GraphModule) -> dict[fx.Node, TensorData]:
    """The tensors that the graph itself holds, such as numbers that a model assigns."""
    nodes = [n for n in graph.graph.nodes if n.op == "get_attr"]
    held = {n: getattr(graph, n.target, None) for n in nodes}
    return {n: parameter_data(t, n.target) for n, t in held.items() if isinstance(t, torch.Tensor)}


def _all(results: Any) -> list[Any]:
    return cast("list[Any]", [*results] if isinstance(results, list | tuple) else [results])


def _output(
    node: Any, made: Any, sizes: dict[Any, IntExpr], sources: dict[str, Any], args: Sequence[Any]
) -> Any:
    if _is_tensor(node):
        return to_torch(next(made))
    if node in sizes:
        return sizes[node].evaluate(lambda symbol: _value(symbol, sources, args))
    return node


def _value(symbol: Sym | Arg, sources: dict[str, Any], args: Sequence[Any]) -> int:
    assert isinstance(symbol, Sym)
    return sources[symbol.name](args)


def _is_tensor(node: Any) -> bool:
    return isinstance(node, fx.Node) and isinstance(node.meta.get("val"), torch.Tensor)


def _is_symbolic(node: Any) -> bool:
    return isinstance(node, fx.Node) and isinstance(node.meta.get("val"), torch.SymInt)


def _sizes_of(
    placeholders: Sequence[fx.Node], symbols: Symbols
) -> dict[str, Callable[[Sequence[Any]], int]]:
    """How the value of each symbol is read from the inputs."""
    found: dict[str, Callable[[Sequence[Any]], int]] = {}
    for index, node in enumerate(placeholders):
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt):
            if isinstance(atom := symbols.expr(value).as_atom, Sym):
                found[atom.name] = lambda args, i=index: int(args[i])
        elif isinstance(value, torch.Tensor):
            for axis, dim in enumerate(symbols.dims(value)):
                if isinstance(atom := dim.as_atom, Sym):
                    found.setdefault(atom.name, lambda args, i=index, a=axis: args[i].shape[a])
    return found
