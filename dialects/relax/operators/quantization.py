"""Affine quantization: floats as integers with a scale and a zero point, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import DTYPES, element_type, integer_range, is_float
from ..types import TensorType
from .attributes import DType, Int
from .base import OperatorOp
from .conversion import accumulator, converted, wide
from .inference import normalize_axis, require_rank
from .language import TensorLanguage
from .normalization import along, require_shape
from .steps import PlainFormOp

_FLOATS = tuple(d for d in DTYPES if is_float(d))
_INTEGERS = tuple(d for d in DTYPES if not is_float(d) and d != "bool")
_STORED = ("int8", "uint8", "int16", "uint16")


def _require_one_of(op_name: str, label: str, dtype: str | None, known: Sequence[str]) -> None:
    if dtype is not None and dtype not in known:
        raise ValueError(
            f"expected {label} of '{op_name}' to be one of {', '.join(known)}, got {dtype}"
        )


class AffineOp(OperatorOp, ABC):
    """A conversion with a scale and a zero point, of rank 0, or of rank 1 along `axis`."""

    data = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = operand_def(TensorType)
    assembly_format = (
        "$data `,` $scale `,` $zero_point attr-dict `:` type($data) `,` type($scale) `,` "
        "type($zero_point) `->` type($result)"
    )
    DATA: ClassVar[Sequence[str]]
    """The dtypes of `data`."""
    OUT: ClassVar[Sequence[str]]
    """The dtypes of results."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, scale, zero_point = operands
        _require_one_of(cls.name, "data", data.dtype, cls.DATA)
        _require_one_of(cls.name, "out_dtype", attributes["out_dtype"], cls.OUT)
        _require_one_of(cls.name, "scale", scale.dtype, _FLOATS)
        _require_one_of(cls.name, "zero_point", zero_point.dtype, _INTEGERS)
        axis = normalize_axis(cls.name, attributes["axis"], data.rank) if data.rank else 0
        for label, vector in (("scale", scale), ("zero_point", zero_point)):
            require_rank(cls.name, label, vector, *([0] if data.rank == 0 else [0, 1]))
            if vector.rank == 1 and data.dims is not None:
                require_shape(cls.name, label, vector, data.dims[axis : axis + 1])
        return TensorType(data.shape, element_type(attributes["out_dtype"]))

    @classmethod
    @abstractmethod
    def convert(cls, te: TensorLanguage, x: Any, scale: Any, zero_point: Any, dtype: str) -> Any:
        """The element of the result."""

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        return cls._converted(te, tensors, attributes, cls.convert)

    @classmethod
    def _converted(
        cls,
        te: TensorLanguage,
        tensors: Sequence[Any],
        attributes: dict[str, Any],
        convert: Callable[..., Any],
    ) -> Any:
        data, scale, zero_point = tensors
        axis, dtype = attributes["axis"], attributes["out_dtype"]

        def element(*i: Any) -> Any:
            own, shift = (p(i[axis]) if p.ndim else p() for p in (scale, zero_point))
            return convert(te, data(*i), own, shift, dtype)

        return te.compute(data.shape, element, name=f"T_{cls.name.rpartition('.')[2]}")

    @classmethod
    def parameters(
        cls, arrays: Sequence[NDArray[Any]], axis: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scale and zero point that broadcast against the data."""
        data, scale, zero_point = arrays
        own = [
            along(p, (axis % data.ndim,), data.ndim) if p.ndim else p
            for p in (wide(scale), zero_point.astype(np.int64))
        ]
        return own[0], own[1]


@irdl_op_definition
class QuantizeOp(PlainFormOp, AffineOp):
    """``round(data / scale) + zero_point`` as integers that saturate; TVM's ``R.quantize``.

    Halves are rounded to even, as by ONNX's QuantizeLinear; NaN gives 0. Half precision is divided
    in float32. TVM's kernel clips before the conversion, which saturates by itself here.
    """

    name = "relax.quantize"
    axis = opt_prop_def(Int(default=-1))
    out_dtype = opt_prop_def(DType(default="int8"))
    DATA: ClassVar[Sequence[str]] = _FLOATS
    OUT: ClassVar[Sequence[str]] = _STORED

    @staticmethod
    def _whole(te: TensorLanguage, x: Any, scale: Any, zero_point: Any) -> Any:
        working = "float64" if "float64" in (x.dtype, scale.dtype) else accumulator(x.dtype)
        whole = te.round(x.astype(working) / scale.astype(working))
        return whole + zero_point.astype(working)

    @classmethod
    def convert(cls, te: TensorLanguage, x: Any, scale: Any, zero_point: Any, dtype: str) -> Any:
        return cls._whole(te, x, scale, zero_point).astype(dtype)

    @classmethod
    def compute_plain(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        def convert(te: TensorLanguage, x: Any, scale: Any, zero_point: Any, dtype: str) -> Any:
            whole = cls._whole(te, x, scale, zero_point)
            least, most = (te.const(bound, whole.dtype) for bound in integer_range(dtype))
            return te.max(te.min(whole, most), least).astype(dtype)

        return cls._converted(te, tensors, attributes, convert)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        scale, zero_point = cls.parameters(arrays, attributes["axis"])
        whole = np.rint(wide(arrays[0]) / scale) + zero_point
        return converted(whole, attributes["out_dtype"])


@irdl_op_definition
class DequantizeOp(AffineOp):
    """``(data - zero_point) * scale`` as floats; TVM's ``R.dequantize``.

    The difference is an int32, and the product is rounded to `out_dtype` once.
    """

    name = "relax.dequantize"
    axis = opt_prop_def(Int(default=-1))
    out_dtype = opt_prop_def(DType(default="float32"))
    DATA: ClassVar[Sequence[str]] = (*_STORED, "int32")
    OUT: ClassVar[Sequence[str]] = _FLOATS

    @classmethod
    def convert(cls, te: TensorLanguage, x: Any, scale: Any, zero_point: Any, dtype: str) -> Any:
        working = accumulator(scale.dtype, dtype)
        difference = x.astype("int32") - zero_point.astype("int32")
        return (difference.astype(working) * scale.astype(working)).astype(dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        scale, zero_point = cls.parameters(arrays, attributes["axis"])
        difference = arrays[0].astype(np.int32) - zero_point.astype(np.int32)
        return difference.astype(scale.dtype) * scale
