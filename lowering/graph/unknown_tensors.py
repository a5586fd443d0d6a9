"""Tensors whose shape or dtype only the running program knows, as objects of Python.

::

    %r = relax.if %c : … -> !relax.tensor<rank 1, f32> {
      relax.yield %x : !relax.tensor<[n], f32>
    } else {
      %y = relax.concat(%x, %x) : … -> !relax.tensor<[n * 2], f32>
      relax.yield %y : !relax.tensor<[n * 2], f32>
    }

⇒

    %r = relax.if %c : … -> !relax.object {
      %0 = relax.call_pure_packed "vm.builtin.copy"(%x) : … -> !relax.object
      relax.yield %0 : !relax.object
    } else {
      …

A function may return them, pass them to functions, and cast them to known types. Shapes of unknown
rank are objects, too, and parameters that users give, which are checked first. What a registered
function returns stays a tensor where graph functions that only users call return it at once.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue, TypeAttribute
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.nesting import enclosing
from ...dialects.relax.types import tensors_in, type_symbols
from ..functions import call_graph, functions_by_name, graph_functions
from ..substitute import set_type, substituted
from ..verify_calls import unify_graph_call
from .object_calls import call_objects

_PACKED = (relax.CallPackedOp, relax.CallPurePackedOp)
_PASSED_ON = (relax.DataflowOp, relax.TupleOp, relax.TupleGetItemOp)
_MADE_BY = (*_PACKED, *_PASSED_ON, relax.IfOp, relax.CallOp, relax.ShapeOfOp)
_RETURNED = (*_PASSED_ON, relax.func.OutputOp, relax.func.ReturnOp)
_USED_BY = (
    *_PACKED,
    *_RETURNED,
    relax.CallDPSPackedOp,
    relax.CallOp,
    relax.MatchCastOp,
    relax.ShapeOfOp,
    relax.YieldOp,
)

SHAPE_OF = "vm.builtin.shape_of"


def hold_unknown_tensors(module: ModuleOp) -> None:
    """Hold tensors of unknown type as objects, in place, where nothing computes on them.

    Other modules are unchanged: a later pass says which operation needs a known type.
    """
    functions = {f.sym_name.data: f for f in graph_functions(module)}
    found = [v for f in functions.values() for v in _values(f) if held(v.type) != v.type]
    called = {n for names in call_graph(functions_by_name(module)).values() for n in names}
    if all(_is_returned_at_once(v, called) for v in found):
        return
    calls = list(_calls(functions))
    casts = [cast_ for call, callee in calls for cast_ in _argument_casts(call, callee)]
    if not all(_is_passed_on(v) or _is_of_user(v, called) for v in found):
        return
    if not all([*map(_agrees, calls), *map(_is_known, casts)]):
        return
    for value in found:
        former, new = value.type, set_type(value, held(value.type))
        if isinstance(new.owner, Block):
            _check_argument(new, former)
    for func in functions.values():
        func.result_type = held(func.result_type)
        for op in list(func.walk()):
            _convert_operands(op, func)
    for argument in casts:
        argument.insert()
    call_objects(module)


def held(type_: Attribute, symbols: Container[str] | None = None) -> Attribute:
    """The type with an object in the place of each tensor of unknown type.

    With `symbols` dims over others are unknown, too.
    """
    match type_:
        case relax.TensorType():
            is_sized = symbols is None or all(s in symbols for s in type_.symbols())
            return type_ if type_.is_known and is_sized else relax.ObjectType()
        case relax.ShapeType(dims=None):
            return type_ if type_.rank is not None else relax.ObjectType()
        case TupleType(types=fields):
            return TupleType(tuple(cast(TypeAttribute, held(f, symbols)) for f in fields.data))
        case _:
            return type_


def _values(func: relax.FuncOp) -> Iterator[SSAValue]:
    yield from func.params
    for op in func.walk():
        yield from op.results


def _calls(functions: Mapping[str, relax.FuncOp]) -> Iterator[tuple[relax.CallOp, relax.FuncOp]]:
    for func in functions.values():
        for op in func.walk():
            if isinstance(op, relax.CallOp) and op.callee_name in functions:
                yield op, functions[op.callee_name]


def _is_returned_at_once(value: SSAValue, called: set[str]) -> bool:
    """Whether a registered function makes a tensor for users, who take it as it is.

    All tensors that it makes are of unknown type then.
    """
    owner = value.owner
    if isinstance(owner, _PACKED) and any(t.is_known for t in tensors_in(value.type)):
        return False
    if not isinstance(owner, (*_PACKED, *_PASSED_ON)) or enclosing(owner, relax.IfOp) is not None:
        return False
    func = enclosing(owner, relax.FuncOp)
    is_entry = func is not None and func.private is None and func.sym_name.data not in called
    return is_entry and all(isinstance(use.operation, _RETURNED) for use in value.uses)


def _is_passed_on(value: SSAValue) -> bool:
    uses = (use.operation for use in value.uses)
    return isinstance(value.owner, _MADE_BY) and all(isinstance(op, _USED_BY) for op in uses)


def _is_of_user(value: SSAValue, called: set[str]) -> bool:
    """Whether users give a parameter, which is passed on."""
    func = value.owner.parent_op() if isinstance(value.owner, Block) else None
    if not isinstance(func, relax.FuncOp) or func.private is not None:
        return False
    is_passed_on = all(isinstance(use.operation, _USED_BY) for use in value.uses)
    return func.sym_name.data not in called and is_passed_on


def _check_argument(param: SSAValue, type_: Attribute) -> None:
    """Check what is known of an argument that is an object."""
    block, name = param.owner, param.name_hint or "x"
    assert isinstance(block, Block)
    is_tensor = isinstance(type_, relax.TensorType)
    rank = type_.rank if isinstance(type_, relax.TensorType | relax.ShapeType) else None
    words = [type_.dtype or ""] if is_tensor else []
    given = [relax.PrimValueOp(-1 if rank is None else rank)]
    given += [relax.StringOp(text) for text in (*words, f"argument '{name}'")]
    callee = "vm.builtin.check_tensor_info" if is_tensor else "vm.builtin.check_shape_info"
    check = relax.CallPurePackedOp(callee, [], param.type)
    param.replace_all_uses_with(check.result)
    check.operands = [param, *(op.results[0] for op in given)]
    assert block.first_op is not None
    block.insert_ops_before([*given, check], block.first_op)


def _agrees(pair: tuple[relax.CallOp, relax.FuncOp]) -> bool:
    """Whether a call and its callee say the same of which tensors that it returns are unknown."""
    call, callee = pair
    return _same_objects(callee.result_type, call.result.type)


def _same_objects(lhs: Attribute, rhs: Attribute) -> bool:
    match lhs, rhs:
        case TupleType(), TupleType() if len(lhs.types) == len(rhs.types):
            return all(map(_same_objects, lhs.types.data, rhs.types.data))
        case _:
            return isinstance(held(lhs), relax.ObjectType) == isinstance(
                held(rhs), relax.ObjectType
            )


@dataclass(frozen=True)
class _ArgumentCast:
    """An argument of unknown type, which has to have that of its parameter."""

    call: relax.CallOp
    place: int
    wanted: Attribute

    def insert(self) -> None:
        """Cast the argument before the call."""
        cast_ = relax.MatchCastOp(self.call.args[self.place], self.wanted)
        self.call.operands[self.place] = _inserted(cast_, self.call)


def _argument_casts(call: relax.CallOp, callee: relax.FuncOp) -> Iterator[_ArgumentCast]:
    symbols = unify_graph_call(call, callee).symbols
    for place, (param, arg) in enumerate(zip(callee.params, call.args, strict=True)):
        if held(arg.type) != arg.type and not isinstance(param.type, relax.ObjectType):
            yield _ArgumentCast(call, place, substituted(param.type, symbols))


def _is_known(argument: _ArgumentCast) -> bool:
    """Whether the caller knows the type that an argument has to have."""
    func, wanted = enclosing(argument.call, relax.FuncOp), argument.wanted
    known: set[str] = set() if func is None else set(func.declared_symbols())
    return held(wanted) == wanted and type_symbols(wanted) <= known


def _convert_operands(op: Operation, func: relax.FuncOp) -> None:
    """Convert what an operation passes on to the types that its target has now."""
    match op:
        case relax.YieldOp():
            around = op.parent_op()
            assert isinstance(around, relax.IfOp)
            op.operands[0] = as_objects(op.value, around.result.type, op)
        case relax.func.ReturnOp():
            op.operands[0] = as_objects(op.value, func.result_type, op)
        case relax.ShapeOfOp() if isinstance(op.tensor.type, relax.ObjectType):
            call = relax.CallPurePackedOp(SHAPE_OF, [op.tensor], relax.ObjectType())
            call.location = op.location
            Rewriter.replace_op(op, call)
        case _:
            pass


def as_objects(value: SSAValue, wanted: Attribute, before: Operation) -> SSAValue:
    """The value with the objects that a type has, which are copies of tensors."""
    match value.type, wanted:
        case relax.TensorType(), relax.ObjectType():
            copy = relax.CallPurePackedOp("vm.builtin.copy", [value], wanted)
            return _inserted(copy, before)
        case relax.ShapeType(), relax.ObjectType():
            return _inserted(
                relax.CallPurePackedOp("vm.builtin.make_object", [value], wanted), before
            )
        case TupleType(types=given), TupleType(types=fields) if given != fields:
            own = [_inserted(relax.TupleGetItemOp(value, i), before) for i in range(len(given))]
            pairs = zip(own, fields.data, strict=True)
            return _inserted(relax.TupleOp([as_objects(v, f, before) for v, f in pairs]), before)
        case _:
            return value


def _inserted(op: Operation, before: Operation) -> SSAValue:
    op.location = before.location
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.results[0]
