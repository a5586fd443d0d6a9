"""Vector loads whose lanes are near each other: load contiguous vectors and shuffle them.

::

    %x = loops.load %X[%j * 2]       ⇒     %a = loops.load %X[0] : … -> vector<4xf32>
    (four lanes)                           %b = loops.load %X[3] : … -> vector<4xf32>
                                           %x = vector.shuffle %a, %b [0, 2, 5, 7]

    %x = loops.load %X[%j floordiv 2]  ⇒   %a = loops.load %X[0] : … -> vector<2xf32>
                                           %x = vector.shuffle %a, %a [0, 0, 1, 1]

The last vector ends with the element of the last lane, or of another load between whose lanes these
are, so that both shuffle the same vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DenseArrayBase, VectorType, i64
from xdsl.dialects.vector import ShuffleOp
from xdsl.ir import SSAValue

from ..scope import Scope

MOST_VECTORS = 4
"""Lanes that are further apart are loaded element by element: most of the loaded vectors would be
unused."""


def is_near(offsets: Sequence[int]) -> bool:
    """Whether lanes with these offsets in a row are in a few vectors."""
    return max(offsets) - min(offsets) < MOST_VECTORS * len(offsets)


def shuffled_load(
    load: Callable[[int, int], SSAValue],
    offsets: Sequence[int],
    span: tuple[int, int],
    type_: VectorType,
    scope: Scope,
) -> SSAValue:
    """Emit the lanes of a vector, each at its offset; `load` emits a contiguous vector.

    Its arguments are the offset of the first element and the number of elements. All elements from
    the first to the last offset of `span` may be loaded.
    """
    width, (lowest, highest) = len(offsets), span
    length, last = highest - lowest + 1, max(highest - lowest + 1 - width, 0)
    offsets = [offset - lowest for offset in offsets]
    starts = [min(first, last) for first in range(0, length, width)]
    sources = [next(p for p, first in enumerate(starts) if o < first + width) for o in offsets]
    needed = sorted(set(sources))
    result, *pieces = (load(lowest + starts[number], min(length, width)) for number in needed)
    # Lanes of the first vector are not in place until the first shuffle.
    places = [min(offset - starts[needed[0]], width - 1) for offset in offsets]
    if not pieces:
        return shuffle(result, result, places, type_, scope)
    for number, piece in zip(needed[1:], pieces, strict=True):
        order = [
            width + offset - starts[number] if source == number else place
            for source, offset, place in zip(sources, offsets, places, strict=True)
        ]
        result, places = shuffle(result, piece, order, type_, scope), [*range(width)]
    return result


def shuffle(
    lhs: SSAValue, rhs: SSAValue, order: Sequence[int], type_: VectorType, scope: Scope
) -> SSAValue:
    """Emit a shuffle of two vectors."""
    op = ShuffleOp.create(
        operands=[lhs, rhs],
        result_types=[type_],
        properties={"mask": DenseArrayBase.from_list(i64, order)},
    )
    scope.emit(op)
    return op.results[0]
