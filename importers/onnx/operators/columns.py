"""Images from columns of blocks, the inverse of unfolding them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ....dialects.int_expr import IntExpr, floordiv
from ..context import Context
from ..registry import converts
from ..tensor import Tensor


@converts("Col2Im")
def column_to_image(
    ctx: Context,
    x: Tensor,
    image_shape: Tensor,
    block_shape: Tensor,
    *,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Images whose elements are sums over the blocks that have them: (batch, depth, …)."""
    image, block = image_shape.ints("an image shape"), block_shape.ints("a block shape")
    rank = len(image)
    counts, places = _places(
        image, block, dilations or [1] * rank, pads or [0] * 2 * rank, strides or [1] * rank
    )
    batch, rows, _ = x.dims
    blocks, count = prod(block), IntExpr.of(counts)
    depth = floordiv(rows, IntExpr.of(blocks))
    whole = ctx.fitted(x, [batch, depth * blocks, count])
    flat = ctx.reshape(whole, [batch, depth, count * blocks])
    widened = ctx.emit("nn.pad", flat, pad_width=[(0, 0), (0, 0), (0, 1)])
    taken = ctx.emit("take", widened, ctx.array(places, "int32"), axis=2)
    return ctx.reshape(ctx.emit("sum", taken, axis=[2]), [batch, depth, *map(IntExpr.of, image)])


def _places(
    image: Sequence[int],
    block: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    strides: Sequence[int],
) -> tuple[int, Any]:
    """The number of columns, and for each position of a block and pixel the element of columns.

    The number of all elements stands for none.
    """
    rank = len(image)
    if not len(block) == len(dilations) == len(strides) == rank == len(pads) // 2:
        raise ValueError(f"expected {rank} dims of a block, and of its attributes, got {block}")
    reach = [d * (b - 1) + 1 for b, d in zip(block, dilations, strict=True)]
    counts = [
        (image[d] + pads[d] + pads[rank + d] - reach[d]) // strides[d] + 1 for d in range(rank)
    ]
    within = np.indices(block).reshape(rank, -1, 1)
    pixels = np.indices(image).reshape(rank, 1, -1)
    by = [np.reshape(v, (rank, 1, 1)) for v in (pads[:rank], dilations, strides, counts)]
    first = pixels + by[0] - within * by[1]
    numbers = first // by[2]
    exists = ((first % by[2] == 0) & (numbers >= 0) & (numbers < by[3])).all(0)
    column = np.ravel_multi_index(tuple(numbers % by[3]), tuple(counts))
    total = prod(counts)
    places = np.arange(prod(block)).reshape(-1, 1) * total + column
    return total, np.where(exists, places, prod(block) * total)
