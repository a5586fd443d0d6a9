"""Outline operations of a graph into functions, such as groups that become one kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from ...dialects import relax
from ...dialects.int_expr import sym
from ..functions import unique_name


def outlined_function(
    name: str,
    inputs: Sequence[SSAValue],
    symbols: Sequence[str],
    fill: Callable[[Block, dict[SSAValue, SSAValue]], Sequence[SSAValue]],
    attrs: Mapping[str, Attribute],
    output_name: str | None = "gv",
) -> relax.FuncOp:
    """A private function of outer values and symbols.

    The symbols, which no value determines, are passed as a shape after the values. `fill` gets the
    dataflow block and the parameters by value, appends the operations, and returns the results.
    The function returns a tuple if there are several.
    """
    body, names = parameter_block(inputs, symbols)
    inner = Block()
    results = list(fill(inner, dict(zip(inputs, body.args, strict=False))))
    values = sorted(results, key=list(_results(inner)).index)
    inner.add_op(relax.OutputOp(values))
    dataflow = relax.DataflowOp(Region(inner), [v.type for v in values])
    for output, value in zip(dataflow.outputs, values, strict=True):
        output.name_hint = output_name or value.name_hint
    body.add_op(dataflow)
    add_return(body, [dataflow.outputs[values.index(v)] for v in results])
    return function_of(name, names, body, attrs, private=True)


def _results(block: Block) -> Iterator[SSAValue]:
    for op in block.ops:
        yield from op.results


def add_return(body: Block, results: Sequence[SSAValue]) -> None:
    """Return a value from a function, or a tuple of several."""
    result = results[0]
    if len(results) > 1:
        fields = relax.TupleOp(results)
        body.add_op(fields)
        result = fields.result
    body.add_op(relax.ReturnOp(result))


def function_of(
    name: str, names: Sequence[str], body: Block, attrs: Mapping[str, Attribute], private: bool
) -> relax.FuncOp:
    """A function with this body, which ends with the return."""
    last = body.last_op
    assert isinstance(last, relax.ReturnOp)
    dictionary = DictionaryAttr(dict(attrs))
    return relax.FuncOp(
        name, names, last.value.type, Region(body), private=private, attrs=dictionary
    )


def parameter_block(inputs: Sequence[SSAValue], symbols: Sequence[str]) -> tuple[Block, list[str]]:
    """A block with parameters for values, and a shape of symbols that they do not determine."""
    types, names = [v.type for v in inputs], list[str]()
    for position, value in enumerate(inputs):
        names.append(unique_name(value.name_hint or f"x{position}", names))
    if symbols:
        types.append(relax.ShapeType.of([sym(s) for s in symbols]))
        names.append(unique_name("shape", names))
    body = Block(arg_types=types)
    for arg, hint in zip(body.args, names, strict=True):
        arg.name_hint = hint
    return body, names


def outlined_call(
    callee: str,
    inputs: Sequence[SSAValue],
    symbols: Sequence[str],
    results: Sequence[SSAValue],
    last: Operation,
) -> list[Operation]:
    """The operations that call an `outlined_function` of these results, which ends with `last`."""
    given, new = list(inputs), list[Operation]()
    if symbols:
        shape = relax.ShapeOp([sym(s) for s in symbols])
        shape.result.name_hint = "shape"
        given.append(shape.result)
        new.append(shape)
    types = [cast(TypeAttribute, v.type) for v in results]
    call = relax.CallOp(callee, given, types[0] if len(types) == 1 else TupleType(ArrayAttr(types)))
    call.location = last.location
    call.result.name_hint = results[0].name_hint if len(results) == 1 else None
    return [*new, call]
