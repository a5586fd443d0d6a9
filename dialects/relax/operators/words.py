"""Contractions of words that hold four 8-bit integers, for dot-product instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type
from ...int_expr import IntExpr
from ..types import TensorType
from .attributes import Bool, Int, Ints, OutDType, Text
from .base import OperatorOp
from .convolution import ForwardConvolutionOp
from .inference import normalize_axis, require_dtype
from .language import TensorLanguage
from .linear_algebra import MatrixProductOp

BYTES = 4
"""The integers in a word."""

_WORDS = {"int8": "int32", "uint8": "uint32"}
"""The dtype of words by that of their integers."""


@irdl_op_definition
class PackWordsOp(OperatorOp):
    """Four integers of an axis as one word: int8 in int32, uint8 in uint32.

    The first is in the lowest byte. The last word is filled up with zeros.
    """

    name = "relax.nn.pack_words"
    x = operand_def(TensorType)
    axis = opt_prop_def(Int(default=-1))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,) = operands
        require_dtype(cls.name, operands, _WORDS.__contains__, "integers of 8 bits")
        element = None if x.dtype is None else element_type(_WORDS[x.dtype])
        axis = None if x.rank is None else normalize_axis(cls.name, attributes["axis"], x.rank)
        if x.dims is None or axis is None:
            return TensorType.of(None, element, x.rank)
        return TensorType.of([_words(d) if a == axis else d for a, d in enumerate(x.dims)], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        axis, dtype = attributes["axis"] % x.ndim, _WORDS[x.dtype]
        length = te.dim_expr(x.shape[axis])
        (words,) = te.shape_of([_words(length)])
        is_full = length % BYTES == IntExpr.of(0)

        def element(*i: Any) -> Any:
            word = byte(i, 0)
            for number in range(1, BYTES):
                word |= byte(i, number) << 8 * number
            return word

        def byte(i: Sequence[Any], number: int) -> Any:
            at = i[axis] * BYTES + number
            found = x(*i[:axis], at, *i[axis + 1 :]).astype(dtype) & 255
            zero = te.const(0, dtype)
            return found if is_full else te.if_then_else(at < x.shape[axis], found, zero)

        return te.compute((*x.shape[:axis], words, *x.shape[axis + 1 :]), element, name="words")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (x,) = arrays
        last = np.moveaxis(x, attributes["axis"], -1)
        filled = np.pad(last, [*[(0, 0)] * (x.ndim - 1), (0, -x.shape[attributes["axis"]] % BYTES)])
        words = np.ascontiguousarray(filled).view(_WORDS[x.dtype.name])
        return np.moveaxis(words, -1, attributes["axis"])


def _words(length: IntExpr) -> IntExpr:
    return (length + BYTES - 1) // BYTES


def _sum_type(
    op_name: str, operands: Sequence[TensorType], attributes: dict[str, Any]
) -> Attribute:
    """The element type of sums; raises ValueError for anything but words, and another dtype."""
    require_dtype(op_name, operands, tuple(_WORDS.values()).__contains__, "words of four integers")
    if attributes["out_dtype"] != "int32":
        raise ValueError(
            f"expected out_dtype of '{op_name}' to be int32, got {attributes['out_dtype']}"
        )
    return i32


def _integers(words: NDArray[Any], axis: int) -> NDArray[Any]:
    """The integers of words along an axis, as int32."""
    own = "int8" if words.dtype == np.int32 else "uint8"
    last = np.ascontiguousarray(np.moveaxis(words, axis, -1))
    return np.moveaxis(last.view(own).astype(np.int32), -1, axis)


@irdl_op_definition
class MatmulWordsOp(MatrixProductOp):
    """`relax.matmul` of the integers in words ``(…, m, k / 4)`` and ``(…, k / 4, n)``, as int32."""

    name = "relax.nn.matmul_words"
    out_dtype = opt_prop_def(OutDType(default="int32"))
    transpose_rhs = opt_prop_def(Bool(default=False))

    @classmethod
    def element(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> Attribute:
        return _sum_type(cls.name, operands, attributes)

    @classmethod
    def multiply(cls, te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
        return te.dp4a(left, right)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        lhs, rhs = arrays
        inner = -1 if attributes["transpose_rhs"] or rhs.ndim == 1 else -2
        return super().reference([_integers(lhs, -1), _integers(rhs, inner)], attributes)


class WordsConvolutionOp(ForwardConvolutionOp):
    """A convolution over the integers in words, of which each has four channels, as int32."""

    MATMUL: ClassVar[type[MatrixProductOp]] = MatmulWordsOp

    @classmethod
    def element(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> Attribute:
        return _sum_type(cls.name, operands, attributes)

    @classmethod
    def operand_dtype(cls, dtype: str, attributes: dict[str, Any]) -> str:
        return dtype

    @classmethod
    def multiply(cls, te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
        return te.dp4a(left, right)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, kernel, _ = cls.layouts(attributes)
        axes = (data.index("C"), kernel.index("I"))
        return super().reference(
            [_integers(*p) for p in zip(arrays, axes, strict=True)], attributes
        )


@irdl_op_definition
class Conv1dWordsOp(WordsConvolutionOp):
    """`relax.nn.conv1d` of words with four channels each."""

    name = "relax.nn.conv1d_words"
    SPATIAL: ClassVar[str] = "W"
    strides = opt_prop_def(Ints(default=(1,)))
    padding = opt_prop_def(Ints(default=(0, 0)))
    dilation = opt_prop_def(Ints(default=(1,)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Text(default="NCW", choices=("NCW", "NWC")))
    kernel_layout = opt_prop_def(Text(default="OIW", choices=("OIW", "WIO", "OWI")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCW", "NWC")))
    out_dtype = opt_prop_def(OutDType(default="int32"))


@irdl_op_definition
class Conv2dWordsOp(WordsConvolutionOp):
    """`relax.nn.conv2d` of words with four channels each."""

    name = "relax.nn.conv2d_words"
    SPATIAL: ClassVar[str] = "HW"
    strides = opt_prop_def(Ints(default=(1, 1)))
    padding = opt_prop_def(Ints(default=(0, 0)))
    dilation = opt_prop_def(Ints(default=(1, 1)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Text(default="NCHW", choices=("NCHW", "NHWC")))
    kernel_layout = opt_prop_def(Text(default="OIHW", choices=("OIHW", "HWIO", "OHWI")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCHW", "NHWC")))
    out_dtype = opt_prop_def(OutDType(default="int32"))
