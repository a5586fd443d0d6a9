"""Which integer parameters of a graph function are sizes: those that shapes, loops or casts read.

Sizes are symbols of at least 0. Other integers are scalars in memory, as floats are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation, SSAValue, Use

from ...dialects import relax, tir
from ...dialects.relax.prim_values import is_open
from ..scalar_parameters import is_size_parameter
from ..verify_calls import KernelCall, call_arguments

_TAKE_SCALARS = (
    relax.AssertOp,
    relax.CallPackedOp,
    relax.CallPurePackedOp,
    relax.IfOp,
    relax.PrimToTensorOp,
    relax.PrintOp,
    relax.ReturnOp,
    relax.YieldOp,
)
"""Operations on scalars of unknown value."""


def loop_bodies(module: ModuleOp) -> set[str]:
    """The names of the functions that loops run."""
    return {op.callee_name for op in module.walk() if isinstance(op, relax.LoopOp)}


def scalar_parameters(
    func: relax.FuncOp, functions: Mapping[str, Operation], symbolic: Collection[str]
) -> set[SSAValue]:
    """The numbers among the parameters that nothing reads as a size; callees are resolved.

    All integers of the `symbolic` functions are sizes.
    """
    if func.sym_name.data in symbolic:
        return set()
    return {p for p in func.params if is_open(p.type) and not _is_size(p, functions, symbolic)}


def _is_size(
    value: SSAValue, functions: Mapping[str, Operation], symbolic: Collection[str]
) -> bool:
    return any(_reads_size(use, functions, symbolic) for use in value.uses)


def _reads_size(use: Use, functions: Mapping[str, Operation], symbolic: Collection[str]) -> bool:
    op = use.operation
    if isinstance(op, _TAKE_SCALARS):
        return False
    if isinstance(op, relax.TupleOp):
        return _is_size(op.result, functions, symbolic)
    if isinstance(op, relax.CallOp):
        callee = functions.get(op.callee_name)
        if not isinstance(callee, relax.FuncOp) or op.callee_name in symbolic:
            return True
        return not is_open(callee.params[use.index].type)
    if isinstance(op, KernelCall):
        return _is_size_of_kernel(op, op.operands[use.index], functions.get(op.callee_name))
    return True


def _is_size_of_kernel(op: KernelCall, value: SSAValue, callee: Operation | None) -> bool:
    if not isinstance(callee, tir.PrimFuncOp):
        return True
    return any(
        isinstance(param.type, IndexType) and is_size_parameter(callee, callee.names[param.index])
        for param, argument in call_arguments(op, callee).pairs
        if argument is value
    )
