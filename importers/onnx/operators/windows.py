"""Windows of convolutions and pools over spatial dims: attributes and padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects.int_expr import ONE, ZERO, IntExpr, maximum
from ...unsupported import Unsupported
from ..context import Context
from ..tensor import Tensor
from .slicing import padded


@dataclass(frozen=True)
class Windows:
    """Windows over the spatial dims of ``(N, C, spatial…)`` data."""

    sizes: Sequence[IntExpr]
    strides: Sequence[int]
    dilations: Sequence[int]

    @staticmethod
    def of(
        x: Tensor,
        sizes: Sequence[IntExpr | int],
        strides: Sequence[int] | None,
        dilations: Sequence[int] | None,
    ) -> Windows:
        """Windows of these attributes; raises ValueError if the data has not so many dims."""
        rank = x.rank - 2
        if rank not in (1, 2, 3):
            raise Unsupported(f"expected 1 to 3 spatial dims, got data of rank {x.rank}")
        steps, dilated = strides or [1] * rank, dilations or [1] * rank
        given = {"kernel_shape": sizes, "strides": steps, "dilations": dilated}
        for name, values in given.items():
            if len(values) != rank:
                raise ValueError(f"expected {name} of {rank} dims, got {len(values)}")
            constants = [d.offset for d in map(IntExpr.of, values) if d.is_constant]
            if any(value < 1 for value in constants):
                raise ValueError(f"expected positive {name}, got {min(constants)}")
        return Windows([IntExpr.of(s) for s in sizes], steps, dilated)

    @property
    def rank(self) -> int:
        """The number of spatial dims."""
        return len(self.sizes)

    @property
    def reach(self) -> list[IntExpr]:
        """The extent of a window along each dim, with its dilation."""
        return [(s - 1) * d + 1 for s, d in zip(self.sizes, self.dilations, strict=True)]

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of a graph operator."""
        return {"strides": list(self.strides), "dilation": list(self.dilations)}


def margins_of(
    x: Tensor, windows: Windows, auto_pad: str, pads: Sequence[int] | None
) -> list[IntExpr]:
    """The padding before each spatial dim, then after each."""
    if auto_pad not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", ""):
        raise ValueError(f"expected a kind of automatic padding, got '{auto_pad}'")
    if auto_pad.startswith("SAME"):
        triples = zip(x.dims[2:], windows.reach, windows.strides, strict=True)
        return split_margins([same_margin(*t) for t in triples], auto_pad)
    given = list(pads or ()) if auto_pad != "VALID" else []
    if given and len(given) != 2 * windows.rank:
        raise ValueError(f"expected {2 * windows.rank} pads, got {len(given)}")
    return [IntExpr.of(p) for p in given or [0] * (2 * windows.rank)]


def same_margin(length: IntExpr, reach: IntExpr, stride: int) -> IntExpr:
    """The padding with which there is a window for each `stride` elements."""
    total = (length + (stride - 1)) // IntExpr.of(stride) * stride - stride + reach - length
    if total.is_constant or (reach.is_constant and reach.offset >= stride):
        return IntExpr.of(max(total.offset, 0)) if total.is_constant else total
    return ZERO if reach == ONE else maximum(total, 0)


def split_margins(totals: Sequence[IntExpr], auto_pad: str) -> list[IntExpr]:
    """The padding before each dim, then after each; an odd one is larger after for SAME_UPPER."""
    less = [t // IntExpr.of(2) for t in totals]
    more = [t - half for t, half in zip(totals, less, strict=True)]
    return [*less, *more] if auto_pad == "SAME_UPPER" else [*more, *less]


def pad_symbolic(
    ctx: Context, x: Tensor, margins: Sequence[IntExpr], fill: Any
) -> tuple[Tensor, list[int]]:
    """The data with the padding that depends on symbols, and the padding that is left."""
    rank = x.rank - 2
    symbolic = [not (margins[d].is_constant and margins[d + rank].is_constant) for d in range(rank)]
    if not any(symbolic):
        return x, [m.offset for m in margins]
    kept = [m if symbolic[d % rank] else ZERO for d, m in enumerate(margins)]
    widths = [ZERO, ZERO, *kept[:rank], ZERO, ZERO, *kept[rank:]]
    left = [0 if symbolic[d % rank] else m.offset for d, m in enumerate(margins)]
    return padded(ctx, x, widths, "constant", ctx.number(fill, x.dtype)), left
