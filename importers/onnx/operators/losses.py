"""Losses of classifiers: the negative logarithm of the probability of a target class."""

from __future__ import annotations

from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from .normalization import require_rank
from .reduction import converted, mean, total


@converts("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(
    ctx: Context,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative of `x` at the class of each target, times the weight of the class.

    Dim 1 of `x` are the classes. Targets that are `ignore_index` have no loss.
    """
    classes, factor = Formula(ctx, target), None
    if ignore_index is not None:
        kept = classes.differs(ignore_index)
        classes = classes.where(kept, 0)
        factor = kept.to(x.dtype)
    if weight is not None:
        chosen = Formula(ctx, ctx.emit("take", weight, classes.tensor, axis=0))
        factor = chosen if factor is None else chosen * factor
    picked = _picked(ctx, x, classes.tensor)
    loss = -picked if factor is None else -picked * factor
    return _reduced(ctx, loss, factor, reduction)


def _picked(ctx: Context, x: Tensor, classes: Tensor) -> Formula:
    """The elements of dim 1 at the classes."""
    require_rank(x, 2)
    batch, _, *rest = x.dims
    fitted = ctx.fitted(classes, [batch, *rest])
    column = ctx.emit("expand_dims", fitted, axis=[1])
    found = ctx.emit("gather_elements", x, column, axis=1)
    return Formula(ctx, ctx.emit("squeeze", found, axis=[1]))


def _reduced(ctx: Context, loss: Formula, factor: Formula | None, reduction: str) -> Tensor:
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"expected a reduction of none, sum or mean, got '{reduction}'")
    if reduction == "none":
        return loss.tensor
    if reduction == "mean" and factor is None:
        return converted(mean, ctx, loss.tensor, None, 0)
    summed = converted(total, ctx, loss.tensor, None, 0)
    if reduction == "sum" or factor is None:
        return summed
    return (Formula(ctx, summed) / converted(total, ctx, factor.tensor, None, 0)).tensor


@converts("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(
    ctx: Context,
    scores: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> tuple[Tensor, Tensor]:
    """The loss for the logarithms of probabilities, which are the other result."""
    logarithms = ctx.emit("nn.log_softmax", scores, axis=1)
    loss = negative_log_likelihood_loss(
        ctx, logarithms, labels, weights, ignore_index=ignore_index, reduction=reduction
    )
    return loss, logarithms
