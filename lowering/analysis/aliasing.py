"""Which buffers of a function may share memory."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, SSAValue

from ...dialects import tir
from ...dialects.tir.regions import root_buffer


def is_noalias(func: tir.PrimFuncOp) -> bool:
    """Whether callers promise that buffers do not overlap, as they do unless it says otherwise."""
    attribute = func.attr("tir.noalias")
    return not (isinstance(attribute, IntegerAttr) and attribute.value.data == 0)


def may_share_memory(a: SSAValue, b: SSAValue) -> bool:
    """Whether an element of one buffer may be one of the other: views, or parameters that alias."""
    a, b = root_buffer(a), root_buffer(b)
    if a is b:
        return True
    if not isinstance(a, BlockArgument) or not isinstance(b, BlockArgument):
        return False
    func = a.owner.parent_op()
    return isinstance(func, tir.PrimFuncOp) and not is_noalias(func)
