"""The symbols of inputs, also those that only dims such as ``2 * n`` determine.

Such a dim becomes a symbol m of its own. The graph begins with a cast of the shape ``[m floordiv
2]``, which declares n, and a cast of the input, which checks on calls that m is ``2 * n``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import Block
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.int_expr import IntExpr, Sym, sym
from ...dialects.relax.symbols import dims_in
from ...dialects.relax.types import type_symbols
from ...lowering.functions import unique_name
from ..emitter import Value, dims_of, type_of
from .context import Context


class Source(NamedTuple):
    """The dim ``factor * symbol + offset`` of an input, from which a symbol is read.

    `position` is that of the input; a number has one dim.
    """

    position: int
    axis: int
    factor: int = 1
    offset: int = 0

    @property
    def is_composed(self) -> bool:
        """Whether the dim is not the symbol itself."""
        return (self.factor, self.offset) != (1, 0)

    def size(self, value: int) -> int:
        """The size of the dim for a value of the symbol."""
        return self.factor * value + self.offset

    def value(self, size: int) -> int:
        """The value of the symbol for a size of the dim."""
        return (size - self.offset) // self.factor


def symbol_sources(inputs: Sequence[Sequence[IntExpr]]) -> dict[str, Source]:
    """The source of each symbol, from the dims of all inputs: the symbol itself if one is."""
    found: dict[str, Source] = {}
    sources = [*_sources(inputs)]
    for name, source in sorted(sources, key=lambda item: item[1].is_composed):
        found.setdefault(name, source)
    return found


def _sources(inputs: Sequence[Sequence[IntExpr]]) -> Iterator[tuple[str, Source]]:
    for index, dims in enumerate(inputs):
        for axis, dim in enumerate(dims):
            for name in dim.symbols():
                parts = dim.split_on(Sym(name)) or ()
                match [part.constant for part in parts]:
                    case [int() as factor, int() as offset] if factor > 0:
                        yield name, Source(index, axis, factor, offset)
                    case _:
                        pass


def read_composed_dims(context: Context, entry: Block, names: Sequence[str]) -> dict[int, Value]:
    """Declare the symbols of composed dims; the parameters that are cast, by position.

    `names` are those of the parameters, which are the arguments of `entry`.
    """
    types = [arg.type for arg in entry.args]
    sources = symbol_sources([list(dims_in(type_)) for type_ in types])
    composed = {
        name: source
        for name, source in sources.items()
        if source.is_composed and isinstance(types[source.position], relax.TensorType)
    }
    if not composed:
        return {}
    casts: dict[int, dict[int, IntExpr]] = {}
    taken = {s for type_ in types for s in type_symbols(type_)}
    tensors = [(i, t) for i, t in enumerate(types) if isinstance(t, relax.TensorType)]
    for index, type_ in tensors:
        for axis, dim in enumerate(type_.dims or ()):
            if dim.symbols() & composed.keys():
                taken.add(name := unique_name(f"{names[index]}_{axis}", taken))
                casts.setdefault(index, {})[axis] = sym(name)
    for name, source in composed.items():
        _declare(context, name, source, casts[source.position][source.axis])
    return {i: _cast(context, entry.args[i], dims) for i, dims in casts.items()}


def _declare(context: Context, name: str, source: Source, dim: IntExpr) -> None:
    """Declare a symbol by the symbol of its dim, which gets its range."""
    shape = relax.ShapeOp([(dim - source.offset) // source.factor])
    context.insert(shape)
    context.insert(relax.MatchCastOp(shape.result, relax.ShapeType.of([sym(name)])))
    if (range_ := context.symbols.ranges.get(name)) is not None:
        least, most = range_
        high = None if most is None else source.size(most)
        context.symbols.ranges[str(dim)] = source.size(least), high


def _cast(context: Context, value: Value, symbols: Mapping[int, IntExpr]) -> Value:
    """A parameter that gets symbols for some of its dims, cast to its type."""
    type_ = type_of(value)
    dims = [symbols.get(axis, dim) for axis, dim in enumerate(dims_of(value))]
    given = relax.TensorType.of(dims, type_.element_type)
    return context.match(Rewriter.replace_value_with_new_type(value, given), type_)
