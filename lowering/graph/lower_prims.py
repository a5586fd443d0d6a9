"""`lower-prims`: compute on scalars of unknown value as on tensors of rank 0.

::

    relax.func @main(%x: !relax.prim<f32>, %n: !relax.prim<i64, n>) -> !relax.prim<f32> {
      %t = relax.prim_to_tensor %n : !relax.prim<i64, n> -> !relax.tensor<[], i64>
      …
      %p = relax.if %c : !relax.prim<i1> -> !relax.prim<i64> {
        %five = relax.prim_value : !relax.prim<i64, 5>
        relax.yield %five : !relax.prim<i64, 5>

⇒

::

    relax.func @main(%x: !relax.prim<f32>, %n: !relax.prim<i64, n>) -> !relax.prim<f32> {
      %t = …the tensor that has n
      …
      %r = relax.if %c : !relax.prim<i1> -> !relax.tensor<[], i64> {
        %five = relax.constant <int64, [], [5]> : !relax.tensor<[], i64>
        relax.yield %five : !relax.tensor<[], i64>
      …
      %p = relax.tensor_to_prim %r : !relax.tensor<[], i64> -> !relax.prim<i64>

A scalar of unknown value is in memory, so that conversions of one are no operations at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.relax.operators.elementwise import BinaryElementwiseOp
from ...dialects.relax.operators.unary import UnaryElementwiseOp
from ...dialects.relax.prim_values import is_open, tensor_of
from ..functions import functions_by_name, graph_functions
from ..substitute import set_type
from .scalar_arguments import lower_scalar_arguments


def number_tensor(value: SSAValue, emitted: Callable[[Operation], SSAValue]) -> SSAValue:
    """A tensor of rank 0 for a scalar, such as ``R.prim_value(n - 1)``; other values unchanged.

    `emitted` puts operations into the program.
    """
    type_ = value.type
    if not isinstance(type_, relax.PrimType):
        return value
    number, dtype = type_.expr, type_.dtype
    if number is None:
        owner = value.owner
        is_tensor = isinstance(owner, relax.TensorToPrimOp)
        return owner.tensor if is_tensor else emitted(relax.PrimToTensorOp(value))
    if number.is_constant:
        data = relax.TensorData.of(np.asarray(number.constant).astype(dtype), dtype)
        return emitted(relax.ConstantOp(data))
    one = {"start": number, "end": number + 1, "dtype": "int64" if dtype == "bool" else dtype}
    row = emitted(relax.OPERATORS["relax.arange"].of([], one))
    tensor = emitted(relax.OPERATORS["relax.reshape"].of([row], {"shape": []}))
    if dtype != "bool":
        return tensor
    return emitted(relax.OPERATORS["relax.astype"].of([tensor], {"dtype": dtype}))


def result_of(op: relax.OperatorOp, given: Sequence[SSAValue | None]) -> Operation:
    """The operation whose result is that of an operator on these values before `number_tensor`.

    An elementwise operator of scalars alone, at least one of unknown value, gives a scalar. None
    stands for a number of the program, which is what the values beside it are.
    """
    types = [v.type for v in given if v is not None]
    if not isinstance(op, BinaryElementwiseOp | UnaryElementwiseOp) or not any(map(is_open, types)):
        return op
    is_scalar = all(isinstance(t, relax.PrimType) for t in types)
    return relax.TensorToPrimOp(op.results[0]) if is_scalar else op


def lower_prims(module: ModuleOp) -> None:
    """Replace scalars of unknown value inside of graph functions, in place.

    Scalars among the arguments of kernels are passed in memory, see `scalar_arguments`.
    """
    functions = functions_by_name(module)
    lower_scalar_arguments(module, _tensor_before)
    for func in graph_functions(module):
        for op in list(func.walk()):
            match op:
                case relax.PrimToTensorOp():
                    _lower_conversion(op)
                case relax.TensorToPrimOp() if isinstance(op.tensor.owner, relax.PrimToTensorOp):
                    Rewriter.replace_op(op, [], [op.tensor.owner.prim])
                case relax.IfOp() if is_open(op.result.type):
                    _lower_if(op)
                case relax.CallOp():
                    _lower_call(op, functions.get(op.callee_name))
                case _:
                    pass


def _lower_conversion(op: relax.PrimToTensorOp) -> None:
    """Replace the conversion of a known scalar, or of one that a tensor has."""
    prim = op.prim
    if not is_open(prim.type) or isinstance(prim.owner, relax.TensorToPrimOp):
        Rewriter.replace_op(op, [], [_tensor_before(op, prim)])


def _lower_if(op: relax.IfOp) -> None:
    """Let the branches yield tensors."""
    for block in op.branches:
        last = block.last_op
        assert isinstance(last, relax.YieldOp)
        last.operands[0] = _tensor_before(last, last.value)
    uses = list(op.result.uses)
    set_type(op.result, tensor_of(op.result.type))
    back = relax.TensorToPrimOp(op.result)
    back.location = op.location
    Rewriter.insert_op(back, InsertPoint.after(op))
    for use in uses:
        use.operation.operands[use.index] = back.result


def _lower_call(op: relax.CallOp, callee: Operation | None) -> None:
    """Pass known scalars in memory, where the callee takes one of unknown value."""
    params = callee.params if isinstance(callee, relax.FuncOp) else ()
    for place, (arg, param) in enumerate(zip(op.args, params, strict=False)):
        if is_open(param.type) and not is_open(arg.type):
            scalar = relax.TensorToPrimOp(_tensor_before(op, arg))
            scalar.location = op.location
            Rewriter.insert_op(scalar, InsertPoint.before(op))
            op.operands[place] = scalar.result


def _tensor_before(place: Operation, value: SSAValue) -> SSAValue:
    def emitted(op: Operation) -> SSAValue:
        op.location = place.location
        Rewriter.insert_op(op, InsertPoint.before(place))
        return op.results[0]

    return number_tensor(value, emitted)


@dataclass(frozen=True)
class LowerPrimsPass(ModulePass):
    """Compute on scalars of unknown value as on tensors of rank 0."""

    name = "lower-prims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_prims(op)
