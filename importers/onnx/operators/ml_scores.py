"""Scores of the models of ``ai.onnx.ml``: the last function of them, and the best class."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.int_expr import ONE, IntExpr
from ...unsupported import Unsupported
from ..context import Context
from ..registry import ADVICE
from ..tensor import Tensor

ML = "ai.onnx.ml"
"""The domain of classical models, such as those of scikit-learn."""

ADVICE["ZipMap"] = "convert the model with options={'zipmap': False}"


def rows_of_floats(ctx: Context, x: Tensor, columns: int | None = None) -> Tensor:
    """A matrix of float32 or float64 with a row for each sample; a vector is one sample.

    Raises ValueError for other ranks and for another number of columns.
    """
    if x.rank == 1:
        x = ctx.reshape(x, [ONE, x.dims[0]])
    if x.rank != 2:
        raise ValueError(f"expected rows of numbers, got rank {x.rank}")
    if columns is not None:
        x = ctx.fitted(x, [x.dims[0], IntExpr.of(columns)])
    return x if x.dtype == "float64" else ctx.astype(x, "float32")


def transformed(ctx: Context, scores: Tensor, post_transform: str) -> Tensor:
    """The scores after the transform that a model ends with, as float32."""
    scores = ctx.astype(scores, "float32")
    match post_transform:
        case "NONE":
            return scores
        case "LOGISTIC":
            return ctx.emit("sigmoid", scores)
        case "SOFTMAX":
            return ctx.emit("nn.softmax", scores, axis=1)
        case _:
            raise Unsupported(f"the post_transform '{post_transform}'")


def require_numbers(
    ctx: Context, numbers: Sequence[int] | None, strings: Sequence[str] | None
) -> Sequence[int]:
    """The labels of classes; their own numbers where they are strings that no node uses."""
    if numbers:
        return numbers
    if strings and ctx.outputs[0]:
        raise Unsupported("labels that are strings", "train with labels that are integers")
    return range(len(strings or ()))


def best_labels(ctx: Context, scores: Tensor, labels: Sequence[int]) -> Tensor:
    """The label of the first largest score of each row."""
    best = ctx.astype(ctx.emit("argmax", scores, axis=1), "int64")
    if list(labels) == list(range(len(labels))):
        return best
    return ctx.emit("take", ctx.array(labels, "int64"), best, axis=0)
