"""Contractions of words that hold four 8-bit integers or two bf16, for dot-product instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ....runtime.dtype import bfloat16_to_float32, to_bfloat16
from ...dtypes import bit_width, element_type
from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Bool, Int, OutDType, Padding, SpatialInts, Text
from .base import OperatorOp
from .forward_convolution import ForwardConvolutionOp
from .inference import normalize_axis, require_dtype
from .language import TensorLanguage
from .linear_algebra import MatrixProductOp

_WORDS = {"int8": "int32", "uint8": "uint32", "bfloat16": "uint32"}
"""The dtype of words by that of their numbers."""


def numbers_in_word(dtype: str) -> int:
    """How many numbers of a dtype are in a word of 32 bits."""
    return 32 // bit_width(dtype)


@irdl_op_definition
class PackWordsOp(OperatorOp):
    """Numbers of an axis as words of 32 bits: four int8 as int32, four uint8 or two bf16 as uint32.

    The first is in the lowest bits. The last word is filled up with zeros. The words of a view are
    where the numbers are; the pass `rewrite-dataflow-reshape` makes views of whole vectors.
    """

    name = "relax.nn.pack_words"
    x = operand_def(TensorType)
    axis = opt_prop_def(Int(default=-1))
    view = opt_prop_def(Bool(default=False))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,) = operands
        expected = "integers of 8 bits or bfloat16"
        require_dtype(cls.name, operands, _WORDS.__contains__, expected)
        element = None if x.dtype is None else element_type(_WORDS[x.dtype])
        axis = None if x.rank is None else normalize_axis(cls.name, attributes["axis"], x.rank)
        if x.dims is None or axis is None or x.dtype is None:
            return TensorType.of(None, element, x.rank)
        count = numbers_in_word(x.dtype)
        dims = [words_of(d, count) if a == axis else d for a, d in enumerate(x.dims)]
        if attributes["view"] and not _is_whole(x, axis):
            raise ValueError(
                f"expected a view of '{cls.name}' to be of vectors of whole words, got "
                f"{shape_text(x)} along axis {axis}"
            )
        return TensorType.of(dims, element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        axis, length = attributes["axis"] % x.ndim, te.dim_expr(x.shape[attributes["axis"]])
        (words,) = te.shape_of([words_of(length, numbers_in_word(x.dtype))])

        def element(*i: Any) -> Any:
            def number(at: Any) -> Any:
                return x(*i[:axis], at, *i[axis + 1 :])

            return word(te, number, x.dtype, i[axis], length)

        return te.compute((*x.shape[:axis], words, *x.shape[axis + 1 :]), element, name="words")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (x,) = arrays
        dtype = "bfloat16" if x.dtype.kind == "f" else x.dtype.name
        count = numbers_in_word(dtype)
        last = np.moveaxis(x, attributes["axis"], -1)
        filled = np.pad(last, [*[(0, 0)] * (x.ndim - 1), (0, -x.shape[attributes["axis"]] % count)])
        bits = to_bfloat16(filled) if dtype == "bfloat16" else filled
        words = np.ascontiguousarray(bits).view(_WORDS[dtype])
        return np.moveaxis(words, -1, attributes["axis"])

    @property
    def is_whole(self) -> bool:
        """Whether words are of numbers that follow each other in memory."""
        type_ = self.x.type
        assert isinstance(type_, TensorType)
        if not type_.dims or type_.dtype is None:
            return False
        return _is_whole(type_, self.attribute_values()["axis"] % len(type_.dims))

    @property
    def is_view(self) -> bool:
        """Whether the words are in the memory of the numbers."""
        return bool(self.attribute_values()["view"])


def _is_whole(x: TensorType, axis: int) -> bool:
    assert x.dims is not None and x.dtype is not None
    is_last = axis == len(x.dims) - 1
    return is_last and x.dims[-1] % numbers_in_word(x.dtype) == IntExpr.of(0)


def word(
    te: TensorLanguage, number: Callable[[Any], Any], dtype: str, index: Any, length: IntExpr
) -> Any:
    """The word at an index of an axis of `length` numbers of a dtype, which `number` gives."""
    wide, count = _WORDS[dtype], numbers_in_word(dtype)
    is_full = length % count == IntExpr.of(0)
    (end,) = te.shape_of([length])

    def bits(place: int) -> Any:
        at = index * count + place
        found = number(at)
        if dtype == "bfloat16":
            found = te.reinterpret("uint16", found).astype(wide)
        else:
            found = found.astype(wide) & 255
        if not is_full and place:
            found = te.if_then_else(at < end, found, te.const(0, wide))
        return found << 32 // count * place if place else found

    found = bits(0)
    for place in range(1, count):
        found |= bits(place)
    return found


def words_of(length: IntExpr, count: int) -> IntExpr:
    """How many words hold so many numbers."""
    return (length + count - 1) // count


def _sum_type(
    op_name: str, operands: Sequence[TensorType], attributes: dict[str, Any]
) -> Attribute:
    """The element type of sums; raises ValueError for anything but words, and another dtype."""
    if attributes["out_dtype"] == "float32":
        require_dtype(op_name, operands, "uint32".__eq__, "words of two bfloat16")
        return f32
    require_dtype(op_name, operands, tuple(_WORDS.values()).__contains__, "words of four integers")
    if attributes["out_dtype"] != "int32":
        raise ValueError(
            f"expected out_dtype of '{op_name}' to be int32 or float32, got "
            f"{attributes['out_dtype']}"
        )
    return i32


def _product(te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
    """The dot product of the numbers in two words, in the dtype of sums."""
    return te.bfdot(left, right) if dtype == "float32" else te.dp4a(left, right)


def numbers_of(words: NDArray[Any], axis: int, out_dtype: str) -> NDArray[Any]:
    """The numbers of words along an axis, as int32, or as float32 where sums are floats."""
    last = np.ascontiguousarray(np.moveaxis(words, axis, -1))
    if out_dtype == "float32":
        return np.moveaxis(bfloat16_to_float32(last.view("uint16")), -1, axis)
    own = "int8" if words.dtype == np.int32 else "uint8"
    return np.moveaxis(last.view(own).astype(np.int32), -1, axis)


@irdl_op_definition
class MatmulWordsOp(MatrixProductOp):
    """`relax.matmul` of the numbers in words ``(…, m, k / 4)`` and ``(…, k / 4, n)``.

    With an `out_dtype` of int32 they are four integers of 8 bits, with float32 two bf16.
    """

    name = "relax.nn.matmul_words"
    out_dtype = opt_prop_def(OutDType(default="int32"))
    transpose_rhs = opt_prop_def(Bool(default=False))

    @classmethod
    def element(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> Attribute:
        return _sum_type(cls.name, operands, attributes)

    @classmethod
    def multiply(cls, te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
        return _product(te, left, right, dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        lhs, rhs = arrays
        inner = -1 if attributes["transpose_rhs"] or rhs.ndim == 1 else -2
        dtype = attributes["out_dtype"]
        sides = [numbers_of(lhs, -1, dtype), numbers_of(rhs, inner, dtype)]
        return super().reference(sides, attributes)


class WordsConvolutionOp(ForwardConvolutionOp):
    """A convolution over the numbers in words, which are channels; see `MatmulWordsOp`."""

    MATMUL: ClassVar[type[MatrixProductOp]] = MatmulWordsOp

    @classmethod
    def element(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> Attribute:
        return _sum_type(cls.name, operands, attributes)

    @classmethod
    def operand_dtype(cls, dtype: str, attributes: dict[str, Any]) -> str:
        return dtype

    @classmethod
    def multiply(cls, te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
        return _product(te, left, right, dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, kernel, _ = cls.layouts(attributes)
        axes = (data.index("C"), kernel.index("I"))
        dtype = attributes["out_dtype"]
        sides = [numbers_of(*p, dtype) for p in zip(arrays, axes, strict=True)]
        return super().reference(sides, attributes)


@irdl_op_definition
class Conv1dWordsOp(WordsConvolutionOp):
    """`relax.nn.conv1d` of words, in which channels are."""

    name = "relax.nn.conv1d_words"
    SPATIAL: ClassVar[str] = "W"
    strides = opt_prop_def(SpatialInts(default=(1,)))
    padding = opt_prop_def(Padding(default=(0, 0)))
    dilation = opt_prop_def(SpatialInts(default=(1,)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Text(default="NCW", choices=("NCW", "NWC")))
    kernel_layout = opt_prop_def(Text(default="OIW", choices=("OIW", "WIO", "OWI")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCW", "NWC")))
    out_dtype = opt_prop_def(OutDType(default="int32"))


@irdl_op_definition
class Conv2dWordsOp(WordsConvolutionOp):
    """`relax.nn.conv2d` of words, in which channels are."""

    name = "relax.nn.conv2d_words"
    SPATIAL: ClassVar[str] = "HW"
    strides = opt_prop_def(SpatialInts(default=(1, 1)))
    padding = opt_prop_def(Padding(default=(0, 0, 0, 0)))
    dilation = opt_prop_def(SpatialInts(default=(1, 1)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Text(default="NCHW", choices=("NCHW", "NHWC")))
    kernel_layout = opt_prop_def(Text(default="OIHW", choices=("OIHW", "HWIO", "OHWI")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCHW", "NHWC")))
    out_dtype = opt_prop_def(OutDType(default="int32"))
