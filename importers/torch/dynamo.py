"""The backend of `torch.compile`: ``torch.compile(model, backend="xrelax")``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import _dynamo, fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._subclasses.fake_tensor import unset_fake_temporarily

from ...dialects.int_expr import Arg, IntExpr, Sym
from ...dialects.relax import TensorData
from ...driver import build
from .decompositions import decompositions
from .graph import GraphImport, Input
from .parameters import parameter_data
from .registry import load_converters
from .shapes import Symbols
from .tensors import plain, to_torch


def backend(
    graph: fx.GraphModule, example_inputs: Sequence[Any], **options: Any
) -> Callable[..., Any]:
    """Compile one graph that TorchDynamo has captured; what is between graphs runs in Python.

    PyTorch's AOTAutograd turns it into a graph of ATen operators without side effects, where
    weights are inputs. Operators with a converter stay whole as far as it lets them. `options` are
    those of `build`. Raises UnsupportedError, within PyTorch's error about the backend, with a line
    for each operation that cannot be imported.
    """

    def compiler(graph: fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        with unset_fake_temporarily():  # PyTorch compiles among tensors without data
            return make_boxed_func(compile_graph(graph, **options))

    compiled = aot_autograd(fw_compiler=compiler, decompositions=decompositions(load_converters()))
    return compiled(graph, example_inputs)


def compile_graph(graph: fx.GraphModule, **options: Any) -> Callable[..., Any]:
    """A graph of ATen operators as a function of its flat inputs that gives its flat outputs."""
    placeholders = [n for n in graph.graph.nodes if n.op == "placeholder"]
    (outputs,) = (n.args[0] for n in graph.graph.nodes if n.op == "output")
    inputs = {i: n for i, n in enumerate(placeholders) if _is_tensor(n) or _is_symbolic(n)}
    leaves: list[Any] = list(outputs)
    results = [n for n in leaves if _is_tensor(n)]
    symbols = Symbols()
    given = GraphImport(
        graph.graph,
        [Input(n, n.name) for n in inputs.values()],
        _constants(graph),
        results,
        symbols,
    )
    function = build(given.module(), **options)["main"] if results else None
    sizes = {n: symbols.expr(n.meta["val"]) for n in leaves if _is_symbolic(n)}
    sources = _sizes_of(placeholders, symbols)

    def run(*args: Any) -> list[Any]:
        values = [plain(args[i]) if _is_tensor(n) else int(args[i]) for i, n in inputs.items()]
        made = iter(() if function is None else _all(function(*values)))
        return [_output(n, made, sizes, sources, args) for n in leaves]

    return run


def _constants(graph: fx.GraphModule) -> dict[fx.Node, TensorData]:
    """The tensors that the graph itself holds, such as numbers that a model assigns."""
    nodes = [n for n in graph.graph.nodes if n.op == "get_attr"]
    held = {n: getattr(graph, n.target, None) for n in nodes}
    return {n: parameter_data(t, n.target) for n, t in held.items() if isinstance(t, torch.Tensor)}


def _all(results: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", results if isinstance(results, tuple) else (results,))


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


def register() -> None:
    """Make the backend known under the name "xrelax", also where the package is not installed."""
    dynamo: Any = _dynamo  # whose types are partly unknown
    if "xrelax" not in dynamo.list_backends(exclude_tags=()):
        dynamo.register_backend(compiler_fn=backend, name="xrelax")
