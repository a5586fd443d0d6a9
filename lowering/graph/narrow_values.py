"""Values of few bits: bf16, or 8-bit integers minus a zero point and scaled, in wider dtypes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...dialects import relax
from ...dialects.dtypes import is_float
from ...dialects.int_expr import ONE
from ...dialects.relax.operators.conversion import AstypeOp
from ...dialects.relax.operators.elementwise import SubtractOp
from ...dialects.relax.operators.quantization import DequantizeOp
from ...dialects.relax.operators.words import numbers_in_word
from .graph_builder import GraphBuilder, dtype_of
from .known_values import is_computed_from_constants, known_array

HALF = 128
"""What a byte is more as unsigned than as signed with its highest bit flipped."""


@dataclass(frozen=True)
class Narrow:
    """``(values - zero_point) * scale``; a zero point of `None` is 0, a scale of `None` is 1.

    `values` are int8 or uint8; or bf16, which have neither. The zero point has one element; the
    scale one, or one for each element of `axis`.
    """

    values: SSAValue
    zero_point: SSAValue | None = None
    scale: SSAValue | None = None
    axis: int = 0

    @property
    def is_bfloat16(self) -> bool:
        """Whether the values are bf16."""
        return dtype_of(self.values) == "bfloat16"

    @property
    def numbers_in_word(self) -> int:
        """How many of the values are in a word."""
        return numbers_in_word(dtype_of(self.values) or "")

    @property
    def is_unsigned(self) -> bool:
        """Whether the integers are uint8."""
        return dtype_of(self.values) == "uint8"

    @property
    def is_plain(self) -> bool:
        """Whether there are no zero point and no scale."""
        return self.zero_point is None and self.scale is None

    @property
    def is_constant(self) -> bool:
        """Whether the integers and the zero point are computed from constants."""
        parts = [v for v in (self.values, self.zero_point) if v is not None]
        return all(is_computed_from_constants(v) for v in parts)

    @property
    def is_float32(self) -> bool:
        """Whether scales are float32, where there are any."""
        return self.scale is None or dtype_of(self.scale) == "float32"

    @property
    def is_of_one_scale(self) -> bool:
        """Whether one scale is that of all elements."""
        return self.scale is None or _is_single(self.scale)

    def scale_along(self, axis: int) -> SSAValue | None:
        """The scale, if it is one, or if it is along this axis."""
        if self.scale is None or _is_single(self.scale):
            return self.scale
        return self.scale if self.axis == axis else None

    def as_signed(self, build: GraphBuilder) -> Narrow:
        """The same numbers from int8, without a zero point where constants allow it."""
        shift, values = self.zero_point, known_array(self.values)
        zero = None if shift is None else known_array(shift)
        if values is not None and zero is not None:
            moved = values.astype(np.int16) - np.int16(zero.item())
            if moved.size and -HALF <= moved.min() and moved.max() < HALF:
                return replace(self, values=build.constant(moved, "int8"), zero_point=None)
        return self._moved(build, -HALF, "int8") if self.is_unsigned else self

    def as_unsigned(self, build: GraphBuilder) -> Narrow:
        """The same numbers from uint8."""
        return self if self.is_unsigned else self._moved(build, HALF, "uint8")

    def _moved(self, build: GraphBuilder, by: int, dtype: str) -> Narrow:
        """Values and zero point moved by a number."""
        wide = build("astype", self.values, dtype="int16")
        moved = build("add", wide, build.constant(by, "int16"))
        offset, zero = build.constant(by, "int32"), self.zero_point
        zero = offset if zero is None else build("add", zero, offset)
        return replace(self, values=build("astype", moved, dtype=dtype), zero_point=zero)


def narrow_form(value: SSAValue) -> Narrow | None:
    """The bf16 or 8-bit integers that a value is made of; `None` for other values."""
    if dtype_of(value) in ("int8", "uint8", "bfloat16"):
        return Narrow(value)
    match value.owner:
        case AstypeOp() as op:
            found, dtype = narrow_form(op.x), dtype_of(value) or "float32"
            if found is None or found.is_bfloat16:
                return found if dtype == "float32" else None
            return None if is_float(dtype) else found
        case SubtractOp() as op:
            return _difference(op)
        case DequantizeOp() as op:
            return _dequantized(op)
        case _:
            return None


def _difference(op: SubtractOp) -> Narrow | None:
    found, shift = narrow_form(op.lhs), narrow_form(op.rhs)
    if found is None or shift is None or found.is_bfloat16 or shift.is_bfloat16:
        return None
    if not (found.is_plain and shift.is_plain):
        return None
    return _with_zero_point(found, op.rhs, op)


def _dequantized(op: DequantizeOp) -> Narrow | None:
    if dtype_of(op.data) not in ("int8", "uint8"):
        return None
    rank = op.data.type.rank if isinstance(op.data.type, relax.TensorType) else None
    if rank is None:
        return None
    axis = op.attribute_values()["axis"] % max(rank, 1)
    return _with_zero_point(Narrow(op.data, None, op.scale, axis), op.zero_point, op)


def _with_zero_point(found: Narrow, zero_point: SSAValue, op: Operation) -> Narrow | None:
    """The numbers minus a zero point of one element, or of zeros."""
    known = known_array(zero_point)
    if known is not None and not known.any():
        return found
    if not _is_single(zero_point):
        return None
    build = GraphBuilder(op)
    return replace(found, zero_point=build("astype", build.scalar(zero_point), dtype="int32"))


def _is_single(value: SSAValue) -> bool:
    dims = value.type.dims if isinstance(value.type, relax.TensorType) else None
    return dims is not None and all(d == ONE for d in dims)
