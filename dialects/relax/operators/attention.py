"""Multi-head attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Int, Number, Text
from .base import OperatorOp
from .conversion import accumulator, wide
from .inference import broadcast_dims, common_element_type, divides, require_floats, require_rank
from .language import TensorLanguage


class DotProductAttentionOp(OperatorOp):
    """What all attention over dense keys and values have in common."""

    query = operand_def(TensorType)
    key = operand_def(TensorType)
    value = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    scale = opt_prop_def(Number(default=None))
    causal_mask = opt_prop_def(Text(default=None, choices=("TopLeft", "BottomRight")))
    softcap = opt_prop_def(Number(default=None))
    window_size = opt_prop_def(Int(default=None))
    assembly_format = (
        "$query `,` $key `,` $value (`bias` $bias^ `:` type($bias))? attr-dict "
        "`:` type($query) `,` type($key) `,` type($value) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        query, key, value, *bias = operands
        element = cls.element(operands)
        _check_attributes(cls.name, attributes)
        for label, type_ in zip(cls.operand_names(), (query, key, value), strict=False):
            require_rank(cls.name, label, type_, 4)
        if query.dims is None or key.dims is None or value.dims is None:
            return TensorType.of(None, element, 4)
        batch, queries, heads, size = query.dims
        if (
            (key.dims[0], key.dims[3]) != (batch, size)
            or list(value.dims[:3]) != [batch, cls.value_rows(key.dims[1]), key.dims[2]]
            or not divides(key.dims[2], heads)
        ):
            raise ValueError(
                f"expected query, key and value of '{cls.name}' to be compatible, got "
                f"{shape_text(query)}, {shape_text(key)} and {shape_text(value)}"
            )
        for mask in bias:
            _check_bias(cls.name, mask, [batch, heads, queries, key.dims[1]])
        return TensorType.of([batch, queries, heads, value.dims[3]], element)

    @classmethod
    def element(cls, operands: Sequence[TensorType]) -> Attribute | None:
        """The element type of the result; raises ValueError for operands of other types."""
        require_floats(cls.name, operands)
        return common_element_type(cls.name, operands[:3])

    @classmethod
    def value_rows(cls, keys: IntExpr) -> IntExpr:
        """The second dim of the value."""
        return keys

    @classmethod
    def dtypes(cls, query: str) -> tuple[str, str]:
        """The dtypes of sums and of the result."""
        return accumulator(query), query

    @classmethod
    def multiply(cls, te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
        """A term of the sums of both contractions."""
        return left.astype(dtype) * right.astype(dtype)

    @classmethod
    def weights_of(cls, keys: IntExpr) -> IntExpr:
        """The weights of a query; those after the keys are 0."""
        return keys

    @classmethod
    def rows_of_weights(
        cls, te: TensorLanguage, weights: Any, visible: Callable[[Any, Any, int], Any]
    ) -> Any:
        """The left operand of the second contraction.

        `visible` is whether a query sees one of so many keys from a first; `None` without a mask.
        """
        return weights

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        query, _, value, *_ = tensors
        dtype, out_dtype = cls.dtypes(query.dtype)
        scores = cls._scores(te, tensors, attributes, dtype)
        batch, heads, queries, keys = scores.shape
        length = te.dim_expr(keys)
        (count,) = te.tensor.shape_of([cls.weights_of(length)])
        seen, summed = (te.reduce_axis((0, keys), n) for n in ("j", "k"))
        rows = (batch, heads, queries)
        highest = te.compute(rows, lambda *i: te.max(scores(*i, seen), axis=seen), name="T_max")

        def weight(b: Any, h: Any, i: Any, j: Any) -> Any:
            lowest, top = te.const(float("-inf"), dtype), highest(b, h, i)
            top = te.if_then_else(top == lowest, te.const(0, dtype), top)
            value = te.call_intrinsic("exp", scores(b, h, i, j) - top)
            is_key = None if cls.weights_of(length) == length else j < keys
            return _where_visible(te, tensors, attributes, (i, j), value, 0.0, is_key)

        weights = te.compute((*rows, count), weight, name="T_exp")
        totals = te.compute(rows, lambda *i: te.sum(weights(*i, summed), axis=summed), name="T_sum")

        def visible(i: Any, j: Any, count: int) -> Any:
            return _is_visible(te, tensors, attributes, i, j, count)

        product = cls._weighted(te, cls.rows_of_weights(te, weights, visible), value, dtype)

        def element(b: Any, i: Any, h: Any, d: Any) -> Any:
            whole = totals(b, h, i)
            whole = te.if_then_else(whole == te.const(0, dtype), te.const(1, dtype), whole)
            return (product(b, h, i, d) / whole).astype(out_dtype)

        shape = (batch, queries, heads, value.shape[3])
        return te.compute(shape, element, name="T_attention")

    @classmethod
    def _scores(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any], dtype: str
    ) -> Any:
        """The logits of the softmax: ``query @ key.T``, scaled, with bias and mask."""
        query, key, _, *bias = tensors
        batch, queries, heads, size = query.shape
        keys, repeats = key.shape[1], te.dim_expr(heads) // te.dim_expr(key.shape[2])
        (repeats,) = te.tensor.shape_of([repeats])
        d = te.reduce_axis((0, size), name="d")

        def product(b: Any, h: Any, i: Any, j: Any) -> Any:
            left, right = query(b, i, h, d), key(b, j, h // repeats, d)
            return te.sum(cls.multiply(te, left, right, dtype), axis=d)

        products = te.compute((batch, heads, queries, keys), product, name="T_scores")
        if attributes["scale"] is None and not isinstance(size, int):
            scale = te.call_intrinsic("rsqrt", size.astype(dtype))
        else:
            scale = te.const(_scale(attributes, size if isinstance(size, int) else 1), dtype)

        def masked(*i: Any) -> Any:
            value = products(*i) * scale
            value = capped(te, value, attributes["softcap"])
            for mask in bias:
                value = value + mask(*te.broadcast_index(mask.shape, i)).astype(dtype)
            return _where_visible(te, tensors, attributes, i[2:], value, float("-inf"))

        return te.compute(products.shape, masked, name="T_masked")

    @classmethod
    def _weighted(cls, te: TensorLanguage, weights: Any, value: Any, dtype: str) -> Any:
        """``weights @ value`` by heads: (batch, heads, queries, value size)."""
        batch, heads, queries, keys = weights.shape
        (repeats,) = te.tensor.shape_of([te.dim_expr(heads) // te.dim_expr(value.shape[2])])
        j = te.reduce_axis((0, keys), name="j")

        def element(b: Any, h: Any, i: Any, d: Any) -> Any:
            left, right = weights(b, h, i, j), value(b, j, h // repeats, d)
            return te.sum(cls.multiply(te, left, right, dtype), axis=j)

        return te.compute((batch, heads, queries, value.shape[3]), element, name="T_weighted")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        query, key, value, *bias = (wide(a) for a in arrays)
        repeats = query.shape[2] // max(1, key.shape[2])
        key, value = (np.repeat(a, repeats, axis=2) for a in (key, value))
        scores: NDArray[Any] = np.einsum("bihd,bjhd->bhij", query, key)
        scores = scores * scores.dtype.type(_scale(attributes, query.shape[3]))
        if cap := attributes["softcap"]:
            scores = np.tanh(scores / cap) * cap
        for mask in bias:
            scores = scores + mask
        queries, keys = scores.shape[2:]
        if attributes["causal_mask"] is not None:
            offset = keys - queries if attributes["causal_mask"] == "BottomRight" else 0
            visible = np.tri(queries, keys, offset, dtype=bool)
            if window := attributes["window_size"]:
                visible &= ~np.tri(queries, keys, offset - window, dtype=bool)
            scores = np.where(visible, scores, scores.dtype.type(-np.inf))
        top: NDArray[Any] = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        weights = np.exp(scores - np.where(np.isneginf(top), 0, top))
        totals = weights.sum(axis=-1, keepdims=True)
        weights = weights / np.where(totals == 0, 1, totals)
        return np.einsum("bhij,bjhd->bihd", weights, value)


@irdl_op_definition
class AttentionOp(DotProductAttentionOp):
    """``softmax(query @ key.T * scale + bias) @ value`` for each head.

    The query is (batch, queries, heads, size), the key (batch, keys, key heads, size), the value
    (batch, keys, key heads, value size); heads are a multiple of key heads. `scale` is by default
    ``1 / sqrt(size)``. A `causal_mask` hides keys after the query, aligned at the first pair
    ("TopLeft") or at the last ("BottomRight"); NaN that it hides may leave no trace. A query whose
    keys are all hidden gives zeros. With a `window_size`, a query sees as many keys, up to its own
    by the mask.
    With `softcap`, products `x` are ``softcap * tanh(x / softcap)`` before the bias is added, which
    may be of another dtype.
    `torch.nn.functional.scaled_dot_product_attention`, which has the dims in another order.
    """

    name = "relax.nn.attention"


def _check_bias(op_name: str, bias: TensorType, scores: Sequence[IntExpr]) -> None:
    if bias.dims is None:
        return
    try:
        fits = broadcast_dims(bias.dims, scores) == list(scores)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"expected bias of '{op_name}' to broadcast to "
            f"{shape_text(TensorType.of(scores, None))}, got {shape_text(bias)}"
        )


def _check_attributes(op_name: str, attributes: dict[str, Any]) -> None:
    require_softcap(op_name, attributes)
    if (window := attributes["window_size"]) is None:
        return
    if window < 1:
        raise ValueError(f"expected window_size of '{op_name}' of at least 1, got {window}")
    if attributes["causal_mask"] is None:
        raise ValueError(f"expected a causal_mask for the window_size of '{op_name}', got none")


def require_softcap(op_name: str, attributes: dict[str, Any]) -> None:
    """Raise ValueError for a `softcap` that is not above 0."""
    cap = attributes["softcap"]
    if cap is not None and not cap > 0:
        raise ValueError(f"expected softcap of '{op_name}' above 0, got {cap}")


def capped(te: TensorLanguage, value: Any, cap: float | None) -> Any:
    """``cap * tanh(value / cap)``, or the value without a cap."""
    if cap is None:
        return value
    return te.tanh(value / te.const(cap, value.dtype)) * te.const(cap, value.dtype)


def _scale(attributes: dict[str, Any], size: int) -> float:
    scale = attributes["scale"]
    return (size or 1) ** -0.5 if scale is None else scale


def _where_visible(
    te: TensorLanguage,
    tensors: Sequence[Any],
    attributes: dict[str, Any],
    pair: Sequence[Any],
    value: Any,
    hidden: float,
    is_key: Any = None,
) -> Any:
    """The value of a pair of query and key, or `hidden` where mask or window hides the key.

    With `is_key`, also where this is false.
    """
    is_seen = _is_visible(te, tensors, attributes, *pair)
    conditions = [c for c in (is_seen, is_key) if c is not None]
    if not conditions:
        return value
    return te.if_then_else(te.all(*conditions), value, te.const(hidden, value.dtype))


def _is_visible(
    te: TensorLanguage,
    tensors: Sequence[Any],
    attributes: dict[str, Any],
    last: Any,
    key: Any,
    count: int = 1,
) -> Any:
    """Whether a query sees one of so many keys by mask and window; `None` without a mask."""
    if attributes["causal_mask"] is None:
        return None
    if attributes["causal_mask"] == "BottomRight":
        queries, keys = (te.dim_expr(tensor.shape[1]) for tensor in tensors[:2])
        (offset,) = te.tensor.shape_of([keys - queries])
        last = last + offset
    seen = key <= last
    if window := attributes["window_size"]:
        seen = te.all(seen, key + (count - 1) > last - window)
    return seen
