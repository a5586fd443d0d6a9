"""Compile graphs of ATen operators whole, or in parts around operators without a converter."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from ...dialects.int_expr import Arg, IntExpr, Sym
from ...dialects.relax import TensorData
from ...driver import build
from ...runtime.warning import XRelaxWarning
from ..unsupported import Problem, UnsupportedError
from .graph import GraphImport, Input
from .nodes import DROPPED, GETITEM, live_nodes
from .parameters import parameter_data
from .registry import overload_name
from .shapes import Symbols
from .tensors import complex_tensor, plain, to_torch


class AtenGraph:
    """An imported graph, ready to be built.

    Its function "main" returns a tuple, also of one result. Raises UnsupportedError, with a line
    for each operation that cannot be imported.
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
        """A function from the graph's flat inputs to its flat outputs, built with `options`."""
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
    """The constant tensors in the graph, such as numbers that a model assigns."""
    nodes = [n for n in graph.graph.nodes if n.op == "get_attr"]
    held = {n: getattr(graph, n.target, None) for n in nodes}
    return {n: parameter_data(t, n.target) for n, t in held.items() if isinstance(t, torch.Tensor)}


def _all(results: Any) -> list[Any]:
    return cast("list[Any]", [*results] if isinstance(results, list | tuple) else [results])


def _output(
    node: Any, made: Any, sizes: dict[Any, IntExpr], sources: dict[str, Any], args: Sequence[Any]
) -> Any:
    if _is_tensor(node):
        result = to_torch(next(made))
        return complex_tensor(result) if node.meta["val"].is_complex() else result
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
    """For each symbol, a function that reads its value from the inputs."""
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


_PART = "compiled_part_"
_SHOWN = 3
"""Most operations that a warning names; the rest is counted."""


def compile_graph(
    graph: fx.GraphModule, *, strict: bool = False, **options: Any
) -> Callable[..., Any]:
    """Compile a graph of ATen operators to a function from its flat inputs to its flat outputs.

    PyTorch runs the operations that cannot be imported, and an XRelaxWarning names them; with
    `strict`, they raise UnsupportedError. `options` are those of `build`.
    """
    try:
        return AtenGraph(graph).function(**options)
    except UnsupportedError as error:
        if strict:
            raise
        return _in_parts(graph, error, options)


def _in_parts(
    graph: fx.GraphModule, error: UnsupportedError, options: Mapping[str, Any]
) -> Callable[..., Any]:
    problems, failed = list(error.problems), set(error.failed)
    while True:
        fused = _fused(graph, failed)
        parts: dict[str, AtenGraph] = {}
        known = len(failed)
        for name, part in _parts(fused).items():
            try:
                parts[name] = AtenGraph(part)
            except UnsupportedError as more:
                problems += more.problems
                failed |= more.failed
        if len(failed) == known:
            break
    _warn(problems, graph, _parts(fused).values())
    for name, part in parts.items():
        original = fused.get_submodule(name)
        fused.set_submodule(name, _Part(original, part.function(**options)))
    return fused


class _Part(torch.nn.Module):
    """A compiled part; its results have PyTorch's strides, on which later views may depend."""

    def __init__(self, graph: Any, function: Callable[..., list[Any]]):
        super().__init__()
        (output,) = graph.graph.find_nodes(op="output")
        self.is_single = isinstance(output.args[0], fx.Node)
        leaves = [output.args[0]] if self.is_single else output.args[0]
        self.orders = [_stride_order(leaf.meta.get("val")) for leaf in leaves]
        self.function = function

    def forward(self, *args: Any) -> Any:
        results = [
            value if order is None else _permuted(value, order)
            for value, order in zip(self.function(*args), self.orders, strict=True)
        ]
        return results[0] if self.is_single else tuple(results)


def _stride_order(value: Any) -> list[int] | None:
    """The dims of a tensor by decreasing stride, `None` for the default order."""
    if not isinstance(value, torch.Tensor):
        return None
    given: list[Any] = list(value.stride())
    strides = [cast(Any, s).node.hint if type(s) is torch.SymInt else s for s in given]
    order = sorted(range(value.ndim), key=lambda dim: -strides[dim])
    return None if order == list(range(value.ndim)) else order


def _permuted(value: torch.Tensor, order: list[int]) -> torch.Tensor:
    return value.permute(order).contiguous().permute([order.index(d) for d in range(len(order))])


class _Support(OperatorSupportBase):
    """Supported nodes: those that a result needs and that have been converted."""

    def __init__(self, failed: Collection[str], live: Collection[fx.Node]):
        self.failed = failed
        self.live = live

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: fx.Node) -> bool:
        value = node.meta.get("val")
        has_value = isinstance(value, torch.Tensor | torch.SymInt | list | tuple)
        known = node.op == "call_function" and node.name not in self.failed
        return known and has_value and node in self.live


def _fused(graph: fx.GraphModule, failed: Collection[str]) -> fx.GraphModule:
    """The graph with the parts that can be compiled as submodules."""
    made = fx.GraphModule(graph, copy.deepcopy(graph.graph))
    (output,) = made.graph.find_nodes(op="output")
    support = _Support(failed, live_nodes(output.all_input_nodes))
    partitioner = CapabilityBasedPartitioner(made, support, allows_single_node_partition=True)
    found = partitioner.fuse_partitions(partitioner.propose_partitions(), prefix=_PART)
    sizes = [n for n in found.graph.find_nodes(op="placeholder") if _is_size(n)]
    for node in found.graph.find_nodes(op="call_module"):
        _give_sizes(node, found.get_submodule(str(node.target)), sizes)
    found.recompile()
    return found


def _give_sizes(node: fx.Node, part: Any, sizes: Sequence[fx.Node]) -> None:
    """Pass all symbolic sizes of the graph to a part, since shapes of its inputs may use them."""
    placeholders = part.graph.find_nodes(op="placeholder")  # not only at the start
    known = {n.name for n in placeholders}
    place = placeholders[-1].next if placeholders else next(iter(part.graph.nodes))
    for size in sizes:
        if size.name not in known:
            with part.graph.inserting_before(place):
                part.graph.placeholder(size.name).meta = copy.copy(size.meta)
            node.args = (*node.args, size)
    part.recompile()


def _is_size(node: fx.Node) -> bool:
    return isinstance(node.meta.get("val"), torch.SymInt)


def _parts(fused: fx.GraphModule) -> dict[str, Any]:
    return {n: m for n, m in fused.named_children() if n.startswith(_PART)}


def _warn(problems: Sequence[Problem], graph: Any, parts: Collection[Any]) -> None:
    count, compiled = _operations(graph), sum(map(_operations, parts))
    named = [f"{p.target} at {p.place}{p.reason and ': '}{p.reason}" for p in problems[:_SHOWN]]
    more = f" and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    warnings.warn(
        f"compiled {compiled} of {count} operations of a graph, in {len(parts)} "
        f"part{'' if len(parts) == 1 else 's'}, and PyTorch runs the others: expected supported "
        f"operations, got {', '.join(named)}{more}; options={{'strict': True}} makes this an error",
        XRelaxWarning,
        stacklevel=2,
    )


def _operations(graph: Any) -> int:
    nodes = [n for n in graph.graph.nodes if n.op == "call_function"]
    return sum(overload_name(n.target) not in (GETITEM, *DROPPED) for n in nodes)
