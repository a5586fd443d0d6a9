"""The operations of a graph function under names, which passes keep with their values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import SSAValue

from ..dialects import relax
from ..lowering.functions import functions_by_name, unique_name
from ..lowering.graph.convert_layout import CHANNELS_LAST
from ..lowering.graph.convolution_to_matmul import FLATTENED

KernelCall: TypeAlias = relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallDPSPackedOp
GraphCall: TypeAlias = relax.CallOp | relax.LoopOp
Computes: TypeAlias = relax.OperatorOp | KernelCall | relax.CallPurePackedOp | GraphCall
"""What computes tensors."""

_KEY = re.compile(rf"op(\d+)(?:_item(\d+))?({CHANNELS_LAST}|{FLATTENED})?")


class Label(NamedTuple):
    """What a front end calls an operation."""

    name: str
    module: str
    """The path of the part of the model that it is in."""
    is_value: bool
    """Whether the result is what the model calls so, and not a step towards it."""


@dataclass(frozen=True)
class GraphOperation:
    """An operation that computes tensors."""

    name: str
    """The name of its result, unique in the function."""
    has_name: bool
    """Whether the user, or the front end, has named it."""
    module: str
    op: Computes

    @property
    def operator(self) -> str:
        """What computes it: "nn.relu", "call_tir @kernel"."""
        kind = self.op.name.removeprefix("relax.")
        return kind if isinstance(self.op, relax.OperatorOp) else f"{kind} @{callee_of(self.op)}"

    @property
    def source(self) -> str:
        """The line of the user's program, ``file:line``, or nothing."""
        location = self.op.location
        if not isinstance(location, FileLineColLoc):
            return ""
        return f"{location.filename.data}:{location.line.data}"


def callee_of(op: Computes) -> str:
    """The name of the function that is called, nothing for an operator."""
    if isinstance(op, relax.OperatorOp):
        return ""
    return op.callee.data if isinstance(op, relax.CallPurePackedOp) else op.callee_name


def computing(func: relax.FuncOp) -> list[Computes]:
    """The operations of a function that compute tensors, in order."""
    return [op for op in func.walk() if isinstance(op, Computes)]


def graph_operations(
    func: relax.FuncOp, labels: Sequence[Label] | None = None
) -> list[GraphOperation]:
    """The operations of a function in order, under the names of `labels` or of their results."""
    ops = computing(func)
    labels = labels or [Label(_hint(op) or "", "", True) for op in ops]
    counts = Counter(label.name for label in labels if label.is_value)
    taken = {name for name in counts if name}
    found: list[GraphOperation] = []
    for op, label in zip(ops, labels, strict=True):
        has_name = bool(label.name) and label.is_value and counts[label.name] == 1
        kind = op.name.split(".")[-1]
        name = label.name if label.is_value else f"{label.name}.{kind}"
        if not has_name:
            name = unique_name(name or kind, taken)
            taken.add(name)
        found.append(GraphOperation(name, has_name, label.module, op))
    return found


def _hint(op: Computes) -> str | None:
    """The name of a result, which may stand at the only cast of it."""
    users = [use.operation for use in op.result.uses]
    if op.result.name_hint is None and len(users) == 1 and isinstance(users[0], relax.MatchCastOp):
        return users[0].result.name_hint
    return op.result.name_hint


class Mark(NamedTuple):
    """Which operation's result a value is, or which field of it, and in which layout."""

    number: int
    item: int | None
    layout: str


def with_marks(module: ModuleOp, function: str) -> ModuleOp:
    """A copy of a module in which values are named by the numbers of `graph_operations`.

    A pass that replaces a value by an equal one gives that its name, as xDSL's rewriter does.
    """
    copy = module.clone()
    for op in copy.walk():
        for result in op.results:
            result.name_hint = None
    func = functions_by_name(copy)[function]
    assert isinstance(func, relax.FuncOp)
    for number, op in enumerate(computing(func)):
        op.result.name_hint = f"op{number}"
        for use in op.result.uses:
            if isinstance(item := use.operation, relax.TupleGetItemOp):
                item.result.name_hint = f"op{number}_item{item.index.data}"
    return copy


def mark_of(value: SSAValue) -> Mark | None:
    """The mark of a value; `None` for one that passes have made."""
    found = _KEY.fullmatch(value.name_hint or "")
    if found is None:
        return None
    number, item, layout = found.groups()
    return Mark(int(number), None if item is None else int(item), layout or "")
