"""Match the products of queries and keys before a softmax, with their scale and masks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from ...dialects import relax
from ...dialects.dtypes import is_float
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.elementwise import AddOp, DivideOp, MultiplyOp
from ...dialects.relax.operators.linear_algebra import MatmulOp
from ...dialects.relax.operators.patterns import TrilOp, TriuOp
from ...dialects.relax.operators.selection import WhereOp
from .known_values import known_numbers

HIDDEN = -1e30
"""A product with at most this added is the same for all keys, and has no weight beside others."""

LARGEST_MASK = 1 << 24
"""The most bytes of a mask of which the elements are inspected."""


@dataclass(frozen=True)
class Mask:
    """A tensor that is added to products; with `hidden`, products are that where it is `hides`."""

    tensor: SSAValue
    hides: bool = True
    hidden: float | None = None

    def numbers(self) -> NDArray[Any] | None:
        """What is added to the products, if that is known."""
        found = known_numbers(self.tensor, LARGEST_MASK)
        if found is None or self.hidden is None:
            return found
        return np.where(found == self.hides, self.hidden, 0.0)


@dataclass(frozen=True)
class Scores:
    """``query @ key * scale``, masked, of a query (…, n, d) and a key (…, d, m)."""

    query: SSAValue
    key: SSAValue
    is_transposed: bool
    """Whether the key is (…, m, d)."""
    scale: float = 1.0
    masks: tuple[Mask, ...] = ()

    def times(self, factor: float | None) -> Scores | None:
        """The products by a factor, before masks."""
        return None if factor is None or self.masks else replace(self, scale=self.scale * factor)

    def masked(self, mask: Mask) -> Scores:
        """The products with one more mask."""
        return replace(self, masks=(*self.masks, mask))


def scores_of(value: SSAValue) -> Scores | None:
    """The products that a value is, if nothing else uses them on the way; `None` for others."""
    op = value.owner
    if not is_used_once(value):
        return None
    match op:
        case MatmulOp():
            is_transposed = bool(op.attribute_values()["transpose_rhs"])
            (query, first), (key, second) = _without_factor(op.lhs), _without_factor(op.rhs)
            return Scores(query, key, is_transposed, first * second)
        case MultiplyOp() | DivideOp() | AddOp():
            return _combined(op)
        case WhereOp():
            return _selected(op)
        case _:
            return None


def _combined(op: MultiplyOp | DivideOp | AddOp) -> Scores | None:
    for scores, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if isinstance(op, DivideOp) and scores is op.rhs:
            continue
        if (found := scores_of(scores)) is None:
            continue
        if isinstance(op, AddOp):
            return found.masked(Mask(other))
        return found.times(_factor(op, other))
    return None


def _selected(op: WhereOp) -> Scores | None:
    for scores, other, hides in ((op.x1, op.x2, False), (op.x2, op.x1, True)):
        hidden = scalar_of(other)
        if hidden is not None and hidden <= HIDDEN and (found := scores_of(scores)) is not None:
            return found.masked(Mask(op.condition, hides, hidden))
    return None


def _without_factor(value: SSAValue) -> tuple[SSAValue, float]:
    """An operand and the constant that it is multiplied by."""
    op = value.owner
    if isinstance(op, MultiplyOp | DivideOp):
        for operand, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            is_product = isinstance(op, MultiplyOp) or operand is op.lhs
            factor = _factor(op, other) if is_product and operand.type == value.type else None
            if factor is not None:
                return operand, factor
    return value, 1.0


def _factor(op: MultiplyOp | DivideOp, other: SSAValue) -> float | None:
    number = scalar_of(other)
    if number is None or isinstance(op, MultiplyOp):
        return number
    return 1 / number if number else None


def scalar_of(value: SSAValue) -> float | None:
    """The number of a constant of one element."""
    found = known_numbers(value)
    return float(found.reshape(())) if found is not None and found.size == 1 else None


def is_used_once(value: SSAValue) -> bool:
    """Whether one operation uses a value."""
    return len({use.operation for use in value.uses}) == 1


def causal_mask(mask: Mask, queries: IntExpr, keys: IntExpr) -> str | None:
    """The kind of causal mask that a mask is, in the words of `relax.nn.attention`, or `None`."""
    triangle, rows, columns = mask.tensor.owner, queries.constant, keys.constant
    if mask.hidden is not None and isinstance(triangle, TrilOp | TriuOp) and _is_true(triangle.x):
        first = IntExpr.of(triangle.attribute_values()["k"])
        if isinstance(triangle, TriuOp) == mask.hides and first == IntExpr.of(int(mask.hides)):
            return "TopLeft"
    numbers = mask.numbers()
    if numbers is None or rows is None or columns is None:
        return None
    if numbers.shape[-2:] != (rows, columns) or numbers.size != rows * columns:
        return None
    numbers = numbers.reshape(rows, columns)
    for kind, offset in (("TopLeft", 0), ("BottomRight", columns - rows)):
        visible = np.tri(rows, columns, offset, dtype=bool)
        if (numbers[visible] == 0).all() and (numbers[~visible] <= HIDDEN).all():
            return kind if visible.any(1).all() else None
    return None


SPREADING = ("broadcast_to", "full", "reshape")
"""Operators whose results have the elements of the operand, and no others."""


def _is_true(value: SSAValue) -> bool:
    """Whether all elements of a tensor are known to be true."""
    op = value.owner
    if isinstance(op, relax.OperatorOp) and op.name in ("relax.ones", "relax.ones_like"):
        return True
    if isinstance(op, relax.OperatorOp) and op.name.removeprefix("relax.") in SPREADING:
        return _is_true(op.operands[0])
    found = known_numbers(value)
    return found is not None and bool(found.all())


FINITE = (
    "astype",
    "add",
    "subtract",
    "multiply",
    "reshape",
    "broadcast_to",
    "permute_dims",
    "strided_slice",
)
"""Operators whose results are finite if operands are, but for numbers that are too large."""


def hides_no_query(mask: Mask) -> bool:
    """Whether each query is known to see a key, or to see all of them alike, behind a mask."""
    numbers = mask.numbers()
    if numbers is not None:
        return bool(np.isfinite(numbers).any(-1).all())
    if mask.hidden is not None:
        return bool(np.isfinite(mask.hidden))
    return _is_finite(mask.tensor)


def _is_finite(value: SSAValue) -> bool:
    """Whether a tensor is computed from integers and finite constants."""
    op, type_ = value.owner, value.type
    if isinstance(type_, relax.TensorType) and type_.dtype is not None:
        if not is_float(type_.dtype):
            return True
    if (known := known_numbers(value, LARGEST_MASK)) is not None:
        return bool(np.isfinite(known).all())
    if isinstance(op, WhereOp):
        return _is_finite(op.x1) and _is_finite(op.x2)
    if not isinstance(op, relax.OperatorOp):
        return False
    names = op.name.removeprefix("relax.")
    return names in FINITE and all(_is_finite(operand) for operand in op.operands)
