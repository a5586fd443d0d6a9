"""Elementwise selection: where, clip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type, is_float
from ..types import TensorType
from .attributes import Number
from .base import OperatorOp
from .conversion import wide
from .elementwise import NUMBERS, in_working_dtype
from .inference import broadcast_types, require_dtype
from .language import TensorLanguage


@irdl_op_definition
class WhereOp(OperatorOp):
    """`x1` where the condition is true, else `x2`, with broadcasting; `numpy.where`, `torch.where`.

    The condition has dtype bool.
    """

    name = "relax.where"
    condition = operand_def(TensorType)
    x1 = operand_def(TensorType)
    x2 = operand_def(TensorType)
    assembly_format = (
        "$condition `,` $x1 `,` $x2 attr-dict `:` type($condition) `,` type($x1) `,` type($x2) "
        "`->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        condition, x1, x2 = operands
        if condition.dtype not in (None, "bool"):
            raise ValueError(
                f"expected condition of '{cls.name}' to be bool, got {condition.dtype}"
            )
        chosen = broadcast_types(cls.name, x1, x2)
        shape = broadcast_types(
            cls.name, *(TensorType(t.shape, element_type("bool")) for t in (condition, chosen))
        ).shape
        return TensorType(shape, chosen.element_type)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        condition, x1, x2 = tensors
        return te.elementwise(lambda c, x, y: te.Select(c, x, y), condition, x1, x2, name="T_where")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        condition, x1, x2 = arrays
        return np.where(condition, x1, x2)


@irdl_op_definition
class ClipOp(OperatorOp):
    """Clamp `x` to at least `min` and at most `max`; either may be omitted; `torch.clamp`.

    NaN stays NaN. Bounds of integers are integers.
    """

    name = "relax.clip"
    x = operand_def(TensorType)
    min = opt_prop_def(Number(default=None))
    max = opt_prop_def(Number(default=None))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *NUMBERS)
        (x,) = operands
        if x.dtype is not None and not is_float(x.dtype):
            for name in ("min", "max"):
                if isinstance(attributes[name], float):
                    raise ValueError(
                        f"expected {name} of '{cls.name}' to be an int like its operand, "
                        f"got {attributes[name]}"
                    )
        return x

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        low, high = (_representable(attributes[n], x.dtype) for n in ("min", "max"))

        def clipped(value: Any) -> Any:
            bounded = value if low is None else te.max(value, te.const(low, value.dtype))
            return bounded if high is None else te.min(bounded, te.const(high, value.dtype))

        return te.elementwise(lambda v: in_working_dtype(clipped, v), x, name="T_clip")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        x = wide(arrays[0])
        for name, function in (("min", np.maximum), ("max", np.minimum)):
            bound = _representable(attributes[name], str(x.dtype))
            x = x if bound is None else function(x, x.dtype.type(bound))
        return x


def _representable(bound: Any, dtype: str) -> Any:
    """Clamp an integer bound to the range of the dtype."""
    if bound is None or is_float(dtype):
        return bound
    info = np.iinfo(dtype)
    return min(max(bound, int(info.min)), int(info.max))
