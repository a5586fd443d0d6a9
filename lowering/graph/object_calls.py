"""Casts of objects to tensors, and calls of parameters, as calls of functions of the runtime.

::

    relax.func @main(%f: !relax.func<(!relax.prim<i64>) -> !relax.object>) -> T {
      %0 = relax.invoke %f(%i) : …
      %y = relax.match_cast %0 : !relax.object -> T

⇒

::

    relax.func @main(%f: !relax.object) -> T {
      %0 = relax.call_pure_packed "vm.builtin.invoke_closure"(%f, %i) : …
      %y = relax.call_pure_packed "vm.builtin.value_of"(%0) : (!relax.object) -> T

Dims that a cast declares are read before, without a limit::

    %n = relax.call_pure_packed "vm.builtin.dims_of"(%0) : … -> !relax.tensor<[1], i64>
    %s = relax.tensor_to_shape %n : … -> !relax.shape<rank 1>
    relax.match_cast %s : !relax.shape<rank 1> -> !relax.shape<[m]>

The functions are registered by `runtime.builtins`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ModuleOp, TupleType, i64
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.cast_types import parameter_types
from ...dialects.relax.symbols import declared_in, determined_symbols
from ...dialects.relax.types import type_symbols
from ...dialects.rt.call_packed import VALUE_OF
from ..functions import graph_functions

INVOKE, SHAPE_OF = "vm.builtin.invoke_closure", "vm.builtin.dims_of"


def call_objects(module: ModuleOp) -> None:
    """Replace the casts of objects and the calls of function parameters, in place.

    Casts stay of parameters that they say the type of, see `cast_types`. A cast to a tensor may
    have new dims. Raises Diagnostic with one line for a cast to another type with a dim that is not
    known before.
    """
    for func in graph_functions(module):
        types: dict[SSAValue, Attribute] = {}
        types.update(zip(func.params, parameter_types(func), strict=True))
        casts = [op for op in func.walk() if isinstance(op, relax.MatchCastOp)]
        known = declared_in(func.body.block) - {s for op in casts for s in _own(op)}
        known |= set(func.declared_symbols())
        for op in list(func.walk()):
            match op:
                case relax.InvokeOp() if not isinstance(op.callee.owner, relax.LocalFuncOp):
                    is_impure = cast("relax.FuncType", op.callee.type).impure
                    kind = relax.CallPackedOp if is_impure else relax.CallPurePackedOp
                    Rewriter.replace_op(op, kind(INVOKE, op.operands, op.result.type))
                case relax.MatchCastOp() if not _is_taken_out(op, types):
                    known.update(_own(op))
                case relax.MatchCastOp():
                    _declare_dims(op, known)
                    call = relax.CallPurePackedOp(VALUE_OF, [op.value], op.result.type)
                    call.location = op.location
                    Rewriter.replace_op(op, call)
                case _:
                    pass
        for param in func.params:
            if (type_ := _without_functions(param.type)) != param.type:
                Rewriter.replace_value_with_new_type(param, type_)


def _is_taken_out(op: relax.MatchCastOp, types: Mapping[SSAValue, Attribute]) -> bool:
    is_object = isinstance(types.get(op.value, op.value.type), relax.ObjectType)
    return is_object and not isinstance(op.result.type, relax.ObjectType)


def _declare_dims(op: relax.MatchCastOp, known: set[str]) -> None:
    """Declare the symbols of a cast that are not known: those of a tensor are read from its shape.

    Raises Diagnostic for what is no tensor.
    """
    type_, name = op.result.type, op.value.name_hint or "an object"
    unknown = sorted(type_symbols(type_) - known)
    if not unknown:
        return
    if not isinstance(type_, relax.TensorType) or type_.dims is None or set(unknown) - {*_own(op)}:
        message = f"expected known dims in the match_cast of '{name}', an object, got {unknown[0]}"
        raise Diagnostic(message, op)
    numbers = relax.CallPurePackedOp(
        SHAPE_OF, [op.value], relax.TensorType.of([len(type_.dims)], i64)
    )
    shape = relax.TensorToShapeOp(numbers.result)
    cast_ = relax.MatchCastOp(shape.result, relax.ShapeType.of(type_.dims))
    for new in (numbers, shape, cast_):
        new.location = op.location
    Rewriter.insert_op([numbers, shape, cast_], InsertPoint.before(op))
    known.update(unknown)


def _own(op: relax.MatchCastOp) -> list[str]:
    return determined_symbols([op.result.type])


def _without_functions(type_: Attribute) -> Attribute:
    """The type with an object in the place of each function."""
    match type_:
        case relax.FuncType():
            return relax.ObjectType()
        case TupleType(types=fields):
            return TupleType(tuple(cast(TypeAttribute, _without_functions(f)) for f in fields.data))
        case _:
            return type_
