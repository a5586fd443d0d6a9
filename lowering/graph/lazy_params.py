"""`lazy-get-input` and `lazy-set-output`: weights are asked for, and results given, one by one.

::

    relax.func @transform(%A: T, %B: T) -> tuple<T, T> {
      %C = relax.exp %A : …
      %D = relax.add %C, %B : …
      %0 = relax.tuple(%D, %C) : …
      relax.return %0 : …
    }

⇒ by `lazy-get-input`

::

    relax.func @transform(%fget_param: !relax.func<(!relax.prim<i64>, !relax.object) -> …>) -> … {
      %0 = relax.prim_value : !relax.prim<i64, 0>
      %1 = relax.str "A" : !relax.object
      %2 = relax.invoke %fget_param(%0, %1) : …
      %A = relax.match_cast %2 : !relax.object -> T
      %C = relax.exp %A : …
      …

and by `lazy-set-output`

::

    relax.func impure @transform(%A: T, %B: T, %fset_output: …) -> tuple<> {
      %C = relax.exp %A : …
      %0 = relax.prim_value : !relax.prim<i64, 1>
      %1 = relax.invoke %fset_output(%0, %C) : …
      …

TVM's ``LazyGetInput`` and ``LazySetOutput``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    TupleType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.parameters import value_hint
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.type_relations import forget_symbols
from ..functions import graph_functions, unique_name
from .compile_time import NUM_INPUT, num_input
from .dead_code import remove_all_unused
from .values import returned_fields

INLINE = (relax.ConstantOp, relax.PrimValueOp, relax.ShapeOp, relax.StringOp)
"""Operations whose values are written in place."""

Caller = Callable[[SSAValue, str], list[Operation]]
"""Makes the operations that get a weight by its number and name; the last one returns it."""


def lazy_get_input(func: relax.FuncOp) -> None:
    """Replace the parameters after `num_input` ones by one function that returns each, in place."""
    count = input_count(func)
    number: Attribute = relax.PrimType.of(i64)
    type_ = relax.FuncType.of([number, relax.ObjectType()], relax.ObjectType())
    getter = func.insert_param(count, unique_name("fget_param", func.names), type_)

    def get(index: SSAValue, name: str) -> list[Operation]:
        text = relax.StringOp(name)
        return [text, relax.InvokeOp(getter, [index, text.result], relax.ObjectType())]

    names = func.names[count + 1 :]
    for place, (param, name) in enumerate(zip(func.params[count + 1 :], names, strict=True)):
        get_before_use(func, param, place, name, get)
    func.erase_params(range(count + 1, len(func.params)))
    set_attr(func, NUM_INPUT, IntegerAttr(count + 1, i64))
    forget_result(func)
    remove_all_unused(func)


def lazy_set_output(func: relax.FuncOp) -> None:
    """Pass each result to a function that becomes a parameter, after the `num_input` ones."""
    count = num_input(func)
    type_ = relax.FuncType.of(
        [relax.PrimType.of(i64), relax.ObjectType()], TupleType(()), impure=True
    )
    place = len(func.params) if count is None else count
    setter = func.insert_param(place, unique_name("fset_output", func.names), type_)
    if count is not None:
        set_attr(func, NUM_INPUT, IntegerAttr(count + 1, i64))

    outputs = take_outputs(func)
    points = {_owner(value): _after(func, value) for value in outputs}
    for value, places in outputs.items():
        for index in places:
            number = relax.PrimValueOp(index)
            call = relax.InvokeOp(setter, [number.result, value], TupleType(()))
            insert_call(number, value, call, points[_owner(value)])
    func.impure = UnitAttr()


def take_outputs(func: relax.FuncOp) -> dict[SSAValue, list[int]]:
    """Let a function return an empty tuple; returns the places of each value among its results."""
    last, given = func.end, func.returned.owner
    outputs: dict[SSAValue, list[int]] = {}
    for place, value in enumerate(returned_fields(func)):
        outputs.setdefault(value, []).append(place)
    empty = relax.TupleOp([])
    Rewriter.insert_op(empty, InsertPoint.before(last))
    last.operands[0] = empty.result
    func.result_type = empty.result.type
    if isinstance(given, relax.TupleOp) and given.result.first_use is None:
        Rewriter.erase_op(given)
    return outputs


def _owner(value: SSAValue) -> Operation | None:
    """What computes a value; `None` for parameters and for what is written in place."""
    if isinstance(value, OpResult) and not isinstance(value.op, INLINE):
        return value.op
    return None


def _after(func: relax.FuncOp, value: SSAValue) -> InsertPoint:
    """Where a result can be given: after it is computed, constants at the end."""
    if isinstance(value, BlockArgument):
        return InsertPoint.at_start(func.body.block)
    assert isinstance(value, OpResult)
    if isinstance(value.op, INLINE):
        empty = func.returned.owner
        assert isinstance(empty, Operation)
        return InsertPoint.before(empty)
    return InsertPoint.after(value.op)


def insert_call(
    number: relax.PrimValueOp, value: SSAValue, call: Operation, point: InsertPoint
) -> None:
    """Insert a call with a result and its number; what is written in place comes between them."""
    operations = [number, call]
    if isinstance(value.owner, INLINE) and len(list(value.uses)) == 1:
        value.owner.detach()
        operations.insert(1, value.owner)
    Rewriter.insert_op(operations, point)


def get_before_use(func: relax.FuncOp, param: SSAValue, place: int, name: str, get: Caller) -> None:
    """Replace a parameter by a call before the operation of the body that uses it first, if any."""
    users = {use.operation for use in param.uses}
    user = next(
        (op for op in func.body.block.ops if any(inner in users for inner in op.walk())), None
    )
    if user is not None:
        value = get_weight(InsertPoint.before(user), param.type, place, name, get)
        param.replace_all_uses_with(value)


def get_weight(
    point: InsertPoint, type_: Attribute, place: int, name: str, get: Caller
) -> SSAValue:
    """Insert the call for a weight, and the cast to its type; returns the weight."""
    index = relax.PrimValueOp(place)
    calls = get(index.result, name)
    cast = relax.MatchCastOp(calls[-1].results[0], type_)
    cast.result.name_hint = value_hint(name)
    Rewriter.insert_op([index, *calls, cast], point)
    return cast.result


def input_count(func: relax.FuncOp) -> int:
    """The number of parameters that are no weights; raises Diagnostic if there are fewer."""
    count = num_input(func) or 0
    if not 0 <= count <= len(func.params):
        raise Diagnostic(f"expected at least {count} parameters, got {len(func.params)}", func)
    return count


def set_attr(func: relax.FuncOp, name: str, value: Attribute | None) -> None:
    """Set an attribute of a function, or remove it."""
    attrs = {} if func.attrs is None else dict(func.attrs.data)
    attrs.pop(name, None)
    if value is not None:
        attrs[name] = value
    func.attrs = DictionaryAttr(attrs) if attrs else None


def forget_result(func: relax.FuncOp) -> None:
    """Let the result type have the symbols of parameters alone."""
    known = set(determined_symbols(p.type for p in func.params))
    func.result_type = forget_symbols(func.result_type, known)


@dataclass(frozen=True)
class LazyGetInputPass(ModulePass):
    """Get the parameters after `num_input` ones from a function; public functions only."""

    name = "lazy-get-input"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            if func.private is None:
                lazy_get_input(func)


@dataclass(frozen=True)
class LazySetOutputPass(ModulePass):
    """Give each result to a function when it is computed; public functions only."""

    name = "lazy-set-output"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            if func.private is None:
                lazy_set_output(func)
