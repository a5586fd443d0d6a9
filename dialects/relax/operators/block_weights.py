"""Matrix products with weights of few bits, in blocks along k that have a scale each."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def

from ...dtypes import element_type
from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Int, Text
from .base import OperatorOp
from .block_products import (
    BITS_IN_BYTE,
    BYTES_IN_WORD,
    DIGITS,
    FloatProducts,
    IntegerProducts,
    largest_integer,
)
from .conversion import wide
from .inference import require_dtype, require_rank
from .language import TensorLanguage
from .pack_blocks import PANEL, numbers_in_word

SHORT_FLOATS = ("float32", "float16", "bfloat16")


class BlockWeightOp(OperatorOp, ABC):
    """An operator of data and a matrix of few bits: ``scales (numbers - zero_point) + minima``.

    `weight` is what `pack_blocks` gives for ``(columns, k)``; `scales` and `minima` are floats
    ``(panels, blocks, 16)``.
    """

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    scales = operand_def(TensorType)
    minima = opt_operand_def(TensorType)
    columns = opt_prop_def(Int())
    bits = opt_prop_def(Int(default=4))
    zero_point = opt_prop_def(Int(default=0))
    assembly_format = (
        "$data `,` $weight `,` $scales (`minima` $minima^ `:` type($minima))? attr-dict "
        "`:` type($data) `,` type($weight) `,` type($scales) `->` type($result)"
    )


@irdl_op_definition
class MatmulBlocksOp(BlockWeightOp):
    """``x @ w.T`` with a matrix ``w`` of few bits in blocks, which have scales.

    The data `x` is ``(…, k)`` of floats. Sums are float32. With an `activations` of "int8", its
    numbers are rounded to multiples of the 127th part of the largest magnitude in their block,
    with "int16" to those of the 32639th part of that in their row, and products of integers are
    summed exactly in each block.
    ONNX Runtime's ``MatMulNBits`` with ``accuracy_level`` 0 and 4; llama.cpp's Q4_0, Q4_1, Q8_0.
    """

    name = "relax.nn.matmul_blocks"
    activations = opt_prop_def(Text(default="float32", choices=tuple(DIGITS)))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        x, weight, *factors = operands
        numbers = numbers_in_word(cls.name, attributes["bits"])
        require_dtype(cls.name, [x], SHORT_FLOATS.__contains__, "floats of at most 32 bits")
        if x.rank == 0:
            raise ValueError(
                f"expected data of '{cls.name}' to have at least one dim, got a scalar"
            )
        _require_weight(cls.name, weight, factors, attributes)
        if weight.dims is not None and x.dims is not None:
            depth = weight.dims[1] * weight.dims[2] * numbers
            if x.dims[-1] != depth:
                raise ValueError(
                    f"expected data of '{cls.name}' to be (…, {depth}) as the weight is, got "
                    f"{shape_text(x)}"
                )
        element = x.known_element
        if x.dims is None:
            return TensorType.of(None, element, x.rank)
        return TensorType.of([*x.dims[:-1], attributes["columns"]], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        x, weight, scales, *minima = tensors
        blocks, words = weight.shape[1:3]
        bits, size = (
            attributes["bits"],
            words * (BYTES_IN_WORD * BITS_IN_BYTE // attributes["bits"]),
        )
        digits = DIGITS[attributes["activations"]]
        kind = partial(IntegerProducts, digits=digits) if digits else FloatProducts
        made = kind(te, x, blocks, size)
        word, mask = te.reduce_axis((0, words), name="word"), (1 << bits) - 1

        def products(*i: Any) -> Any:
            *row, b, n = i
            total, packed = None, weight(n // PANEL, b, word, n % PANEL)
            for part in range(BITS_IN_BYTE // bits):
                total = made.add(total, row, b, part * words + word, packed, part * bits, mask)
            return te.sum(total, axis=word)

        shape = (*made.rows, blocks, attributes["columns"])
        sums = te.compute(shape, products, name="partial")
        block = te.reduce_axis((0, blocks), name="block")

        def element(*i: Any) -> Any:
            *row, n = i
            place = n // PANEL, block, n % PANEL
            scale, whole = scales(*place).astype("float32"), made.sums(*row, block)
            found = made.scaled(sums, row, block, n, scale)
            if attributes["zero_point"]:
                found = te.fma(whole, scale * -float(attributes["zero_point"]), found)
            for other in minima:
                found = te.fma(other(*place).astype("float32"), whole, found)
            return te.sum(found, axis=block)

        total = te.compute((*x.shape[:-1], attributes["columns"]), element, name="matmul")
        total = made.result(total)
        if x.dtype == "float32":
            return total
        return te.elementwise(lambda v: v.astype(x.dtype), total, name="rounded")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        given, *parts = arrays
        x = np.asarray(wide(given, None), np.float32)
        if digits := DIGITS[attributes["activations"]]:
            blocks = parts[0].shape[1] if digits == 1 else 1
            most = np.float32(largest_integer(digits))
            data = x.reshape(*x.shape[:-1], blocks, x.shape[-1] // blocks)
            largest = np.abs(data).max(-1, keepdims=True, initial=0)
            inverse = np.where(largest > 0, most / np.where(largest, largest, 1), np.float32(0))
            data = np.rint(data * inverse) * (largest / most)
            x = data.reshape(x.shape)
        return x.astype(np.float64) @ _matrix(parts, attributes).T


@irdl_op_definition
class TakeBlocksOp(BlockWeightOp):
    """Rows of a matrix of few bits as float32; `take` of the weight of `matmul_blocks`.

    The result is ``(…, k)`` for indices ``(…)``; those outside of the matrix are clipped.
    """

    name = "relax.nn.take_blocks"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        indices, weight, *factors = operands
        require_dtype(cls.name, [indices], ("int32", "int64").__contains__, "int32 or int64")
        _require_weight(cls.name, weight, factors, attributes)
        numbers, element = numbers_in_word(cls.name, attributes["bits"]), element_type("float32")
        if indices.dims is None or weight.dims is None:
            return TensorType.of(None, element)
        depth = weight.dims[1] * weight.dims[2] * numbers
        return TensorType.of([*indices.dims, depth], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        indices, weight, scales, *minima = tensors
        bits, (blocks, words) = attributes["bits"], weight.shape[1:3]
        size = words * numbers_in_word(cls.name, bits)

        def element(*i: Any) -> Any:
            *row, k = i
            index = te.max(indices(*row), te.const(0, indices.dtype))
            index = te.min(index, te.const(attributes["columns"] - 1, indices.dtype))
            block, at = k // size, k % size
            place = index // PANEL, block, index % PANEL
            word = weight(index // PANEL, block, at // BYTES_IN_WORD % words, index % PANEL)
            shift = at % BYTES_IN_WORD * BITS_IN_BYTE + at // BYTES_IN_WORD // words * bits
            number = word >> te.cast("uint32", shift) & ((1 << bits) - 1)
            found = number.astype("int32").astype("float32") - float(attributes["zero_point"])
            found = found * scales(*place).astype("float32")
            for other in minima:
                found = found + other(*place).astype("float32")
            return found

        return te.compute((*indices.shape, blocks * size), element, name="rows")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        indices, *parts = arrays
        matrix = _matrix(parts, attributes)
        return matrix[np.clip(indices, 0, attributes["columns"] - 1)]


def _matrix(parts: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[np.float64]:
    """The weight (columns, k) of packed words, scales, and minima."""
    weight, scales, *minima = parts
    columns, blocks = attributes["columns"], weight.shape[1]

    def by_column(factors: NDArray[Any]) -> NDArray[Any]:
        wider = np.asarray(wide(factors, None), np.float64)
        return wider.transpose(0, 2, 1).reshape(-1, blocks, 1)[:columns]

    numbers = _numbers(weight, attributes["bits"])[:columns] - float(attributes["zero_point"])
    found = numbers * by_column(scales)
    for other in minima:
        found = found + by_column(other)
    return found.reshape(columns, -1)


def _require_weight(
    op_name: str, weight: TensorType, factors: Sequence[TensorType], attributes: dict[str, Any]
) -> None:
    """Raise ValueError unless words, scales and minima fit the number of columns."""
    columns = attributes["columns"]
    if columns < 1:
        raise ValueError(f"expected columns of '{op_name}' of at least 1, got {columns}")
    require_dtype(op_name, factors, SHORT_FLOATS.__contains__, "floats of at most 32 bits")
    require_dtype(op_name, [weight], "uint32".__eq__, "words of uint32 for the weight")
    require_rank(op_name, "weight", weight, 4)
    for other in factors:
        require_rank(op_name, "scales and minima", other, 3)
    if weight.dims is None:
        return
    panels, blocks, _, width = weight.dims
    wanted = -(-columns // PANEL)
    if panels != IntExpr.of(wanted) or width != IntExpr.of(PANEL):
        raise ValueError(
            f"expected weight of '{op_name}' to be ({wanted}, blocks, words, {PANEL}) for "
            f"{columns} columns, got {shape_text(weight)}"
        )
    for other in factors:
        if other.dims is not None and other.dims != (panels, blocks, width):
            raise ValueError(
                f"expected scales and minima of '{op_name}' to be ({panels}, {blocks}, {width}), "
                f"got {shape_text(other)}"
            )


def _numbers(weight: NDArray[np.uint32], bits: int) -> NDArray[np.float64]:
    """The numbers (columns, blocks, size of a block) of packed words."""
    panels, blocks, _, width = weight.shape
    packed = np.ascontiguousarray(weight).view(np.uint8).reshape(*weight.shape, BYTES_IN_WORD)
    shifts = range(0, BITS_IN_BYTE, bits)
    parts = np.stack([packed >> np.uint8(s) & np.uint8((1 << bits) - 1) for s in shifts], 2)
    found = parts.transpose(0, 4, 1, 2, 3, 5)  # panel, column, block, part, word, byte
    return found.reshape(panels * width, blocks, -1).astype(np.float64)
