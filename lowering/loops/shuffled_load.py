"""Vector loads whose lanes are near each other: load contiguous vectors and shuffle them.

::

    %x = loops.load %X[%j * 2]       ⇒     %a = loops.load %X[0] : … -> vector<4xf32>
    (four lanes)                           %b = loops.load %X[3] : … -> vector<4xf32>
                                           %x = vector.shuffle %a, %b [0, 2, 5, 7]

    %x = loops.load %X[%j floordiv 2]  ⇒   %a = loops.load %X[0] : … -> vector<2xf32>
                                           %x = vector.shuffle %a, %a [0, 0, 1, 1]

The last vector ends with the element of the last lane.
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
    load: Callable[[int, int], SSAValue], offsets: Sequence[int], type_: VectorType, scope: Scope
) -> SSAValue:
    """Emit the lanes of a vector, each at its offset; `load` emits a contiguous vector.

    Its arguments are the offset of the first element and the number of elements.
    """
    width, lowest = len(offsets), min(offsets)
    offsets = [offset - lowest for offset in offsets]
    length = max(offsets) + 1
    if length <= width:
        piece = load(lowest, length)
        return shuffle(piece, piece, offsets, type_, scope)
    last = length - width
    starts = [min(first, last) for first in range(0, length, width)]
    pieces = [load(lowest + first, width) for first in starts]
    sources = [next(p for p, first in enumerate(starts) if o < first + width) for o in offsets]
    # Lanes of the first vector are not in place until the first shuffle.
    result, places = pieces[0], offsets
    for number, piece in enumerate(pieces[1:], start=1):
        order = [
            width + offset - starts[number] if source == number else min(place, width - 1)
            for source, offset, place in zip(sources, offsets, places, strict=True)
        ]
        result, places = shuffle(result, piece, order, type_, scope), range(width)
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
