"""`lazy_transform_params`: weights are loaded one by one, and each result is stored and freed.

::

    relax.func @main_transform_params(%params: tuple<T, T>) -> tuple<T, T> {
      %A = relax.tuple_get_item %params[1] : …
      %B = relax.exp %A : …
      …

⇒

::

    relax.func impure @main_transform_params() -> tuple<> {
      %0 = relax.prim_value : !relax.prim<i64, 1>
      %1 = relax.call_packed "get_item"(%0) : …
      %A = relax.match_cast %1 : !relax.object -> T
      %B = relax.exp %A : …
      %2 = relax.vm.kill_tensor %A : …
      %3 = relax.prim_value : !relax.prim<i64, 0>
      %4 = relax.call_packed "set_item"(%3, %B) : …
      …

TVM's ``LazyTransformParams``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TupleType, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ..functions import unique_name
from .lazy_params import (
    INLINE,
    Caller,
    forget_result,
    get_before_use,
    get_weight,
    input_count,
    insert_call,
    set_attr,
    take_outputs,
)


@dataclass(frozen=True)
class LazyCalls:
    """The registered functions of `lazy_transform_params`, and parameters that they get first."""

    get: str = "get_item"
    set: str | None = "set_item"
    get_params: Sequence[tuple[str, Attribute]] = ()
    set_params: Sequence[tuple[str, Attribute]] = ()


def lazy_transform_params(func: relax.FuncOp, calls: LazyCalls) -> None:
    """Get weights from a registered function, and give results to another one, in place.

    Weights are the parameters after the `num_input` ones, or the fields of one tuple. Those that
    are shapes and numbers stay, as the last parameters, where they determine symbols. A result is
    given when it has no more uses; weights that are fields are ended then.
    """
    count = input_count(func)
    weights = list(func.params[count:])
    names = func.names[count:]
    own: list[SSAValue] = []
    for name, type_ in (*calls.get_params, *calls.set_params):
        own.append(func.insert_param(count + len(own), unique_name(name, func.names), type_))
    for_get, for_set = own[: len(calls.get_params)], own[len(calls.get_params) :]
    for type_ in _kept_types(func, [w.type for w in weights]):
        func.insert_param(len(func.params), unique_name("symbols", func.names), type_)

    def get(index: SSAValue, name: str) -> list[Operation]:
        return [relax.CallPackedOp(calls.get, [*for_get, index], relax.ObjectType())]

    fields: list[SSAValue] = []
    if len(weights) == 1 and isinstance(weights[0].type, TupleType):
        fields = _get_fields(weights[0], get)
    else:
        for place, (param, name) in enumerate(zip(weights, names, strict=True)):
            get_before_use(func, param, place, name, get)
    first = count + len(own)
    func.erase_params(range(first, first + len(weights)))
    func.impure = UnitAttr()
    set_attr(func, relax.func.FORCE_PURE, None)
    if calls.set is not None:
        _give_after_last_use(func, calls.set, for_set, fields)
    forget_result(func)


def _give_after_last_use(
    func: relax.FuncOp, name: str, params: Sequence[SSAValue], fields: Sequence[SSAValue]
) -> None:
    outputs = take_outputs(func)
    inline = {v: p for v, p in outputs.items() if isinstance(v.owner, INLINE)}
    last_uses = _last_uses(func)
    used = {value for ended in last_uses.values() for value in ended}
    start = InsertPoint.at_start(func.body.block)
    for value, places in outputs.items():
        if value not in used and value not in inline:  # a parameter that is only returned
            _give(name, params, value, places, start)
    for op, ended in last_uses.items():
        point = InsertPoint.after(op)
        for value in ended:
            if value in outputs and value not in inline:
                _give(name, params, value, outputs[value], point)
            if value in fields:
                Rewriter.insert_op(relax.KillTensorOp(value), point)
    for value, places in inline.items():
        _give(name, params, value, places, InsertPoint.before(func.end))


def _give(
    name: str,
    params: Sequence[SSAValue],
    value: SSAValue,
    places: Sequence[int],
    point: InsertPoint,
) -> None:
    for place in places:
        index = relax.PrimValueOp(place)
        call = relax.CallPackedOp(name, [*params, index.result, value], relax.ObjectType())
        insert_call(index, value, call, point)


def _last_uses(func: relax.FuncOp) -> dict[Operation, list[SSAValue]]:
    """The values that have no use after each operation of the body, and none if it defines them."""
    seen: set[SSAValue] = set()
    found: dict[Operation, list[SSAValue]] = {}
    for op in reversed(list(func.body.block.ops)[:-2]):
        used = [o for inner in op.walk() for o in inner.operands]
        ended = list(dict.fromkeys(v for v in (*used, *op.results) if v not in seen))
        seen.update(ended)
        found[op] = ended
    return dict(reversed(found.items()))


def _get_fields(param: SSAValue, get: Caller) -> list[SSAValue]:
    """Replace the fields of a tuple of weights; returns the values."""
    found: list[SSAValue] = []
    for user in [use.operation for use in param.uses]:
        if not isinstance(user, relax.TupleGetItemOp):
            raise Diagnostic("expected fields alone of the tuple of weights to be used", user)
        name = user.result.name_hint or ""
        value = get_weight(InsertPoint.before(user), user.result.type, user.index.data, name, get)
        user.result.replace_all_uses_with(value)
        Rewriter.erase_op(user)
        found.append(value)
    return found


def _kept_types(func: relax.FuncOp, types: Iterable[Attribute]) -> list[Attribute]:
    """The types of weights that are shapes and numbers, if the function has symbols."""
    if not func.declared_symbols():
        return []
    parts = [p for t in types for p in (t.types.data if isinstance(t, TupleType) else [t])]
    return [p for p in parts if isinstance(p, relax.ShapeType | relax.PrimType)]
