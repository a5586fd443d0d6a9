"""Dropout, which has no effect in inference."""

from __future__ import annotations

from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts
from ..tensor import Tensor

_INFERENCE = "export the model for inference"


@converts("Dropout")
def dropout_of_opset_1(
    ctx: Context, x: Tensor, *, is_test: int = 0, ratio: float = 0.5
) -> tuple[Tensor, Tensor]:
    """The tensor itself, and a mask of ones in its dtype."""
    if not is_test and ratio:
        raise Unsupported("dropout in training mode", _INFERENCE)
    return _kept(ctx, x, x.dtype)


@converts("Dropout", since=7)
def dropout_of_opset_7(ctx: Context, x: Tensor, *, ratio: float = 0.5) -> tuple[Tensor, Tensor]:
    """The tensor itself, and a mask of ones, which are bools from opset 10 on."""
    return _kept(ctx, x, "bool" if ctx.opset >= 10 else x.dtype)


@converts("Dropout", since=12)
def dropout(
    ctx: Context,
    x: Tensor,
    ratio: Tensor | None = None,
    training_mode: Tensor | None = None,
    *,
    seed: int = 0,
) -> tuple[Tensor, Tensor]:
    """The tensor itself, and a mask of true."""
    if training_mode is not None and training_mode.number("training_mode"):
        dropped = 0.5 if ratio is None else ratio.number("the ratio")
        if dropped:
            raise Unsupported("dropout in training mode", _INFERENCE)
    return _kept(ctx, x, "bool")


def _kept(ctx: Context, x: Tensor, dtype: str) -> tuple[Tensor, Tensor]:
    return x, ctx.broadcast(ctx.number(1, dtype), x.dims)
