"""Attention of one query for each sequence to keys and values in pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import (
    AttrSizedOperandSegments,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
)

from ...int_expr import minimum
from ..types import TensorType, shape_text
from .attention import capped, require_softcap
from .attributes import Int, Number
from .base import OperatorOp
from .conversion import wide
from .inference import divides, require_dtype, require_floats, require_rank
from .language import TensorLanguage

RANKS = {
    "query": 3, "keys": 4, "values": 4, "table": 2, "lengths": 1, "key_scales": 3, "value_scales": 3
}  # fmt: skip


@irdl_op_definition
class PagedAttentionOp(OperatorOp):
    """``softmax(query @ keys * scale) @ values`` for the last position of each sequence.

    The query is (sequences, heads, size); `keys` are (pages, key heads, size, places of a page) and
    `values` (pages, key heads, places, value size). Position `i` of sequence `s` is at place
    ``i % places`` of page ``table[s, i // places]``; `lengths` of the sequences are at least 1, and
    at most the places that the table has. With a `window`, the last positions alone are seen, so
    many. `scale` is by default ``1 / sqrt(size)``. With `softcap`, scaled products `x` are
    ``softcap * tanh(x / softcap)``. Sums are float32; without pages the result is 0, and
    without a position that is seen NaN. vLLM's ``paged_attention``.

    Keys and values are floats, or int8 with float32 scales (pages, key heads, places) of each
    position and head, by which they are multiplied.
    """

    name = "relax.nn.paged_attention"
    query = operand_def(TensorType)
    keys = operand_def(TensorType)
    values = operand_def(TensorType)
    table = operand_def(TensorType)
    lengths = operand_def(TensorType)
    key_scales = opt_operand_def(TensorType)
    value_scales = opt_operand_def(TensorType)
    scale = opt_prop_def(Number(default=None))
    window = opt_prop_def(Int(default=0))
    softcap = opt_prop_def(Number(default=None))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$query `,` $keys `,` $values `,` $table `,` $lengths (`scales` $key_scales^ `,` "
        "$value_scales `:` type($key_scales) `,` type($value_scales))? attr-dict `:` type($query) "
        "`,` type($keys) `,` type($values) `,` type($table) `,` type($lengths) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        query, keys, values, table, lengths, *scales = operands
        _require_dtypes(cls.name, operands)
        for (label, rank), type_ in zip(RANKS.items(), operands, strict=False):
            require_rank(cls.name, label, type_, rank)
        if attributes["window"] < 0:
            raise ValueError(
                f"expected window of '{cls.name}' of at least 0, got {attributes['window']}"
            )
        require_softcap(cls.name, attributes)
        element = query.known_element
        if query.dims is None or keys.dims is None or values.dims is None:
            return TensorType.of(None, element, 3)
        (sequences, heads, size), (pages, key_heads, depth, places) = query.dims, keys.dims
        fits = (depth, (pages, key_heads, places)) == (size, values.dims[:3])
        if not fits or not divides(key_heads, heads):
            shapes = ", ".join(shape_text(o) for o in operands[:3])
            raise ValueError(
                f"expected query, keys and values of '{cls.name}' to be compatible, got {shapes}"
            )
        for label, type_ in (("table", table), ("lengths", lengths)):
            if type_.dims is not None and type_.dims[0] != sequences:
                raise ValueError(
                    f"expected {label} of '{cls.name}' to be of {sequences} sequences, got "
                    f"{shape_text(type_)}"
                )
        for label, type_ in zip(("key_scales", "value_scales"), scales, strict=False):
            if type_.dims is not None and type_.dims != (pages, key_heads, places):
                raise ValueError(
                    f"expected {label} of '{cls.name}' to be ({pages}, {key_heads}, {places}), got "
                    f"{shape_text(type_)}"
                )
        return TensorType.of([sequences, heads, values.dims[3]], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        query, keys, values, table, lengths, *scales = tensors
        sequences, heads, _ = query.shape
        pages, key_heads, size, places = keys.shape
        count, width = table.shape[1], values.shape[3]
        known = [te.dim_expr(d) for d in (heads, key_heads, count, places)]
        (shared,) = te.shape_of([known[0] // known[1]])
        # Without pages there is no place to load from: sums have no terms then.
        some = minimum(te.dim_expr(pages), 1)
        size, used = te.shape_of([te.dim_expr(size) * some, known[2] * some])

        def page(s: Any, j: Any) -> Any:
            last = te.cast("int32", pages - 1)
            return te.max(te.min(table(s, j), last), te.const(0, "int32"))

        axes = {"d": size, "block": used, "place": places}
        d, block, place = (te.reduce_axis((0, extent), name) for name, extent in axes.items())

        def product(s: Any, h: Any, g: Any, j: Any, p: Any) -> Any:
            left = query(s, h * shared + g, d).astype("float32")
            return te.sum(left * keys(page(s, j), h, d, p).astype("float32"), axis=d)

        rows = (sequences, key_heads, shared)
        products = te.compute((*rows, count, places), product, name="products")
        if scales:
            products = _scaled(te, products, scales[0], page)
        scale = _scale(te, query.shape[2], attributes)

        scores = _scores(te, products, lengths, scale, attributes)
        weights, totals = _exponentials(te, scores)

        def weighted(s: Any, h: Any, g: Any, e: Any) -> Any:
            value = values(page(s, block), h, place, e).astype("float32")
            if scales:
                value = value * scales[1](page(s, block), h, place)
            return te.sum(weights(s, h, g, block * places + place) * value, axis=(block, place))

        sums = te.compute((*rows, width), weighted, name="sums")

        def element(s: Any, h: Any, e: Any) -> Any:
            row = (s, h // shared, h % shared)
            return (sums(*row, e) / totals(*row)).astype(query.dtype)

        return te.compute((sequences, heads, width), element, name="attention")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        query, keys, values = (wide(a) for a in arrays[:3])
        table, lengths, *scales = arrays[3:]
        if scales:
            keys = keys * wide(scales[0])[:, :, None]
            values = values * wide(scales[1])[..., None]
        scale, window = attributes["scale"], attributes["window"]
        scale = (query.shape[2] or 1) ** -0.5 if scale is None else scale
        shared = query.shape[1] // max(1, keys.shape[1])
        found = np.zeros((*query.shape[:2], values.shape[3]), query.dtype)
        for s, length in enumerate(lengths if len(keys) else ()):
            own = np.clip(table[s], 0, len(keys) - 1)
            key = keys[own].transpose(1, 0, 3, 2).reshape(keys.shape[1], -1, keys.shape[2])
            value = values[own].transpose(1, 0, 2, 3).reshape(keys.shape[1], -1, values.shape[3])
            first = max(0, length - window) if window else 0
            seen = slice(first, max(0, length))
            key, value = (np.repeat(a[:, seen], shared, 0) for a in (key, value))
            scores = np.einsum("hd,hid->hi", query[s], key) * scale
            if cap := attributes["softcap"]:
                scores = np.tanh(scores / cap) * cap
            weights = np.exp(scores - scores.max(1, keepdims=True, initial=-np.inf))
            totals = weights.sum(1, keepdims=True)
            found[s] = np.einsum("hi,hie->he", weights, value) / totals
        return found


def _require_dtypes(op_name: str, operands: Sequence[TensorType]) -> None:
    """Raise ValueError for dtypes that do not belong together."""
    query, *pages = operands[:3]
    table, lengths, *scales = operands[3:]
    require_floats(op_name, [query])
    if len(scales) == 1:
        raise ValueError(f"expected scales of keys and values of '{op_name}', got one of them")
    if scales:
        require_dtype(op_name, pages, "int8".__eq__, "int8 for keys and values with scales")
        require_dtype(op_name, scales, "float32".__eq__, "float32 for scales")
    else:
        require_floats(op_name, pages)
    require_dtype(op_name, [table, lengths], "int32".__eq__, "int32 for table and lengths")


def _scale(te: TensorLanguage, size: Any, attributes: dict[str, Any]) -> Any:
    """The factor of products, a number or an expression of a symbolic size."""
    if attributes["scale"] is not None:
        return attributes["scale"]
    return (size or 1) ** -0.5 if isinstance(size, int) else te.rsqrt(size.astype("float32"))


def _scaled(te: TensorLanguage, products: Any, scales: Any, page: Callable[[Any, Any], Any]) -> Any:
    """Products with keys of int8, times the scale of each position of a page."""

    def element(s: Any, h: Any, g: Any, j: Any, p: Any) -> Any:
        return products(s, h, g, j, p) * scales(page(s, j), h, p)

    return te.compute(products.shape, element, name="scaled")


def _scores(
    te: TensorLanguage, products: Any, lengths: Any, scale: Any, attributes: dict[str, Any]
) -> Any:
    """Products times the scale, in a row for the pages of a sequence; -inf where it has no key."""
    *rows, count, places = products.shape
    (positions,) = te.shape_of([te.dim_expr(count) * te.dim_expr(places)])

    def score(s: Any, h: Any, g: Any, i: Any) -> Any:
        at, length = te.cast("int32", i), lengths(s)
        seen = at < length
        if attributes["window"]:
            seen = te.all(seen, at >= length - attributes["window"])
        scaled = products(s, h, g, i // places, i % places) * scale
        scaled = capped(te, scaled, attributes["softcap"])
        return te.if_then_else(seen, scaled, te.const(float("-inf"), "float32"))

    return te.compute((*rows, positions), score, name="scores")


def _exponentials(te: TensorLanguage, scores: Any) -> tuple[Any, Any]:
    """The exponentials of scores less the largest of their row, and the sums of rows."""
    *rows, positions = scores.shape
    i, k = (te.reduce_axis((0, positions), n) for n in "ik")
    top = te.compute(rows, lambda *r: te.max(scores(*r, i), axis=i), name="top")

    def weight(*r: Any) -> Any:
        return te.call_intrinsic("exp", scores(*r) - top(*r[:-1]))

    weights = te.compute(scores.shape, weight, name="weights")
    return weights, te.compute(rows, lambda *r: te.sum(weights(*r, k), axis=k), name="totals")
