"""Linear models of ``ai.onnx.ml``, and those of support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from .ml_scores import ML, best_labels, require_numbers, rows_of_floats, transformed


def _products(
    ctx: Context, x: Tensor, coefficients: Sequence[float], intercepts: Sequence[float], rows: int
) -> Tensor:
    """The product with each row of the coefficients, plus its intercept."""
    if rows < 1 or len(coefficients) % rows or len(intercepts) not in (0, rows):
        raise ValueError(
            f"expected {rows} rows of coefficients and as many intercepts, "
            f"got {len(coefficients)} and {len(intercepts)}"
        )
    matrix = np.array(coefficients, "float32").reshape(rows, -1)
    x = ctx.astype(rows_of_floats(ctx, x, matrix.shape[1]), "float32")
    product = ctx.emit("matmul", x, ctx.array(matrix.T.copy(), "float32"))
    if not any(intercepts):
        return product
    return ctx.emit("add", product, ctx.array(intercepts, "float32"))


@converts("LinearRegressor", domain=ML)
def linear_regressor(
    ctx: Context,
    x: Tensor,
    *,
    coefficients: list[float],
    intercepts: list[float] | None = None,
    post_transform: str = "NONE",
    targets: int = 1,
) -> Tensor:
    """The values of targets, which are products with coefficients."""
    scores = _products(ctx, x, coefficients, intercepts or [], targets)
    return transformed(ctx, scores, post_transform)


@converts("LinearClassifier", domain=ML)
def linear_classifier(
    ctx: Context,
    x: Tensor,
    *,
    coefficients: list[float],
    classlabels_ints: list[int] | None = None,
    classlabels_strings: list[str] | None = None,
    intercepts: list[float] | None = None,
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> tuple[Tensor, Tensor]:
    """The label of the largest product with coefficients, and the transformed products."""
    labels = require_numbers(ctx, classlabels_ints, classlabels_strings)
    count = len(intercepts or labels)
    if count < 2 or count != len(labels):
        raise Unsupported(f"{count} rows of coefficients for {len(labels)} classes")
    scores = _products(ctx, x, coefficients, intercepts or [], count)
    return best_labels(ctx, scores, labels), transformed(ctx, scores, post_transform)


@converts("SVMRegressor", domain=ML)
def support_vector_regressor(
    ctx: Context,
    x: Tensor,
    *,
    coefficients: list[float],
    rho: list[float],
    kernel_params: list[float] | None = None,
    kernel_type: str = "LINEAR",
    n_supports: int = 0,
    one_class: int = 0,
    post_transform: str = "NONE",
    support_vectors: list[float] | None = None,
) -> Tensor:
    """Sums of the similarities to support vectors; of one class 1 where they are positive, or -1.

    Without support vectors the coefficients are those of a linear model.
    """
    if not n_supports or not support_vectors:
        scores = Formula(ctx, _products(ctx, x, coefficients, rho, 1))
    else:
        vectors = np.array(support_vectors, "float32").reshape(n_supports, -1)
        x = ctx.astype(rows_of_floats(ctx, x, vectors.shape[1]), "float32")
        similar = _similarities(ctx, x, vectors, kernel_type, kernel_params or [0.0] * 3)
        scores = Formula(ctx, _products(ctx, similar, coefficients, rho, 1))
    if one_class:
        scores = Formula(ctx, ctx.number(1.0, "float32")).where(scores > 0, -1.0)
    return transformed(ctx, scores.tensor, post_transform)


def _similarities(
    ctx: Context, x: Tensor, vectors: NDArray[Any], kernel: str, numbers: Sequence[float]
) -> Tensor:
    """The kernel function of each row and support vector, with its gamma, offset and degree."""
    gamma, offset, degree = numbers
    if kernel == "RBF":
        difference = Formula(ctx, ctx.emit("expand_dims", x, axis=[1])) - ctx.array(
            vectors, "float32"
        )
        squares = (difference * difference).apply("sum", axis=[-1])
        return (squares * -gamma).apply("exp").tensor
    product = Formula(ctx, ctx.emit("matmul", x, ctx.array(vectors.T.copy(), "float32")))
    match kernel:
        case "LINEAR":
            return product.tensor
        case "POLY":
            return (product * gamma + offset).with_("power", degree).tensor
        case "SIGMOID":
            return (product * gamma + offset).apply("tanh").tensor
        case _:
            raise ValueError(f"expected a kernel_type, got '{kernel}'")
