"""Places in sorted vectors: bucketize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type
from ..types import TensorType, shape_text
from .attributes import Bool
from .base import OperatorOp
from .conversion import wide
from .elementwise import NUMBERS
from .indexing import where_filled
from .inference import common_element_type, require_dtype
from .language import TensorLanguage

_LONGEST = 32
"""The logarithm of the first step in a vector whose length is a symbol."""


def _first_step(length: Any) -> int:
    """The largest power of two that is at most the length, 0 for none."""
    if not isinstance(length, int):
        return 1 << _LONGEST
    return 1 << (length.bit_length() - 1) if length else 0


@irdl_op_definition
class BucketizeOp(OperatorOp):
    """The number of `boundaries` below each element, or with `right` not above it.

    They are a sorted vector of the same dtype, and below NaN: the search is binary.
    `torch.bucketize`.
    """

    name = "relax.bucketize"
    input_tensor = operand_def(TensorType)
    boundaries = operand_def(TensorType)
    out_int32 = opt_prop_def(Bool(default=False))
    right = opt_prop_def(Bool(default=False))
    assembly_format = (
        "$input_tensor `,` $boundaries attr-dict `:` type($input_tensor) `,` type($boundaries) "
        "`->` type($result)"
    )

    @staticmethod
    def result_dtype(attributes: dict[str, Any]) -> str:
        """The dtype of the result."""
        return "int32" if attributes["out_int32"] else "int64"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *NUMBERS)
        common_element_type(cls.name, operands)
        data, boundaries = operands
        if boundaries.rank not in (None, 1):
            raise ValueError(
                f"expected boundaries of '{cls.name}' to be a vector, got {shape_text(boundaries)}"
            )
        return TensorType(data.shape, element_type(cls.result_dtype(attributes)))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data, boundaries), dtype = tensors, cls.result_dtype(attributes)
        length = boundaries.shape[0]

        is_known = isinstance(length, int)

        def is_below(count: Any, x: Any) -> Any:
            last = te.min(count, length) - 1
            if not is_known:
                last = te.max(last, 0)
            bound = where_filled(te, [length], boundaries(last))
            return te.Not(bound > x if attributes["right"] else bound >= x)

        def searched(x: Any, place: Any, step: int) -> Any:
            if step == 0:
                return place.astype(dtype)
            end = place + step
            below = te.all(end <= length, is_below(end, x))
            chosen = te.select(below, end, place)
            return te.let(lambda found: searched(x, found, step // 2), chosen)

        def element(*i: Any) -> Any:
            start = te.const(0, "int32" if is_known and length < 1 << 30 else "int64")
            return searched(data(*i), start, _first_step(length))

        return te.compute(data.shape, element, name="T_bucketize")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, boundaries = (wide(a) for a in arrays)
        place, step = np.zeros(data.shape, np.int64), _first_step(len(boundaries))
        while step:  # also of vectors that are not sorted
            bound = boundaries[np.minimum(place + step, len(boundaries)) - 1]
            above = bound > data if attributes["right"] else bound >= data
            place += step * ((place + step <= len(boundaries)) & ~above)
            step //= 2
        return place.astype(cls.result_dtype(attributes))
