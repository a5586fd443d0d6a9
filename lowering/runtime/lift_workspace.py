"""`lift-workspace`: replace large scratch buffers of kernels by parameters that callers allocate.

The memory planner then includes them. Each buffer becomes a parameter. TVM's
``LiftTIRGlobalBufferAlloc``.

::

    tir.prim_func @f(%X: …, %Y: …) {
      %T = tir.alloc_buffer : !tir.buffer<[n], f32>

    rt.call_dps @f(%x) outs(%y)

⇒

::

    tir.prim_func @f(%X: …, %Y: …, %workspace: !tir.buffer<[…], i8>) {
      %T = rt.view %workspace[0] : … to !tir.buffer<[n], f32>

    %workspace = rt.alloc : !tir.buffer<[…], i8>
    rt.call_dps @f(%x) outs(%y, %workspace)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i8
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ...dialects import relax, rt, tir
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import ZERO, Arg, Atom, IntExpr, Sym
from ...dialects.nesting import ancestors
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from ..call_signature import Formal, buffer_formals, index_values, unify
from ..functions import unique_name
from ..sizes import stack_buffers
from .memory_plan import aligned

WORKSPACE = "workspace"
SLOTS, SLOTS_BYTES, SLOTS_OF_UNKNOWN_SIZE = 64, 256 << 20, 16
"""Most slots for the threads of a parallel loop: their number, their total bytes, and their number
if the size of one is not known."""

_EARLIER_CALLS = (relax.CallTIROp, relax.CallDPSPackedOp)


def lift_function(func: tir.PrimFuncOp) -> list[IntExpr]:
    """Give the function a workspace parameter for each scratch buffer too large for the stack.

    Separate parameters let LLVM assume that they do not alias. Returns their sizes in bytes over
    the function's symbols. A buffer inside a parallel loop gets a slot for each thread that may
    run it.
    """
    on_stack = stack_buffers(func)
    lifted = [op for op in func.walk() if isinstance(op, tir.AllocBufferOp) and op not in on_stack]
    sizes: list[IntExpr] = []
    for op in lifted:
        type_ = _slots_type(op)
        sizes.append(_slots_size(op))
        _replace(op, _add_parameter(func, sizes[-1]), type_)
    return sizes


def _parallel_loop(op: tir.AllocBufferOp) -> tir.ForOp | None:
    """The outermost parallel loop around an allocation, whose iterations run on several threads."""
    around = [p for p in ancestors(op) if isinstance(p, tir.ForOp) and p.kind.data == "parallel"]
    return around[-1] if around else None


def _slot_count(op: tir.AllocBufferOp) -> int | None:
    """The number of slots of a buffer; `None` for one outside of parallel loops.

    It does not depend on the machine: pages of unused slots are never touched, and threads without
    a slot do not join the loop.
    """
    loop = _parallel_loop(op)
    if loop is None:
        return None
    trips, size = loop.extent.data.constant, _slot_bytes(op.result.type).constant
    count = SLOTS_OF_UNKNOWN_SIZE if size is None else min(SLOTS, SLOTS_BYTES // max(size, 1))
    return max(count if trips is None else min(count, trips), 1)


def _slots_type(op: tir.AllocBufferOp) -> BufferType:
    """The buffer's type, with a leading dim for the slots if it is in a parallel loop."""
    type_, count = op.result.type, _slot_count(op)
    if count is None:
        return type_
    step = _slot_bytes(type_) // byte_width(type_.element_type)
    return BufferType.of([count, *type_.dims], type_.element_type, [step, *type_.element_strides()])


def _slot_bytes(type_: BufferType) -> IntExpr:
    return aligned(type_.size_in_bytes())


def _slots_size(op: tir.AllocBufferOp) -> IntExpr:
    return _slot_bytes(op.result.type) * (_slot_count(op) or 1)


def _add_parameter(func: tir.PrimFuncOp, size: IntExpr) -> BlockArgument:
    name = unique_name(WORKSPACE, func.names)
    return func.insert_param(len(func.params), name, BufferType.of([size], i8))


def _replace(op: tir.AllocBufferOp, workspace: BlockArgument, type_: BufferType) -> None:
    """Replace the allocation by a view in the same place, so that outer blocks need no access."""
    block = op.parent
    assert block is not None
    view = rt.ViewOp(workspace, ZERO, type_)
    view.result.name_hint = op.result.name_hint
    block.insert_op_before(view, op)
    result: SSAValue = view.result
    if (count := _slot_count(op)) is not None:
        number = rt.SlotOp(count)
        starts = [IntExpr.of(Arg(0)), *([ZERO] * op.result.type.rank)]
        slot = tir.MatchBufferOp(view.result, starts, [number.result], op.result.type)
        slot.result.name_hint = op.result.name_hint
        block.insert_ops_before([number, slot], op)
        result = slot.result
    op.result.replace_all_uses_with(result)
    op.detach()
    op.erase()


@dataclass(frozen=True)
class _Lifted:
    """A function with workspaces: its original signature, and the workspaces' sizes in bytes."""

    func: tir.PrimFuncOp
    formals: list[Formal]
    sizes: list[IntExpr]


def _lift(func: tir.PrimFuncOp) -> _Lifted | None:
    formals = buffer_formals(func.names, [p.type for p in func.params])
    sizes = lift_function(func)
    return _Lifted(func, formals, sizes) if sizes else None


def _pass_workspace(call: rt.CallDPSOp, callee: _Lifted) -> None:
    arguments = [cast(BufferType, v.type) for v in (*call.inputs, *call.outputs)]
    variables = index_values(callee.func, exprs_of(call.vars))
    symbols = unify(f"call of '{call.callee_name}'", callee.formals, arguments, variables).symbols
    mapping: dict[Atom, IntExpr] = {Sym(name): value for name, value in symbols.items()}
    block = call.parent
    assert block is not None
    outputs = list(call.outputs)
    for size in callee.sizes:
        memory = rt.AllocOp(BufferType.of([size.substitute(mapping)], i8))
        memory.result.name_hint = WORKSPACE
        block.insert_op_before(memory, call)
        outputs.append(memory.result)
    new = rt.CallDPSOp(call.callee_name, call.inputs, outputs, exprs_of(call.vars))
    new.location = call.location
    block.insert_op_before(new, call)
    call.detach()
    call.erase()


@dataclass(frozen=True)
class LiftWorkspacePass(ModulePass):
    """Replace scratch buffers that are too large for the stack by workspaces of the caller.

    Runs on the `rt` stage, before memory is planned.
    """

    name = "lift-workspace"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lifted: dict[str, _Lifted] = {}
        for func in op.body.block.ops:
            if isinstance(func, tir.PrimFuncOp) and (found := _lift(func)) is not None:
                lifted[func.sym_name.data] = found
        for call in list(op.walk()) if lifted else ():
            if isinstance(call, rt.CallDPSOp) and call.callee_name in lifted:
                _pass_workspace(call, lifted[call.callee_name])
            elif isinstance(call, _EARLIER_CALLS) and call.callee_name in lifted:
                raise PassFailedException(
                    f"expected calls of '{call.callee_name}', which needs a workspace, to be "
                    f"'rt.call_dps', got '{call.name}'"
                )
