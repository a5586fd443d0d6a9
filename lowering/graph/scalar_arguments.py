"""Scalars among the arguments of kernels: integers over symbols, or tensors of rank 0.

::

    tir.prim_func @scale(%A: …, %s: f32, %B: …) { … }
    %b = relax.call_tir @scale(%a, %x) : (…, !relax.prim<f32>) -> …

⇒

    tir.prim_func @scale(%A: …, %S: !tir.buffer<[], f32>, %B: …) { %s = tir.load %S[] : … }
    %t = relax.prim_to_tensor %x : …
    %b = relax.call_tir @scale(%a, %t) : (…, !relax.tensor<[], f32>) -> …
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from xdsl.dialects.builtin import IndexType, ModuleOp, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax, tir
from ...dialects.dtypes import dtype_name
from ...dialects.int_expr import IntExpr
from ...dialects.sym import expr_array, exprs_of
from ..functions import functions_by_name, graph_functions
from ..kernel_arguments import KernelArguments
from ..scalar_parameters import scalars_in_memory
from ..verify_calls import KernelCall, call_arguments

AsTensor: TypeAlias = Callable[[Operation, SSAValue], SSAValue]
"""A tensor of rank 0 for a scalar, before an operation."""


def lower_scalar_arguments(module: ModuleOp, as_tensor: AsTensor) -> None:
    """Pass scalars to kernels in memory, except integers over symbols for index parameters.

    Raises Diagnostic with one line where an index parameter that shapes or loops use has an unknown
    value.
    """
    functions = functions_by_name(module)
    calls: dict[tir.PrimFuncOp, list[KernelCall]] = {}
    for op in (op for func in graph_functions(module) for op in func.walk()):
        if isinstance(op, KernelCall):
            callee = functions.get(op.callee_name)
            if isinstance(callee, tir.PrimFuncOp):
                calls.setdefault(callee, []).append(op)
    for callee, users in calls.items():
        given = [call_arguments(call, callee) for call in users]
        if any(g.scalars for g in given):
            stored: dict[str, Attribute] = {}
            for name, type_ in (pair for g in given for pair in _stored(callee, g).items()):
                stored[name] = type_ if stored.get(name, type_) == type_ else i64
            for call, arguments in zip(users, given, strict=True):
                _Call(callee, call, stored, as_tensor).replace(arguments)
            scalars_in_memory(callee, stored)


def _stored(callee: tir.PrimFuncOp, arguments: KernelArguments) -> dict[str, Attribute]:
    """The index parameters whose value this call does not know, with the type that it has."""
    unknown = [n for n, value in arguments.integers(callee).items() if value is None]
    types = {callee.names[p.index]: cast(relax.PrimType, v.type) for p, v in arguments.scalars}
    return {name: types[name].element_type for name in unknown}


class _Call:
    """A call of a kernel whose scalar parameters, and index parameters `stored`, are in memory."""

    def __init__(
        self,
        callee: tir.PrimFuncOp,
        call: KernelCall,
        stored: Mapping[str, Attribute],
        as_tensor: AsTensor,
    ):
        self.callee, self.call, self.stored, self.as_tensor = callee, call, stored, as_tensor
        variables = None if isinstance(call, relax.CallDPSPackedOp) else call.tir_vars
        self.numbers = iter(() if variables is None else exprs_of(variables))
        self.args, self.variables = list[SSAValue](), list[IntExpr]()
        self.places: dict[int, int] = {}

    def replace(self, arguments: KernelArguments) -> None:
        """Replace the call by one whose arguments are tensors."""
        position = {param.index: i for i, (param, _) in enumerate(arguments.pairs)}
        for param in self.callee.params:
            place = position.get(param.index)
            value = None if place is None else self.call.args[place]
            name = self.callee.names[param.index]
            if place is not None and value is not None:
                self.places[place] = len(self.args)
            if isinstance(param.type, IndexType):
                self._index(name, value)
            elif value is not None:
                is_buffer = isinstance(param.type, tir.BufferType)
                self.args.append(value if is_buffer else self.as_tensor(self.call, value))
        new = self._made()
        new.location = self.call.location
        Rewriter.replace_op(self.call, new)

    def _index(self, name: str, value: SSAValue | None) -> None:
        """Pass the value of an index parameter, which is listed if it is no argument."""
        number = next(self.numbers) if value is None else cast(relax.PrimType, value.type).expr
        if name not in self.stored:
            assert number is not None
            self.variables.append(number)
        elif number is None and value is not None:
            self.args.append(self._of_type(self.as_tensor(self.call, value), self.stored[name]))
        else:
            assert number is not None
            known = relax.PrimValueOp(number, self.stored[name])
            Rewriter.insert_op(known, InsertPoint.before(self.call))
            self.args.append(self.as_tensor(self.call, known.result))

    def _of_type(self, tensor: SSAValue, wanted: Attribute) -> SSAValue:
        """A tensor of another integer type: calls may give 32 or 64 bits."""
        if cast(relax.TensorType, tensor.type).element_type == wanted:
            return tensor
        op = relax.OPERATORS["relax.astype"].of([tensor], {"dtype": dtype_name(wanted)})
        op.location = self.call.location
        Rewriter.insert_op(op, InsertPoint.before(self.call))
        return op.results[0]

    def _made(self) -> Operation:
        op, variables = self.call, expr_array(self.variables) if self.variables else None
        match op:
            case relax.CallTIROp():
                return relax.CallTIROp(op.callee_name, self.args, op.result.type, variables)
            case relax.CallTIRInplaceOp():
                places = [p if p == -1 else self.places[p] for p in op.positions]
                return relax.CallTIRInplaceOp(
                    op.callee_name, self.args, places, op.result.type, variables
                )
            case relax.CallKernelOp():
                return relax.CallKernelOp(op.callee_name, self.args, variables)
            case relax.CallDPSPackedOp():
                return relax.CallDPSPackedOp(op.callee_name, self.args, op.result.type)
