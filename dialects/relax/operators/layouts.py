"""Layouts of tensors in any order of axes, also with blocks of an axis innermost: ``NCHW16c``.

Operators are defined for a few plain layouts. Data of another layout is rearranged to a plain one,
and the result back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import StringAttr, TupleType
from xdsl.ir import Attribute

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Text
from .inference import divides, tuple_type
from .language import TensorLanguage

if TYPE_CHECKING:
    from .base import OperatorOp

    class _Operator(OperatorOp):
        """What `AnyLayouts` is mixed into."""

else:
    _Operator = object


class Axis(NamedTuple):
    """An axis of a layout: a letter, and its block if it is the inner part of a split axis."""

    letter: str
    block: int | None


@cache
def axes_of(layout: str) -> tuple[Axis, ...]:
    """The axes of a layout in order; raises ValueError if it is malformed.

    Each letter is there once, and a block of it at most once, as a number and the small letter.
    """
    axes, digits = list[Axis](), ""
    for sign in layout:
        if sign.isdigit():
            digits += sign
        elif sign.isupper() and not digits:
            axes.append(Axis(sign, None))
        elif sign.islower() and int(digits or 0) > 0:
            axes.append(Axis(sign.upper(), int(digits)))
            digits = ""
        else:
            raise ValueError(f"malformed layout '{layout}'")
    whole = [a.letter for a in axes if a.block is None]
    blocked = [a.letter for a in axes if a.block is not None]
    if digits or len(set(whole)) < len(whole) or len(set(blocked)) < len(blocked):
        raise ValueError(f"malformed layout '{layout}'")
    if not set(blocked) <= set(whole):
        raise ValueError(f"malformed layout '{layout}'")
    return tuple(axes)


@dataclass(frozen=True)
class Layout(Text):
    """A layout of the letters of its plain layouts, the `choices`."""

    @property
    def what(self) -> str:
        return f"a layout such as {', '.join(self.choices)}"

    def encode(self, value: Any) -> Attribute:
        if not isinstance(value, str):
            raise TypeError
        self._verify(value)
        return StringAttr(value)

    def decode(self, attribute: Attribute) -> Any:
        if not isinstance(attribute, StringAttr):
            raise TypeError
        self._verify(attribute.data)
        return attribute.data

    def _verify(self, layout: str) -> None:
        if layout in self.choices:
            return
        letters = sorted(a.letter for a in axes_of(layout) if a.block is None)
        if letters != sorted(self.choices[0]):
            raise ValueError


@dataclass(frozen=True)
class Arrangement:
    """The places of the elements of a tensor of a plain layout in another layout."""

    layout: str
    plain: str

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the other layout."""
        return axes_of(self.layout)

    @property
    def blocks(self) -> dict[str, int]:
        """The blocks of the axes that are split."""
        return {a.letter: a.block for a in self.axes if a.block is not None}

    def plain_type(self, op_name: str, subject: str, type_: TensorType) -> TensorType:
        """The type of a tensor in the plain layout; raises ValueError if it has no such form."""
        if type_.rank not in (None, len(self.axes)):
            raise ValueError(
                f"expected {subject} of '{op_name}' to have rank {len(self.axes)}, "
                f"got {shape_text(type_)}"
            )
        if type_.dims is None:
            return TensorType.of(None, type_.known_element, len(self.plain))
        sizes = dict.fromkeys(self.plain, IntExpr.of(1))
        for axis, dim in zip(self.axes, type_.dims, strict=True):
            if axis.block is not None and dim.constant != axis.block:
                raise ValueError(
                    f"expected {subject} of '{op_name}' to have the layout {self.layout}, "
                    f"got {shape_text(type_)}"
                )
            sizes[axis.letter] = sizes[axis.letter] * dim
        return TensorType.of(list(sizes.values()), type_.known_element)

    def type_of(self, op_name: str, type_: TensorType) -> TensorType:
        """The type in this layout of a tensor; raises ValueError if blocks do not divide it."""
        if type_.dims is None:
            return TensorType.of(None, type_.known_element, len(self.axes))
        sizes = dict(zip(self.plain, type_.dims, strict=True))
        for letter, block in self.blocks.items():
            if not divides(IntExpr.of(block), sizes[letter]):
                raise ValueError(
                    f"expected blocks of {block} of '{op_name}' to divide axis {letter} of the "
                    f"result, got {sizes[letter]}"
                )
        return TensorType.of(self.split(sizes), type_.known_element)

    def split(self, sizes: dict[str, Any]) -> list[Any]:
        """The sizes of this layout's axes."""
        blocks = self.blocks
        return [
            sizes[letter] // blocks.get(letter, 1) if block is None else block
            for letter, block in self.axes
        ]

    def split_dims(self, dims: Sequence[IntExpr]) -> list[IntExpr]:
        """The dims in this layout of those of the plain one."""
        return [IntExpr.of(d) for d in self.split(dict(zip(self.plain, dims, strict=True)))]

    def unpacked(self, te: TensorLanguage, tensor: Any) -> Any:
        """A tensor of this layout in the plain one."""
        sizes: dict[str, IntExpr] = dict.fromkeys(self.plain, IntExpr.of(1))
        for axis, dim in zip(self.axes, tensor.shape, strict=True):
            sizes[axis.letter] = sizes[axis.letter] * te.dim_expr(dim)
        blocks = self.blocks

        def element(*i: Any) -> Any:
            at = dict(zip(self.plain, i, strict=True))
            return tensor(
                *(
                    at[a.letter] % a.block
                    if a.block is not None
                    else at[a.letter] // blocks[a.letter]
                    if a.letter in blocks
                    else at[a.letter]
                    for a in self.axes
                )
            )

        return te.compute(te.tensor.shape_of(list(sizes.values())), element, name="T_layout")

    def packed(self, te: TensorLanguage, tensor: Any) -> Any:
        """A tensor of the plain layout in this one."""
        shape = te.tensor.shape_of(self.split_dims([te.dim_expr(d) for d in tensor.shape]))
        blocks = self.blocks

        def element(*i: Any) -> Any:
            at: dict[str, Any] = dict.fromkeys(self.plain, 0)
            for axis, index in zip(self.axes, i, strict=True):
                scale = blocks.get(axis.letter, 1) if axis.block is None else 1
                at[axis.letter] = at[axis.letter] + index * scale
            return tensor(*at.values())

        return te.compute(shape, element, name="T_layout")

    def numpy_unpacked(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of this layout in the plain one."""
        sizes = dict.fromkeys(self.plain, 1)
        for axis, dim in zip(self.axes, array.shape, strict=True):
            sizes[axis.letter] *= dim
        return array.transpose(self._outer_first()).reshape(list(sizes.values()))

    def numpy_packed(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of the plain layout in this one."""
        sizes = self.split(dict(zip(self.plain, array.shape, strict=True)))
        order = self._outer_first()
        split = array.reshape([sizes[p] for p in order])
        return split.transpose(list(np.argsort(order)))

    def _outer_first(self) -> list[int]:
        """The axes of this layout in the order of the plain one, each before its block."""
        places = range(len(self.axes))
        return [p for letter in self.plain for p in self._places(letter, places)]

    def _places(self, letter: str, places: Sequence[int]) -> list[int]:
        own = [p for p in places if self.axes[p].letter == letter]
        return sorted(own, key=lambda p: self.axes[p].block is not None)


class AnyLayouts(_Operator):
    """A mixin in front of an operator that is defined for plain layouts of its `Layout` attributes.

    It makes the operator accept further layouts.
    """

    LAYOUTS: ClassVar[tuple[str, ...]] = ("layout",)
    """The attribute with the layout of each operand."""
    RESULT_LAYOUT: ClassVar[str] = "out_layout"
    """The attribute with the layout of results; without a value that of the first operand."""

    @classmethod
    def arrangements(
        cls, attributes: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Arrangement | None], Arrangement | None]:
        """The attributes with plain layouts, and what differs for operands and for results."""
        plain = dict(attributes)
        given = [cls._arrangement(attributes, plain, name) for name in cls.LAYOUTS]
        return plain, given, cls._arrangement(attributes, plain, cls.RESULT_LAYOUT)

    @classmethod
    def _arrangement(
        cls, attributes: dict[str, Any], plain: dict[str, Any], name: str
    ) -> Arrangement | None:
        """What a layout differs by from a plain one, which replaces it."""
        named = [n for n in (name, *cls.LAYOUTS) if attributes.get(n) is not None]
        layout, kind = attributes[named[0]], cls.attribute_kinds()[named[0]]
        assert isinstance(kind, Layout)
        is_plain = layout in kind.choices
        if name in plain:
            plain[name] = layout if is_plain else kind.choices[0]
        return None if is_plain else Arrangement(layout, kind.choices[0])

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> Any:
        plain, given, target = cls.arrangements(attributes)
        names = cls.operand_names()
        types = [
            t if a is None else a.plain_type(cls.name, n, t)
            for n, t, a in zip(names, operands, given, strict=True)
        ]
        result = super().infer(types, plain)
        if target is None:
            return result
        if isinstance(result, TupleType):
            fields = [t for t in result.types.data if isinstance(t, TensorType)]
            return tuple_type([target.type_of(cls.name, t) for t in fields])
        return target.type_of(cls.name, result)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        plain, given, target = cls.arrangements(attributes)
        moved = [t if a is None else a.unpacked(te, t) for t, a in zip(tensors, given, strict=True)]
        result = super().compute(te, moved, plain)
        if target is None:
            return result
        if isinstance(result, tuple):
            return tuple(target.packed(te, r) for r in result)  # pyright: ignore[reportUnknownVariableType]
        return target.packed(te, result)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        plain, given, target = cls.arrangements(attributes)
        moved = [
            x if a is None else a.numpy_unpacked(x) for x, a in zip(arrays, given, strict=True)
        ]
        result = super().reference(moved, plain)
        if target is None:
            return result
        if isinstance(result, tuple):
            return tuple(target.numpy_packed(r) for r in result)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return target.numpy_packed(result)


def has_plain_layouts(op: OperatorOp) -> bool:
    """Whether all layouts of an operator are among those that it is defined for."""
    kinds, values = op.attribute_kinds(), op.attribute_values()
    layouts = {n: k for n, k in kinds.items() if isinstance(k, Layout)}
    return all(values[n] is None or values[n] in k.choices for n, k in layouts.items())
