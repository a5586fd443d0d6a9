"""Numbers in the place of objects, which only Python has: places in a table of the running call.

::

    relax.func @main(%cache: !relax.object, %x: …) -> !relax.object {
      %0 = relax.call_packed "append"(%cache, %x) : (!relax.object, …) -> !relax.object

⇒

::

    relax.func @main(%cache: !relax.prim<i64>, %x: …) -> !relax.prim<i64> {
      %0 = relax.call_packed "append"(%cache, %x) : (!relax.prim<i64>, …) -> !relax.prim<i64>

Numbers of unknown value are held as tensors of rank 0, so that branches, loops and calls pass
objects on as they pass tensors. Storage stays: `convert-relax-to-rt` plans it.
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.relax.objects import with_handles
from .convert_calls import PackedCall


def lower_objects(func: relax.FuncOp) -> dict[Operation, FunctionType]:
    """Replace the objects of a function; returns the former types of it and of its packed calls.

    Only those with objects are returned.
    """
    found: dict[Operation, FunctionType] = {}
    _keep(found, func, [p.type for p in func.params], func.returned.type)
    calls = [op for op in func.walk() if isinstance(op, PackedCall)]
    for op in calls:
        _keep(found, op, [a.type for a in op.args], op.result.type)
    for op in list(func.walk()):
        values: list[SSAValue] = [a for r in op.regions for b in r.blocks for a in b.args]
        if not isinstance(op, relax.AllocStorageOp):
            values += op.results
        for value in values:
            if (type_ := with_handles(value.type)) != value.type:
                Rewriter.replace_value_with_new_type(value, type_)
    func.result_type = with_handles(func.result_type)
    return found


def _keep(
    found: dict[Operation, FunctionType], op: Operation, params: list[Attribute], result: Attribute
) -> None:
    types = [*params, result]
    if any(with_handles(t) != t for t in types):
        found[op] = FunctionType.from_lists(params, [result])
