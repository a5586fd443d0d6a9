"""`flatten-norms`: a normalization over several last dims is one over rows.

::

    %y = relax.nn.group_norm %x, … {axes = [2, 3], …} : [1, 256, 56, 56]

⇒

    %0 = relax.reshape %x : … -> [1, 256, 3136]
    %1 = relax.nn.group_norm %0, … {axes = [2], …} : [1, 256, 3136]
    %y = relax.reshape %1 : … -> [1, 256, 56, 56]

Reshapes are views. The vectors of a long row have no remainder in each line of the image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.relax.operators.normalization import (
    AffineNormOp,
    GroupNormOp,
    InstanceNormOp,
    LayerNormOp,
)
from ...dialects.relax.operators.reshaping import product
from ..functions import graph_functions
from .graph_builder import GraphBuilder, dims_of, replace_result


def _flatten(op: AffineNormOp) -> None:
    """Flatten the normalized dims if they are two or more, and the last ones in order."""
    dims, attributes = dims_of(op.data), op.attribute_values()
    if dims is None:
        return
    axes = op.axes_of(len(dims), attributes)
    first = len(dims) - len(axes)
    if len(axes) < 2 or axes != (*range(first, len(dims)),):
        return
    build = GraphBuilder(op)

    def flat(value: SSAValue, kept: int) -> SSAValue:
        known = dims_of(value)
        assert known is not None
        return build("reshape", value, shape=[*known[:kept], product(known[kept:])])

    affine, changed = (op.gamma, op.beta), dict[str, Any](axes=[first])
    if isinstance(op, LayerNormOp):
        if any(dims_of(value) is None for value in affine):
            return
        affine = tuple(flat(value, 0) for value in affine)
    else:
        (channel,) = op.affine_axes(len(dims), attributes)
        if channel in axes:
            return
        changed["channel_axis"] = channel
    name = op.name.removeprefix("relax.")
    rows = build(name, flat(op.data, first), *affine, **attributes | changed)
    replace_result(op, build("reshape", rows, shape=list(dims)))


@dataclass(frozen=True)
class FlattenNormsPass(ModulePass):
    """Let group, instance and layer norms over several last dims normalize rows."""

    name = "flatten-norms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            for norm in list(func.walk()):
                if isinstance(norm, GroupNormOp | InstanceNormOp | LayerNormOp):
                    _flatten(norm)
