"""Preparation of features for the models of ``ai.onnx.ml``."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from ....dialects.int_expr import ONE, IntExpr
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..parts import joined
from ..registry import converts
from ..tensor import Tensor
from .ml_scores import ML, rows_of_floats


@converts("Scaler", domain=ML)
def scaler(
    ctx: Context, x: Tensor, *, offset: list[float] | None = None, scale: list[float] | None = None
) -> Tensor:
    """``(x - offset) * scale``, with a number for each column or one for all."""
    moved = Formula(ctx, ctx.astype(x, "float32")) - _row(ctx, offset or [0.0])
    return (moved * _row(ctx, scale or [1.0])).tensor


def _row(ctx: Context, values: Sequence[Any], dtype: str = "float32") -> Tensor:
    return ctx.array(values if len(values) > 1 else values[0], dtype)


@converts("Normalizer", domain=ML)
def normalizer(ctx: Context, x: Tensor, *, norm: str = "MAX") -> Tensor:
    """Rows divided by their largest element, or the sum of absolute values or squares' root.

    A row whose divisor is 0 is unchanged.
    """
    data = Formula(ctx, ctx.astype(rows_of_floats(ctx, x), "float32"))
    match norm:
        case "MAX":
            divisor = data.apply("max", axis=[1], keepdims=True)
        case "L1":
            divisor = data.apply("abs").apply("sum", axis=[1], keepdims=True)
        case "L2":
            divisor = (data * data).apply("sum", axis=[1], keepdims=True).apply("sqrt")
        case _:
            raise ValueError(f"expected a norm of MAX, L1 or L2, got '{norm}'")
    return (data / divisor.where(divisor.differs(0), 1)).tensor


@converts("Binarizer", domain=ML)
def binarizer(ctx: Context, x: Tensor, *, threshold: float = 0.0) -> Tensor:
    """1 where an element is greater than the threshold, else 0."""
    return (Formula(ctx, x) > threshold).to(x.dtype).tensor


@converts("Imputer", domain=ML)
def imputer(
    ctx: Context,
    x: Tensor,
    *,
    imputed_value_floats: list[float] | None = None,
    imputed_value_int64s: list[int] | None = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> Tensor:
    """Missing elements replaced, by a number for each column or one for all."""
    is_integer = x.dtype == "int64"
    values = imputed_value_int64s if is_integer else imputed_value_floats
    if not values:
        raise ValueError(f"expected imputed values of {x.dtype}, got none")
    data = Formula(ctx, x)
    if is_integer:
        missing = data.equals(replaced_value_int64)
    elif isnan(replaced_value_float):
        missing = data.apply("isnan")
    else:
        missing = data.equals(replaced_value_float)
    return Formula(ctx, _row(ctx, values, x.dtype)).where(missing, x).tensor


@converts("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(ctx: Context, x: Tensor, places: Tensor) -> Tensor:
    """The elements at places of the last axis."""
    flat = ctx.tensor(ctx.emitter.flat(places.value))
    if x.rank == 1:
        x = ctx.reshape(x, [ONE, x.dims[0]])
    return ctx.emit("take", x, flat, axis=x.rank - 1)


@converts("FeatureVectorizer", domain=ML)
def feature_vectorizer(
    ctx: Context, *inputs: Tensor, inputdimensions: list[int] | None = None
) -> Tensor:
    """The columns of all inputs as float32."""
    sizes = inputdimensions or [None] * len(inputs)
    if len(sizes) != len(inputs):
        raise ValueError(f"expected sizes of {len(inputs)} inputs, got {len(sizes)}")
    pairs = zip(inputs, sizes, strict=True)
    rows = [ctx.astype(rows_of_floats(ctx, x, size), "float32") for x, size in pairs]
    return joined(ctx, rows, 1)


@converts("OneHotEncoder", domain=ML)
def one_hot_encoder(
    ctx: Context,
    x: Tensor,
    *,
    cats_int64s: list[int] | None = None,
    cats_strings: list[str] | None = None,
    zeros: int = 1,
) -> Tensor:
    """1 at the category of an element along a new last axis; other elements give zeros."""
    if not cats_int64s:
        raise Unsupported("categories that are strings", "encode them as integers")
    column = Formula(ctx, ctx.reshape(ctx.astype(x, "int64"), [*x.dims, ONE]))
    found = column.equals(ctx.array(cats_int64s, "int64")).to("float32")
    if x.dtype.startswith("float"):  # NaN is an integer of no category
        own = Formula(ctx, ctx.reshape(x, [*x.dims, ONE]))
        found = found * own.equals(own).to("float32")
    return found.tensor


@converts("LabelEncoder", domain=ML, since=2)
def label_encoder(
    ctx: Context,
    x: Tensor,
    *,
    default_float: float = -0.0,
    default_int64: int = -1,
    default_string: str = "_Unused",
    default_tensor: Any = None,
    keys_floats: list[float] | None = None,
    keys_int64s: list[int] | None = None,
    keys_tensor: Any = None,
    values_floats: list[float] | None = None,
    values_int64s: list[int] | None = None,
    values_tensor: Any = None,
) -> Tensor:
    """The value of the key that an element equals, or the default."""
    keys = _numbers(keys_tensor, keys_int64s, keys_floats, "keys")
    values = _numbers(values_tensor, values_int64s, values_floats, "values")
    if len(keys) != len(values):
        raise ValueError(f"expected as many values as keys, got {len(values)} and {len(keys)}")
    default = default_int64 if values.dtype == np.int64 else default_float
    if default_tensor is not None:
        default = default_tensor.values.reshape(-1)[0]
    column = ctx.reshape(x, [*x.dims, IntExpr.of(1)])
    equal = Formula(ctx, column).equals(ctx.array(keys.astype(x.dtype), x.dtype)).to("int8")
    place = equal.apply("argmax", axis=x.rank)
    found = equal.apply("max", axis=[x.rank]).differs(0)
    dtype = str(values.dtype)
    chosen = Formula(ctx, ctx.emit("take", ctx.array(values, dtype), place.tensor, axis=0))
    return chosen.where(found, ctx.array(default, dtype)).tensor


def _numbers(tensor: Any, ints: Any, floats: Any, what: str) -> Any:
    if tensor is not None:
        return tensor.values.reshape(-1)
    if ints:
        return np.array(ints, "int64")
    if floats:
        return np.array(floats, "float32")
    raise Unsupported(f"{what} that are strings", "encode them as integers")
