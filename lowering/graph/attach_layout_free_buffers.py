"""`attach-attr-layout-free-buffers`: mark parameters of kernels that are always constants.

::

    relax.call_tir @matmul(%x, %w) : …                         %w is a constant
    tir.prim_func @matmul(%X, %W, %Y) attributes {private} { … }

⇒

    tir.prim_func @matmul(%X, %W, %Y) attributes {layout_free_buffers = [1], private} { … }

Results of kernels on constants count as constants, unless a call may write them. The kernel's
schedule may transform the layout of such a parameter: constants are laid out once.

With ``copies=true``, as in TVM and with ``relax.transform.AttachAttrLayoutFreeBuffers()``, calls
with constants get a kernel of their own, ``@matmul1``, whatever other calls of ``@matmul`` pass,
and parameters of graph functions after the first `num_input` are constants too. TVM's
``AttachAttrLayoutFreeBuffers``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax, tir
from ...dialects.tir.func import LAYOUT_FREE
from ..functions import functions_by_name, graph_functions, is_private, unique_name
from .compile_time import num_input
from .known_values import is_computed_from_constants
from .written import Written, written_values


def attach_layout_free_buffers(module: ModuleOp) -> None:
    """Set the attribute of every private PrimFunc, whose calls are all known."""
    calls, written = calls_by_callee(module), written_values(module)
    for func in _kernels(module):
        found = [_constants(call, written) for call in calls.get(func.sym_name.data, [])]
        always = sorted(found[0].intersection(*found)) if found else []
        func.set_attr(LAYOUT_FREE, always or None)


def copy_for_constants(module: ModuleOp) -> None:
    """Let calls with constants have kernels of their own, whose attribute says which they are."""
    calls, written = calls_by_callee(module), written_values(module)
    weights = {p for f in graph_functions(module) for p in _weights(f) if p not in written}
    taken = set(functions_by_name(module))
    for func in _kernels(module):
        groups: dict[tuple[int, ...], list[relax.CallTIROp]] = {}
        for call in calls.get(func.sym_name.data, []):
            groups.setdefault(tuple(sorted(_constants(call, written, weights))), []).append(call)
        for positions, group in groups.items():
            if positions:
                name = unique_name(func.sym_name.data, taken, separator="")
                taken.add(name)
                module.body.block.insert_op_before(_copy(func, name, positions), func)
                for call in group:
                    call.properties["callee"] = SymbolRefAttr(name)
        if groups and () not in groups:
            func.detach()
            func.erase()


def _kernels(module: ModuleOp) -> Iterator[tir.PrimFuncOp]:
    for func in list(module.body.block.ops):
        if isinstance(func, tir.PrimFuncOp) and is_private(func):
            yield func


def _weights(func: relax.FuncOp) -> list[SSAValue]:
    """The parameters that are those of a model."""
    count = num_input(func)
    return [] if count is None else list(func.params[count:])


def _constants(
    call: relax.CallTIROp, written: Written, weights: Collection[SSAValue] = ()
) -> set[int]:
    """The positions of a call's arguments that are constants."""
    return {
        position
        for position, value in enumerate(call.args)
        if value in weights or is_computed_from_constants(value, written)
    }


def _copy(func: tir.PrimFuncOp, name: str, positions: Sequence[int]) -> tir.PrimFuncOp:
    copy = func.clone()
    copy.sym_name = StringAttr(name)
    copy.location = func.location
    copy.set_attr(LAYOUT_FREE, list(positions))
    return copy


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
    """Mark the parameters of kernels that are always constants; schedules choose their layout.

    With `copies`, calls with constants have a kernel of their own.
    """

    name = "attach-attr-layout-free-buffers"
    copies: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.copies:
            copy_for_constants(op)
        else:
            attach_layout_free_buffers(op)
