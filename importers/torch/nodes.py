"""Kinds of nodes of a graph, and which of them others depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, cast

import torch
from torch import fx

from ..unsupported import Problem, UnsupportedError
from .registry import overload_name
from .source_lines import place
from .sparse_weights import is_sparse

READS = ("aten._local_scalar_dense.default", "aten.item.default")
"""Functions that read the number in a tensor, which may be a size then."""


GETITEM = "_operator.getitem"
"""The function that selects one of several results."""

DROPPED = frozenset(
    {
        "aten._assert_async.msg",
        "aten._assert_scalar.default",
        "aten._assert_tensor_metadata.default",
        "aten.sym_constrain_range.default",
        "aten.sym_constrain_range_for_size.default",
    }
)
"""The export's assertions, which are redundant: dtypes are static, and calls check ranges."""

_RECURRENT = {f"aten.{name}.input" for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}


def live_nodes(
    results: Sequence[fx.Node],
    inputs: Callable[[fx.Node], Iterable[fx.Node]] = attrgetter("all_input_nodes"),
) -> set[fx.Node]:
    """The nodes that the results depend on, of which `inputs` gives those that one depends on."""
    found: set[fx.Node] = set()
    work = list(results)
    while work:
        node = work.pop()
        if node not in found:
            found.add(node)
            work += inputs(node)
    return found


def submodule(node: fx.Node) -> fx.GraphModule | None:
    """The graph module that a node stands for, if it is one."""
    owner: Any = node.graph.owning_module
    found = getattr(owner, str(node.target), None) if node.op == "get_attr" else None
    return found if isinstance(found, fx.GraphModule) else None


def verify_dense(graph: fx.Graph) -> None:
    """Raise UnsupportedError for sparse tensors, on which decompositions may abort."""
    sparse = [n for n in graph.nodes if is_sparse(n.meta.get("val"))]
    problems = [
        Problem(kind_of(node), node.name, place(node), "a sparse tensor", "use to_dense() before")
        for node in sparse
        if not any(n in sparse for n in node.all_input_nodes)
    ]
    if problems:
        raise UnsupportedError(problems)


def kind_of(node: fx.Node) -> str:
    """What problems call a node: its operator, or "input"."""
    return "input" if node.op == "placeholder" else overload_name(node.target)


def drops_out(node: fx.Node) -> bool:
    """Whether a node is a recurrent layer with dropout between its layers, in training mode."""
    if overload_name(node.target) not in _RECURRENT:
        return False
    layers, dropout, train = cast("tuple[int, float, bool]", node.args[4:7])
    return layers > 1 and dropout > 0 and train


def operators(graph: fx.Graph) -> Iterator[fx.Node]:
    """The nodes that need a converter."""
    for node in graph.nodes:
        if (module := submodule(node)) is not None:
            yield from operators(module.graph)
        symbolic = isinstance(node.meta.get("val"), torch.SymInt | torch.SymBool | torch.SymFloat)
        name = overload_name(node.target)
        if node.op == "call_function" and not symbolic and name not in DROPPED:
            if name != GETITEM:
                yield node
