"""`attach-attr-layout-free-buffers`: mark parameters of kernels that are always constants.

::

    relax.call_tir @matmul(%x, %w) : …                         %w is a constant
    tir.prim_func @matmul(%X, %W, %Y) attributes {private} { … }

⇒

    tir.prim_func @matmul(%X, %W, %Y) attributes {layout_free_buffers = [1], private} { … }

Results of kernels on constants count as constants, unless a call may write them. The kernel's
schedule may transform the layout of such a parameter: constants are laid out once. TVM's
``AttachAttrLayoutFreeBuffers``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.passes import ModulePass

from ...dialects import relax, tir
from ...dialects.tir.func import LAYOUT_FREE
from ..functions import graph_functions, is_private
from .fold_constant import is_computed_from_constants
from .written import written_values


def attach_layout_free_buffers(module: ModuleOp) -> None:
    """Set the attribute of every private PrimFunc, whose calls are all known."""
    calls, written = calls_by_callee(module), written_values(module)
    for func in module.body.block.ops:
        if isinstance(func, tir.PrimFuncOp) and is_private(func):
            found = calls.get(func.sym_name.data, [])
            arguments = zip(*(call.args for call in found), strict=True)
            positions = [
                position
                for position, values in enumerate(arguments)
                if all(is_computed_from_constants(v, written) for v in values)
            ]
            func.set_attr(LAYOUT_FREE, positions or None)


def calls_by_callee(module: ModuleOp) -> dict[str, list[relax.CallTIROp]]:
    """The calls of each kernel; kernels with other references are left out."""
    found: dict[str, list[relax.CallTIROp]] = {}
    others: set[str] = set()
    for op in (op for func in graph_functions(module) for op in func.walk()):
        if isinstance(op, relax.CallTIROp):
            found.setdefault(op.callee_name, []).append(op)
            continue
        match op.properties.get("callee"):
            case SymbolRefAttr() as callee:
                others.add(callee.root_reference.data)
            case StringAttr(data=name):
                others.add(name)
            case _:
                pass
    return {name: calls for name, calls in found.items() if name not in others}


@dataclass(frozen=True)
class AttachAttrLayoutFreeBuffersPass(ModulePass):
    """Mark the parameters of kernels that are always constants; schedules choose their layout."""

    name = "attach-attr-layout-free-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        attach_layout_free_buffers(op)
