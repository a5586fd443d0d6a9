"""Weights of 2, 4 and 8 bits in blocks, several in a byte, as ONNX Runtime packs them."""

from __future__ import annotations

from typing import Any

from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import IntExpr
from ....dialects.relax.operators.block_weights import SHORT_FLOATS
from ....dialects.relax.operators.pack_blocks import PANEL
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts, find_converter
from ..tensor import Tensor, axis_of
from ..weights import NarrowData, unpacked
from .quantized import dequantized

ROUNDED = 4
"""The accuracy level at which activations are rounded to integers of 8 bits."""


def _require_bits(bits: int) -> None:
    if bits not in (2, 4, 8):
        raise ValueError(f"expected 2, 4 or 8 bits, got {bits}")


def _numbers(packed: Tensor, what: str, bits: int, length: int | None = None) -> Any:
    """The packed numbers along the last axis, of which the first `length` are taken."""
    if packed.dtype != "uint8":
        raise ValueError(f"expected {what} of uint8, got {packed.dtype}")
    found = unpacked(packed.numbers(what), bits)
    if length is not None and found.shape[-1] < length:
        raise ValueError(f"expected {length} {what}, got {found.shape[-1]}")
    return found[..., :length]


def _zero_points(
    ctx: Context, zero_points: Tensor | None, bits: int, counts: tuple[int, int]
) -> Tensor:
    """The zero points of rows and blocks: in the middle of the range where they are left out."""
    if zero_points is None:
        return ctx.number(1 << (bits - 1), "int32")
    if zero_points.dtype in FLOATS:
        return ctx.reshape(zero_points, counts)
    bytes_of_row = -(-counts[1] * bits // 8)
    rows = ctx.reshape(zero_points, [counts[0], bytes_of_row])
    return ctx.array(_numbers(rows, "zero points", bits, counts[1]), "int32")


@converts("MatMulNBits", domain=MICROSOFT)
def matmul_n_bits(
    ctx: Context,
    a: Tensor,
    b: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    g_idx: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    K: int,
    N: int,
    block_size: int,
    bits: int = 4,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Tensor:
    """``a @ ((b - zero_points) * scales).T + bias`` with weights (N, K) in blocks of a row."""
    _require_bits(bits)
    if g_idx is not None or weight_prepacked:
        raise Unsupported("groups of columns in another order, or weights that are packed again")
    if min(K, N, block_size) < 1:
        raise ValueError(f"expected positive K, N and block_size, got {K}, {N} and {block_size}")
    blocks = -(-K // block_size)
    rows = ctx.reshape(b, [N, blocks * block_size * bits // 8])
    integers = ctx.array(_numbers(rows, "weights", bits), "uint8")
    shift = _zero_points(ctx, zero_points, bits, (N, blocks))
    operand = ctx.fitted(a, [*a.dims[:-1], IntExpr.of(K)])
    factors = ctx.reshape(scales, [N, blocks])
    if a.dtype in SHORT_FLOATS and block_size % (32 // bits) == 0:
        rounds = accuracy_level == ROUNDED
        found = _product(ctx, operand, integers, factors, shift, bits, rounds)
    else:
        weight = _dequantized_rows(ctx, integers, factors, shift, K)
        found = ctx.emit("matmul", operand, ctx.astype(weight, a.dtype), transpose_rhs=True)
    return found if bias is None else ctx.elementwise("add", found, bias)


def _product(
    ctx: Context,
    operand: Tensor,
    integers: Tensor,
    scales: Tensor,
    shift: Tensor,
    bits: int,
    rounds: bool,
) -> Tensor:
    """The product with weights that stay integers; activations may be rounded to some, too."""
    (rows, blocks), (_, width) = scales.dims, integers.dims
    factors, options = [_panels(ctx, scales)], {}
    if shift.rank:
        wide = ctx.astype(scales, "float32")
        moved = (Formula(ctx, wide) * ctx.astype(shift, "float32") * -1.0).tensor
        factors.append(_panels(ctx, moved))
    else:
        options["zero_point"] = 1 << (bits - 1)
    padding = width - operand.dims[-1]
    if padding != IntExpr.of(0):
        widths = [0] * (2 * operand.rank - 1) + [padding]
        operand = ctx.emit("nn.pad", operand, pad_width=widths)
    size = (width // blocks).constant
    weight = ctx.emit("nn.pack_blocks", integers, bits=bits, block_size=size)
    return ctx.emit(
        "nn.matmul_blocks",
        operand,
        weight,
        *factors,
        columns=rows.constant,
        bits=bits,
        activations="int8" if rounds else "float32",
        **options,
    )


def _panels(ctx: Context, factors: Tensor) -> Tensor:
    """Factors of rows and blocks, by panels of rows that are padded."""
    rows, blocks = factors.dims
    panels = (rows + PANEL - 1) // PANEL
    if panels * PANEL != rows:
        widths = [0, panels * PANEL - rows, 0, 0]
        factors = ctx.emit("nn.pad", factors, pad_width=widths)
    panelled = ctx.reshape(factors, [panels, PANEL, blocks])
    return ctx.emit("permute_dims", panelled, axes=[0, 2, 1])


def _dequantized_rows(
    ctx: Context, integers: Tensor, scales: Tensor, shift: Tensor, length: int
) -> Tensor:
    """``(integers - shift) * scales`` with parameters (rows, blocks), and the first columns."""
    (rows, blocks), width = scales.dims, integers.dims[1]
    cells = ctx.reshape(integers, [rows, blocks, width // blocks])
    working = "float32" if shift.dtype in FLOATS else "int32"
    shift = ctx.reshape(shift, [rows, blocks, 1]) if shift.rank else shift
    difference = Formula(ctx, cells).to(working) - ctx.astype(shift, working)
    factors = ctx.astype(ctx.reshape(scales, [rows, blocks, 1]), "float32")
    found = ctx.reshape((difference.to("float32") * factors).tensor, [rows, width])
    if width == IntExpr.of(length):
        return found
    return ctx.emit("strided_slice", found, axes=[1], begin=[0], end=[length])


@converts("GatherBlockQuantized", domain=MICROSOFT)
def gather_block_quantized(
    ctx: Context,
    data: Tensor,
    indices: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
) -> Tensor:
    """Slices of a quantized table as floats; blocks of an axis share a scale."""
    _require_bits(bits)
    gather, axis = axis_of(gather_axis, data.rank), axis_of(quantize_axis, data.rank)
    if gather == axis:
        raise Unsupported("a gather along the axis of the blocks")
    if not isinstance(data.data, NarrowData):
        data = ctx.array(_numbers(data, "data", bits), "uint8")
        zero_points = _unpacked_zero_points(ctx, zero_points, scales, bits)
    data, scales = (_taken(ctx, t, indices, gather) for t in (data, scales))
    shift = None if zero_points is None else _taken(ctx, zero_points, indices, gather)
    axis += indices.rank - 1 if gather < axis else 0
    return dequantized(ctx, data, scales, shift, axis=axis, block=block_size)


def _unpacked_zero_points(
    ctx: Context, zero_points: Tensor | None, scales: Tensor, bits: int
) -> Tensor:
    if zero_points is None:
        return ctx.broadcast(ctx.number(1 << (bits - 1), "uint8"), scales.dims)
    length = scales.dims[-1].constant
    return ctx.array(_numbers(zero_points, "zero points", bits, length), "uint8")


def _taken(ctx: Context, table: Tensor, indices: Tensor, axis: int) -> Tensor:
    gather = find_converter("", "Gather", 13)
    assert gather is not None
    return gather(ctx, table, indices, axis=axis)
