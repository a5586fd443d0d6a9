"""Outline operations of a graph into functions, such as groups that become one kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import relax
from ...dialects.int_expr import sym
from ..functions import unique_name


def outlined_function(
    name: str,
    inputs: Sequence[SSAValue],
    symbols: Sequence[str],
    fill: Callable[[Block, dict[SSAValue, SSAValue]], SSAValue],
    attrs: Mapping[str, Attribute],
    output_name: str | None = "gv",
) -> relax.FuncOp:
    """A private function of outer values and symbols.

    The symbols, which no value determines, are passed as a shape after the values. `fill` gets the
    dataflow block and the parameters by value, appends the operations, and returns the result.
    """
    types, names = [v.type for v in inputs], list[str]()
    for position, value in enumerate(inputs):
        names.append(unique_name(value.name_hint or f"x{position}", names))
    if symbols:
        types.append(relax.ShapeType.of([sym(s) for s in symbols]))
        names.append(unique_name("shape", names))
    body, inner = Block(arg_types=types), Block()
    for arg, hint in zip(body.args, names, strict=True):
        arg.name_hint = hint
    result = fill(inner, dict(zip(inputs, body.args, strict=False)))
    inner.add_op(relax.OutputOp([result]))
    dataflow = relax.DataflowOp(Region(inner), [result.type])
    dataflow.outputs[0].name_hint = output_name or result.name_hint
    body.add_ops([dataflow, relax.ReturnOp(dataflow.outputs[0])])
    return relax.FuncOp(
        name, names, result.type, Region(body), private=True, attrs=DictionaryAttr(dict(attrs))
    )


def outlined_call(
    callee: str, inputs: Sequence[SSAValue], symbols: Sequence[str], last: Operation
) -> list[Operation]:
    """The operations that replace `last` by a call of an `outlined_function`."""
    given, new = list(inputs), list[Operation]()
    if symbols:
        shape = relax.ShapeOp([sym(s) for s in symbols])
        shape.result.name_hint = "shape"
        given.append(shape.result)
        new.append(shape)
    call = relax.CallOp(callee, given, last.results[0].type)
    call.location = last.location
    call.result.name_hint = last.results[0].name_hint
    return [*new, call]
