"""Values of graph functions across the boundary of dataflow blocks."""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue

from ...dialects import relax


def canonical(value: SSAValue) -> SSAValue:
    """The value inside of a dataflow block that its result stands for; any other value itself."""
    while isinstance(value, OpResult) and isinstance(owner := value.owner, relax.DataflowOp):
        value = owner.output.values[value.index]
    return value
