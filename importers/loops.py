"""Emits loops of graphs: the body becomes a private function, which `relax.loop` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, TupleType, i64
from xdsl.ir import Block, TypeAttribute

from ..dialects import relax
from ..dialects.int_expr import IntExpr, sym
from ..dialects.relax.symbols import determined_symbols
from ..dialects.relax.types import type_symbols
from ..lowering.functions import unique_name
from .emitter import Emitter, Value, type_of
from .functions import graph_function

Body = Callable[
    [Emitter, IntExpr, list[Value], list[Value], list[Value]], tuple[list[Value], list[Value]]
]
"""From an emitter, the number of the iteration, carried tensors, rows of scanned ones, and given
values to the next carried tensors and the outputs of the iteration."""


def emit_loop(
    emitter: Emitter,
    name: str,
    body: Body,
    carried: Sequence[Value],
    *,
    scanned: Sequence[Value] = (),
    given: Sequence[Value] = (),
    trips: IntExpr | None = None,
    is_while: bool = False,
    sizes: Iterable[IntExpr] = (),
) -> list[Value]:
    """The last carried tensors, and the outputs stacked along a new first axis.

    `sizes` are expressions of symbols that the body uses beside its tensors' own. Constants among
    the given values become constants of the body, which are packed once. Raises ValueError where
    the body changes the type of a carried tensor.
    """
    constants = {v: v.owner for v in given if isinstance(v.owner, relax.ConstantOp)}
    others = [v for v in given if v not in constants]
    rows = [_row(type_of(v)) for v in scanned]
    types = [*(v.type for v in carried), *rows, *(v.type for v in others)]
    used = {s for t in types for s in type_symbols(t)} | {s for e in sizes for s in e.symbols()}
    symbols = sorted(used - set(determined_symbols(types)))
    numbers = [relax.PrimValueOp(sym(s)) for s in symbols]
    for op in numbers:
        emitter.insert(op)
    others += [op.result for op in numbers]
    index = unique_name("i", used)
    params = [relax.PrimType.of(i64, sym(index)), *types, *(op.result.type for op in numbers)]
    entry = Block(arg_types=params)
    inner = Emitter(Block(), emitter.functions)
    inner.location = emitter.location
    states, row_args, rest = _split(list(entry.args[1:]), len(carried), len(scanned))
    values = dict(zip(others, rest, strict=True))
    values |= {v: inner.constant(op.value.data) for v, op in constants.items()}
    found, outputs = body(inner, sym(index), states, row_args, [values[v] for v in given])
    found = [inner.match(v, type_of(c)) for v, c in zip(found, carried, strict=True)]
    function = emitter.functions.unique(name)
    names = ["i", *(f"x{i}" for i in range(len(params) - 1))]
    emitter.functions.add(
        graph_function(function, names, entry, inner.block, [*found, *outputs], private=True)
    )
    stacked = [_stacked(type_of(o), trips) for o in outputs]
    result = TupleType(ArrayAttr([*(type_of(c) for c in carried), *stacked]))
    loop = relax.LoopOp(function, trips, carried, scanned, others, result, is_while)
    emitter.insert(loop)
    return list(emitter.fields(loop.result))


def _split(
    values: list[Value], carried: int, scanned: int
) -> tuple[list[Value], list[Value], list[Value]]:
    second = carried + scanned
    return values[:carried], values[carried:second], values[second:]


def _row(type_: relax.TensorType) -> relax.TensorType:
    if not type_.dims:
        raise ValueError(f"expected a tensor to scan along its first axis, got {type_}")
    return relax.TensorType.of(type_.dims[1:], type_.known_element)


def _stacked(type_: relax.TensorType, trips: IntExpr | None) -> TypeAttribute:
    if trips is None or type_.dims is None:
        raise ValueError(f"expected a known shape and number of iterations to stack, got {type_}")
    return relax.TensorType.of([trips, *type_.dims], type_.known_element)
