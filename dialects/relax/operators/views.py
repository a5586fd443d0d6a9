"""Views of a tensor's memory: `memory.view`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...bounds import is_less
from ...dtypes import bit_width, element_type, is_float
from ...int_expr import ZERO, IntExpr, maximum
from ..types import TensorType, python_shape, shape_text
from .attributes import DType, Exprs, Scalar
from .base import OperatorOp
from .conversion import has_bits
from .language import TensorLanguage
from .reshaping import given_dims, product


@irdl_op_definition
class MemoryViewOp(OperatorOp):
    """The operand's memory with another shape, dtype and start; TVM's ``R.memory.view``.

    The bytes from `relative_byte_offset` on are those of the result, at most up to the end of the
    operand; by default its shape and dtype are the operand's. One dim may be -1 if the view has all
    elements. Between dtypes of different widths, the operand has integers. A view with the same
    elements is no copy; the pass `rewrite-dataflow-reshape` creates these from reshapes.
    """

    name = "relax.memory.view"
    x = operand_def(TensorType)
    shape = opt_prop_def(Exprs(default=None))
    dtype = opt_prop_def(DType(default=None))
    relative_byte_offset = opt_prop_def(Scalar(default=0))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def of(
        cls, operands: Sequence[SSAValue], attributes: Mapping[str, Any] | None = None
    ) -> OperatorOp:
        given = dict(attributes or {})
        x = operands[0].type if operands else None
        if given.get("dtype") is None and isinstance(x, TensorType) and x.dtype is not None:
            if cls.decode(cls.encode(given))["relative_byte_offset"] != ZERO:
                given["dtype"] = x.dtype  # what the offset is measured in
        op = super().of(operands, given)
        type_ = op.result.type
        if "shape" in op.properties and isinstance(type_, TensorType) and type_.dims is not None:
            op.properties["shape"] = type_.shape
        return op

    @property
    def is_view(self) -> bool:
        """Whether the view has the elements of the operand."""
        x, result = self.x.type, self.result.type
        assert isinstance(x, TensorType) and isinstance(result, TensorType)
        if x.dims is None or result.dims is None or x.dtype != result.dtype:
            return False
        start = self.attribute_values()["relative_byte_offset"]
        return start == ZERO and product(x.dims) == product(result.dims)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,), dtype = operands, attributes["dtype"]
        start, shape = attributes["relative_byte_offset"], attributes["shape"]
        if not isinstance(start, IntExpr) or is_less(start, 0):
            raise ValueError(
                f"expected relative_byte_offset of '{cls.name}' to be an integer of at least 0, "
                f"got {start}"
            )
        _require_dtypes(cls.name, x.dtype, x.dtype if dtype is None and start != ZERO else dtype)
        if shape is None and dtype is None and is_less(0, start):
            raise ValueError(f"expected a smaller view of '{cls.name}' from byte {start} on")
        element = x.known_element if dtype is None else element_type(dtype)
        if shape is None:
            found = TensorType.of(x.dims, element, x.rank)
        else:
            dims = _dims(cls.name, x, shape, dtype is None and start == ZERO)
            found = TensorType.of(dims, element, len(shape))
        if start == ZERO and dtype is None and x.dims is not None and found.dims is not None:
            if is_less(product(x.dims), product(found.dims)):
                raise ValueError(
                    f"expected shape of '{cls.name}' to have at most the elements of "
                    f"{shape_text(x)}, got {shape_text(found)}"
                )
        elif (sizes := _sizes(x, found, start)) is not None and is_less(*sizes):
            raise ValueError(
                f"expected a view of '{cls.name}' within {sizes[0]} bytes of {shape_text(x)}, "
                f"got one of {shape_text(found)} up to byte {sizes[1]}"
            )
        return found

    @classmethod
    def room(cls, x: TensorType, result: TensorType, start: IntExpr) -> tuple[IntExpr, IntExpr]:
        """Two numbers that are equal if the view is within the operand: its bytes are the first."""
        sizes = _sizes(x, result, start)
        if sizes is None:
            raise ValueError(f"expected a view of '{cls.name}' of known shape and dtype, got {x}")
        return sizes[0], maximum(*sizes)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,), dtype = tensors, attributes["dtype"] or tensors[0].dtype
        start = te.dim_expr(attributes["relative_byte_offset"])
        source = [te.dim_expr(d) for d in x.shape]
        target = source
        if attributes["shape"] is not None:
            wanted = tuple(te.dim_expr(d) for d in attributes["shape"])
            target = _dims(cls.name, TensorType.of(source, None), wanted, True)
        if attributes["dtype"] is None and start == ZERO:
            return te.compute(
                te.shape_of(target),
                lambda *i: _at(x, _flat(te.shape_of(target), i)),
                name="T_view",
            )
        first, each = (bit_width(d) // 8 for d in (x.dtype, dtype))
        narrow = min(first, each)
        if start % narrow != ZERO:
            raise ValueError(
                f"expected relative_byte_offset of '{cls.name}' to be a multiple of {narrow}, "
                f"got {start}"
            )
        (unit,) = te.tensor.shape_of([start // narrow])
        shape = te.shape_of(target)

        def word(number: Any) -> Any:
            return _at(x, number)

        def element(*i: Any) -> Any:
            place = _flat(shape, i)
            if first == each:
                return te.reinterpret(dtype, word(place + unit))
            if first < each:
                return _joined(te, word, place * (each // first) + unit, (x.dtype, dtype))
            return _part(te, word, place + unit, (x.dtype, dtype))

        return te.compute(shape, element, name="T_view")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (x,), dtype, shape = arrays, attributes["dtype"], attributes["shape"]
        shape = x.shape if shape is None else shape
        start: int = attributes["relative_byte_offset"]
        if dtype is None and start == 0:
            rest = x.size // max(-int(np.prod(shape)), 1)
            shape = tuple(rest if d == -1 else d for d in shape)
            return x.reshape(-1)[: int(np.prod(shape))].reshape(shape)
        dtype = dtype or x.dtype.name
        if x.dtype.kind == "f":  # in a reference in float64, operands are wider
            x = x.astype(f"float{bit_width(dtype)}")
        raw = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
        count = int(np.prod(shape)) * bit_width(dtype) // 8
        return raw[start : start + count].copy().view(dtype).reshape(shape)


def _require_dtypes(op_name: str, own: str | None, wanted: str | None) -> None:
    """Raise ValueError for dtypes whose bytes are not those of numbers."""
    if wanted is None:
        return
    for dtype in (own, wanted):
        if dtype is not None and not has_bits(dtype):
            raise ValueError(
                f"expected numbers other than bfloat16 for a dtype of '{op_name}', got {dtype}"
            )
    if own is not None and is_float(own) and bit_width(own) != bit_width(wanted):
        raise ValueError(
            f"expected dtype of '{op_name}' to be as wide as {own} of its operand, got {wanted}"
        )


def _dims(
    op_name: str, x: TensorType, shape: Sequence[IntExpr], is_whole: bool
) -> Sequence[IntExpr] | None:
    """The dims of a view; one of -1 is inferred if the view has all elements."""
    if all((d.constant or 0) >= 0 for d in shape):
        return shape
    if not is_whole:
        raise ValueError(
            f"expected dims of '{op_name}' to be at least 0, got {python_shape(shape)}"
        )
    return None if x.dims is None else given_dims(op_name, x.dims, shape)


def _sizes(x: TensorType, result: TensorType, start: IntExpr) -> tuple[IntExpr, IntExpr] | None:
    """The bytes of the operand, and the end of the view in them, if they are known."""
    if x.dims is None or result.dims is None or x.dtype is None or result.dtype is None:
        return None
    return _bytes(x.dims, x.dtype), start + _bytes(result.dims, result.dtype)


def _bytes(dims: Sequence[IntExpr], dtype: str) -> IntExpr:
    return product(dims) * max(bit_width(dtype) // 8, 1)


def _flat(shape: Sequence[Any], indices: Sequence[Any]) -> Any:
    """The number of an element in row-major order."""
    number: Any = 0
    for size, index in zip(shape, indices, strict=True):
        number = number * size + index
    return number


def _at(x: Any, number: Any) -> Any:
    """The element of a number in row-major order."""
    place: list[Any] = []
    for size in reversed(x.shape[1:]):
        place.append(number % size)
        number = number // size
    return x(*([number] if x.shape else []), *reversed(place))


def _joined(te: TensorLanguage, word: Any, number: Any, dtypes: tuple[str, str]) -> Any:
    """An element made of several of the operand, the first of them its lowest bytes."""
    narrow, wide = (f"uint{bit_width(d)}" for d in dtypes)
    total = te.const(0, wide)
    for k in range(bit_width(dtypes[1]) // bit_width(dtypes[0])):
        part = te.reinterpret(narrow, word(number + k)).astype(wide)
        total = total | te.shift_left(part, te.const(k * bit_width(dtypes[0]), wide))
    return te.reinterpret(dtypes[1], total)


def _part(te: TensorLanguage, word: Any, number: Any, dtypes: tuple[str, str]) -> Any:
    """A part of an element of the operand."""
    wide, narrow = (f"uint{bit_width(d)}" for d in dtypes)
    count = bit_width(dtypes[0]) // bit_width(dtypes[1])
    shift = te.cast(wide, number % count) * te.const(bit_width(dtypes[1]), wide)
    bits = te.shift_right(te.reinterpret(wide, word(number // count)), shift)
    mask = te.const((1 << bit_width(dtypes[1])) - 1, wide)
    return te.reinterpret(dtypes[1], (bits & mask).astype(narrow))
