"""Strided vector loads of small strides: load contiguous vectors and shuffle them.

::

    %x = loops.load %X[%j * 2]       ⇒     %a = loops.load %X[0] : … -> vector<4xf32>
    (four lanes)                           %b = loops.load %X[3] : … -> vector<4xf32>
                                           %x = vector.shuffle %a, %b [0, 2, 5, 7]

The last vector ends with the element of the last lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DenseArrayBase, VectorType, i64
from xdsl.dialects.vector import ShuffleOp
from xdsl.ir import SSAValue

from ...dialects.int_expr import Atom, IntExpr
from ...dialects.tir.types import BufferType
from ..analysis.strides import lane_step
from ..scope import Scope

MAX_STRIDE = 4
"""Larger strides are loaded element by element: most of the loaded vectors would be unused."""


def stride_of(indices: Sequence[IntExpr], buffer: BufferType, lane: Atom) -> int | None:
    """The stride between lanes in the last dim, if it is a small constant."""
    step = lane_step(buffer, indices, lane)
    stride = None if step is None else step.constant
    return stride if stride and abs(stride) <= MAX_STRIDE else None


def strided_load(
    load: Callable[[int], SSAValue], stride: int, type_: VectorType, scope: Scope
) -> SSAValue:
    """Emit the lanes of a vector; `load` emits the contiguous vector at an offset."""
    width = type_.get_shape()[0]
    lowest = min(0, stride * (width - 1))
    offsets = [stride * lane - lowest for lane in range(width)]
    last = max(offsets) + 1 - width
    starts = sorted({min(piece * width, last) for piece in range(abs(stride))})
    pieces = [load(lowest + first) for first in starts]
    sources = [next(p for p, first in enumerate(starts) if o < first + width) for o in offsets]
    # Lanes of the first vector are not in place until the first shuffle.
    result, places = pieces[0], offsets
    for number, piece in enumerate(pieces[1:] or pieces, start=int(len(pieces) > 1)):
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
