"""Concatenation and splitting: concat, stack, split."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, var_operand_def

from ...int_expr import ZERO, IntExpr
from ..types import TensorType, python_shape, shape_text
from .attributes import Exprs, Int
from .base import OperatorOp
from .inference import common_element_type, normalize_axis, tuple_type
from .language import TensorLanguage
from .slicing import slice_range


class JoiningOp(OperatorOp, ABC):
    """An operator of several tensors of one dtype, with an axis."""

    tensors = var_operand_def(TensorType)
    axis = opt_prop_def(Int(default=0))
    assembly_format = "$tensors attr-dict `:` functional-type($tensors, $result)"

    @classmethod
    def _known_dims(cls, operands: Sequence[TensorType]) -> list[tuple[IntExpr, ...]]:
        """The known dims of the operands, of equal ranks; raises ValueError without operands."""
        if not operands:
            raise ValueError(f"expected tensors of '{cls.name}', got none")
        ranks = {o.rank for o in operands} - {None}
        if len(ranks) > 1:
            raise ValueError(
                f"expected tensors of '{cls.name}' to have one rank, "
                f"got {', '.join(shape_text(o) for o in operands)}"
            )
        return [o.dims for o in operands if o.dims is not None]

    @classmethod
    def _require_equal(
        cls, dims: Sequence[tuple[IntExpr, ...]], axis: int | None, what: str
    ) -> None:
        """Raise ValueError unless shapes are equal except for `axis`."""
        kept = {tuple(d for a, d in enumerate(shape) if a != axis) for shape in dims}
        if len(kept) > 1:
            raise ValueError(
                f"expected tensors of '{cls.name}' to have {what}, "
                f"got {', '.join(python_shape(d) for d in dims)}"
            )


def _rank(operands: Sequence[TensorType]) -> int | None:
    return next((o.rank for o in operands if o.rank is not None), None)


def _piece(te: TensorLanguage, index: Any, ends: Sequence[Any], values: Sequence[Any]) -> Any:
    """The value of the first range whose end is above the index, by binary search.

    The last values come first, as in TVM, and a symbolic end is subtracted from the index.
    """
    if len(values) == 1:
        return values[0]
    half = (len(values) + 1) // 2
    end = ends[half - 1]
    is_after = te.LE(end, index) if isinstance(end, int) else te.LE(0, index - end)
    after = _piece(te, index, ends[half:], values[half:])
    return te.if_then_else(is_after, after, _piece(te, index, ends[:half], values[:half]))


@irdl_op_definition
class ConcatOp(JoiningOp):
    """Concatenate tensors along an axis; `numpy.concatenate`, `torch.cat`."""

    name = "relax.concat"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        known, element = cls._known_dims(operands), common_element_type(cls.name, operands)
        rank = _rank(operands)
        if rank is None:
            return TensorType.of(None, element)
        axis = normalize_axis(cls.name, attributes["axis"], rank)
        cls._require_equal(known, axis, f"the same dims but for {axis}")
        if len(known) < len(operands):
            return TensorType.of(None, element, rank)
        total = sum((d[axis] for d in known), ZERO)
        return TensorType.of([*known[0][:axis], total, *known[0][axis + 1 :]], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        axis = normalize_axis(cls.name, attributes["axis"], tensors[0].ndim)
        *starts, total = accumulate((t.shape[axis] for t in tensors), initial=0)
        filled = [
            (t, s)
            for t, s in zip(tensors, starts, strict=True)
            if te.dim_expr(t.shape[axis]) != ZERO
        ] or [(tensors[0], 0)]

        def element(*i: Any) -> Any:
            own = [t(*i[:axis], i[axis] - s, *i[axis + 1 :]) for t, s in filled]
            return _piece(te, i[axis], [s + t.shape[axis] for t, s in filled], own)

        shape = (*tensors[0].shape[:axis], total, *tensors[0].shape[axis + 1 :])
        return te.compute(shape, element, name="T_concat")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.concatenate(arrays, attributes["axis"])


@irdl_op_definition
class StackOp(JoiningOp):
    """Stack tensors of one shape along a new axis of the result; `numpy.stack`, `torch.stack`."""

    name = "relax.stack"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        known, element = cls._known_dims(operands), common_element_type(cls.name, operands)
        cls._require_equal(known, None, "the same dims")
        rank = _rank(operands)
        if rank is None:
            return TensorType.of(None, element)
        axis = normalize_axis(cls.name, attributes["axis"], rank + 1)
        if not known:
            return TensorType.of(None, element, rank + 1)
        dims = known[0]
        return TensorType.of([*dims[:axis], len(operands), *dims[axis:]], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        dims = tensors[0].shape
        axis = normalize_axis(cls.name, attributes["axis"], len(dims) + 1)

        def element(*i: Any) -> Any:
            own = [t(*i[:axis], *i[axis + 1 :]) for t in tensors]
            return _piece(te, i[axis], range(1, len(tensors) + 1), own)

        return te.compute((*dims[:axis], len(tensors), *dims[axis:]), element, name="T_stack")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.stack(arrays, attributes["axis"])


@dataclass(frozen=True)
class Sections(Exprs):
    """A number of equal sections (i64), or the indices between sections, as expressions."""

    @property
    def what(self) -> str:
        return "a number of sections or a list of indices"

    def encode(self, value: Any) -> Attribute:
        return super().encode(value) if isinstance(value, list | tuple) else Int().encode(value)

    def decode(self, attribute: Attribute) -> Any:
        is_list = isinstance(attribute, ArrayAttr)
        return super().decode(cast(Attribute, attribute)) if is_list else Int().decode(attribute)


@irdl_op_definition
class SplitOp(OperatorOp):
    """Split a tensor along an axis, into sections or at indices; `numpy.split`, `torch.chunk`.

    The result is a tuple. Sections have equal lengths, but for the last ones if their number does
    not divide the dim; indices are those of slices.
    """

    name = "relax.split"
    x = operand_def(TensorType)
    indices_or_sections = opt_prop_def(Sections())
    axis = opt_prop_def(Int(default=0))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def parts(cls, dim: IntExpr, cuts: int | tuple[IntExpr, ...]) -> list[tuple[IntExpr, IntExpr]]:
        """Start and length of each part of a dim."""
        if not isinstance(cuts, int):
            ends = [*cuts, dim]
            return [slice_range(b, e, dim) for b, e in zip([ZERO, *cuts], ends, strict=True)]
        size = (dim + (cuts - 1)) // cuts
        if dim // cuts * cuts == dim:
            return [(dim // cuts * i, dim // cuts) for i in range(cuts)]
        if cuts == 2:
            return [(ZERO, size), (size, dim - size)]
        # `size` is at most the dim, but so are not always its multiples.
        rest = [slice_range(size * i, size * (i + 1), dim) for i in range(1, cuts)]
        return [(ZERO, size), *rest]

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        (x,), cuts = operands, attributes["indices_or_sections"]
        if isinstance(cuts, int) and cuts < 1:
            raise ValueError(f"expected at least 1 section of '{cls.name}', got {cuts}")
        if x.rank is not None:
            axis = normalize_axis(cls.name, attributes["axis"], x.rank)
            if (dims := x.dims) is not None:
                lengths = [n for _, n in cls.parts(dims[axis], cuts)]
                shapes = [[*dims[:axis], n, *dims[axis + 1 :]] for n in lengths]
                return tuple_type([TensorType.of(s, x.known_element) for s in shapes])
        return tuple_type([x] * (cuts if isinstance(cuts, int) else len(cuts) + 1))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,), cuts = tensors, attributes["indices_or_sections"]
        axis = normalize_axis(cls.name, attributes["axis"], x.ndim)
        is_even = isinstance(cuts, int)
        places = cuts if is_even else tuple(te.dim_expr(c) for c in cuts)
        name = "T_split_sections" if is_even else "T_split"

        def part(start: Any, length: Any) -> Any:
            def element(*i: Any) -> Any:
                return x(*i[:axis], i[axis] + start, *i[axis + 1 :])

            shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
            return te.compute(shape, element, name=name)

        parts = cls.parts(te.dim_expr(x.shape[axis]), places)
        return tuple(part(*te.shape_of(p)) for p in parts)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        cuts, axis = attributes["indices_or_sections"], attributes["axis"]
        if isinstance(cuts, int):
            size = -(-arrays[0].shape[axis] // cuts)
            cuts = [size * i for i in range(1, cuts)]
        return tuple(np.split(arrays[0], cuts, axis))
