"""Literals by TVM's classes: ``IntImm("int64", 4)``, ``FloatImm("float32", 0.5)``, strings."""

from __future__ import annotations

import json
from typing import Any

from ..dialects.dtypes import check_dtype, is_float
from .arithmetic import Imm, const
from .constant_dim import ConstantDim
from .expr import PrimExpr


class _Kind(type):
    """Makes a number of a class an instance of it by its dtype."""

    def __instancecheck__(cls, value: Any) -> bool:
        known = isinstance(value, Imm | ConstantDim)
        return known and is_float(value.dtype) == issubclass(cls, FloatImm)

    def __call__(cls, dtype: str, value: float) -> Any:
        if is_float(check_dtype(dtype)) != issubclass(cls, FloatImm):
            kind = "a float" if issubclass(cls, FloatImm) else "an integer or bool"
            raise ValueError(f"expected {kind} dtype of {cls.__name__}, got {dtype}")
        if isinstance(value, PrimExpr) and not isinstance(value, Imm):
            raise TypeError(f"expected a number for {cls.__name__}, got {value}")
        return const(value, dtype)


class IntImm(metaclass=_Kind):
    """An integer or bool of a dtype; raises ValueError for a dtype of floats, or out of range."""


class FloatImm(metaclass=_Kind):
    """A float of a dtype; raises ValueError for a dtype of integers."""


class StringImm(str):
    """A string that has its text as `value` too."""

    @property
    def value(self) -> str:
        """The text."""
        return str(self)

    def script(self, *, verbose_expr: bool = False) -> str:
        """The text in quotes."""
        return json.dumps(str(self), ensure_ascii=False)
