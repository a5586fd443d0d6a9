"""`use-dot-products`: contract narrow numbers by dot products of words, where the target has them.

::

    %1 = relax.dequantize %x, %sx, %zx : u8 -> f32
    %2 = relax.dequantize %w, %sw, 0 : i8 -> f32
    %3 = relax.matmul %1, %2 : f32

⇒

    %4 = relax.nn.matmul_words (words of %x), (words of %w) : … -> i32
    %5 = (%4 - %zx * (sums of the columns of %w) as f32) * (%sx * %sw)

So are products of integers that are converted to a wider dtype, minus their zero points. If the
weight is constant, so are its words and the sums over it; that of a convolution of integers has to
be. The data may have a scale for each row, or for each image. Sums are exact; floats are scaled
once, after the sum. Products of bf16 are summed in float32, those of `relax.nn.attention` too.
Convolutions of bf16 or f16 that are quicker with fewer products become ones of float32 for
`use-winograd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import relax
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.relax.operators.attention import AttentionOp
from ...dialects.relax.operators.forward_convolution import ForwardConvolutionOp
from ...dialects.relax.operators.linear_algebra import LinearOp, MatmulOp
from ...dialects.relax.operators.plain_convolution import Conv1dOp, Conv2dOp
from ...dialects.relax.operators.words import (
    Conv1dWordsOp,
    Conv2dWordsOp,
    WordsConvolutionOp,
)
from ..functions import graph_functions
from .dot_operands import Operands, operands_of
from .graph_builder import GraphBuilder, dims_of, dtype_of, replace_result
from .known_values import known_array
from .layers import is_attention
from .winograd import in_float32
from .written import Written, touches, written_values

_CONVOLUTIONS: dict[type[Operation], type[WordsConvolutionOp]] = {
    Conv1dOp: Conv1dWordsOp,
    Conv2dOp: Conv2dWordsOp,
}


FEWEST_ROWS = 4
"""The fewest rows for which several matrices are packed in each call: they are read twice."""


def _product(op: MatmulOp | LinearOp, target: Target) -> SSAValue | None:
    """A matmul as one of words."""
    is_rows = isinstance(op, LinearOp) or bool(op.attribute_values()["transpose_rhs"])
    lhs, rhs, *bias = op.operands
    data, weight = dims_of(lhs), dims_of(rhs)
    if data is None or weight is None or min(len(data), len(weight)) < 2:
        return None
    if len(weight) > 2 and (data[-2].constant or FEWEST_ROWS) < FEWEST_ROWS:
        return None
    columns, depth = len(weight) - 2, len(weight) - 1
    if not is_rows:
        columns, depth = depth, columns
    found = operands_of(lhs, rhs, weight[depth], op, target)
    if found is None:
        return None
    weight_scale = found.weight.scale_along(columns)
    if found.weight.scale is not None and weight_scale is None:
        return None
    build = found.build
    words = build("nn.pack_words", found.data.values, axis=-1)
    matrix = build.folded("nn.pack_words", found.weight.values, axis=depth)

    def ones() -> SSAValue:
        axis, size = int(is_rows), weight[depth]
        column = found.ones(axis, [ONE, size] if is_rows else [size, ONE])
        return build("nn.matmul_words", words, column, transpose_rhs=is_rows)

    def sums(wide: SSAValue) -> SSAValue:
        total = build.folded("sum", wide, axis=[depth])
        return total if len(weight) == 2 else build("expand_dims", total, axis=[-2])

    out_dtype = found.out_dtype
    total = build("nn.matmul_words", words, matrix, transpose_rhs=is_rows, out_dtype=out_dtype)
    total = found.corrected(total, ones, sums)
    return found.finished(total, weight_scale, dtype_of(op.result), *bias)


def _convolution(op: ForwardConvolutionOp, target: Target) -> SSAValue | None:
    """A convolution with a constant weight, channels first, as one of words."""
    attributes = op.attribute_values()
    data, weight, first = dims_of(op.data), dims_of(op.weight), f"NC{op.SPATIAL}"
    layouts = op.layouts(attributes)
    if data is None or weight is None or layouts != (first, f"OI{op.SPATIAL}", first):
        return None
    if attributes["groups"] != 1:
        return None
    found = operands_of(op.data, op.weight, weight[1], op, target)
    if found is None:
        return None
    scale = found.weight.scale_along(0)
    if found.weight.scale is not None and scale is None:
        return None
    build, spatial = found.build, len(op.SPATIAL)
    own = {**attributes, "out_dtype": found.out_dtype}
    pixels, own = _filled(found, own, spatial)
    words = build("nn.pack_words", pixels, axis=1)
    kernel = build.folded("nn.pack_words", found.weight.values, axis=1)
    convolve = partial(build, _CONVOLUTIONS[type(op)].name.removeprefix("relax."), words, **own)
    total = found.corrected(
        convolve(kernel),
        lambda: convolve(found.ones(1, [ONE, *weight[1:]])),
        lambda wide: _sums_of_windows(op, build, wide, data, own),
    )
    if scale is not None:
        scale = build.spread(scale, spatial)
    return found.finished(total, scale, dtype_of(op.result))


def _filled(
    found: Operands, attributes: dict[str, Any], spatial: int
) -> tuple[SSAValue, dict[str, Any]]:
    """The data padded by a constant zero point, and the attributes that are left."""
    data, padding = found.data, attributes["padding"]
    shift = None if data.zero_point is None else known_array(data.zero_point)
    if shift is None or not any(padding):
        return data.values, attributes
    before, after = padding[:spatial], padding[-spatial:]
    widths = [0] * 4 + [w for pair in zip(before, after, strict=True) for w in pair]
    value = float(shift.reshape(-1)[0])
    padded = found.build("nn.pad", data.values, pad_width=widths, pad_value=value)
    return padded, attributes | {"padding": [0] * 2 * spatial}


def _sums_of_windows(
    op: ForwardConvolutionOp,
    build: GraphBuilder,
    weight: SSAValue,
    data: Sequence[IntExpr],
    attributes: dict[str, Any],
) -> SSAValue:
    """The sum of the weights that each window multiplies data with, which differs at the border."""
    spatial = len(op.SPATIAL)
    if not any(attributes["padding"]):
        return build.spread(build.folded("sum", weight, axis=[*range(1, 2 + spatial)]), spatial)
    taps = build.folded("sum", weight, axis=[1], keepdims=True)
    ones = build("full", build.constant(1, "int32"), shape=[ONE, ONE, *data[2:]])
    name = type(op).name.removeprefix("relax.")
    return build(name, ones, taps, **attributes)


def _attention(op: AttentionOp, target: Target) -> SSAValue | None:
    """Attention of bf16 as one of words."""
    attributes, (*_, last) = op.attribute_values(), dims_of(op.query) or (ZERO,)
    size = last.constant
    if not size or target.isa.bfdot(target.isa.vector_bits) is None:
        return None
    build, scale = GraphBuilder(op), attributes["scale"]
    words = [build("nn.pack_words", v, axis=-1) for v in (op.query, op.key)]
    words.append(build("nn.pack_words", op.value, axis=1))
    own = {**attributes, "scale": size**-0.5 if scale is None else scale}
    bias = [] if op.bias is None else [op.bias]
    total = build("nn.attention_words", *words, *bias, **own)
    return build("astype", total, dtype="bfloat16")


@dataclass(frozen=True)
class UseDotProductsPass(ModulePass):
    """Contract 8-bit integers and bf16 by dot products of words, where the target has them."""

    name = "use-dot-products"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written, target = written_values(op), Target(self.target)
        for func in graph_functions(op):
            for inner in list(func.walk()):
                _visit(inner, written, target)


def _visit(op: Operation, written: Written, target: Target) -> None:
    if not isinstance(op, relax.OperatorOp) or touches(op, written):
        return
    found = None
    if isinstance(op, MatmulOp | LinearOp):
        found = _product(op, target)
    elif type(op) in _CONVOLUTIONS:
        assert isinstance(op, ForwardConvolutionOp)
        found = in_float32(op, written, target) or _convolution(op, target)
    elif is_attention(op, "bfloat16"):
        found = _attention(op, target)
    if found is not None:
        replace_result(op, found)
