"""Sequences and optionals, which are lists and absent items during the import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from ....dialects.int_expr import ZERO, IntExpr
from ..context import Context
from ..nested import has_failed, run
from ..parts import joined, parts, stacked
from ..registry import converts
from ..tensor import SizeDependent, Tensor, axis_of

Items: TypeAlias = "list[Any]"


def _listed(sequence: Any) -> Items:
    if not isinstance(sequence, list):
        kind = "a tensor" if isinstance(sequence, Tensor) else "none"
        raise ValueError(f"expected a sequence, got {kind}")
    return cast("Items", sequence)


@converts("SequenceConstruct")
def sequence_construct(ctx: Context, *inputs: Any) -> Items:
    """A sequence of tensors."""
    return list(inputs)


@converts("SequenceEmpty")
def sequence_empty(ctx: Context, *, dtype: int = 1) -> Items:
    """A sequence of nothing."""
    return []


@converts("SequenceLength")
def sequence_length(ctx: Context, sequence: Any) -> Tensor:
    """The number of tensors of a sequence."""
    return ctx.array(len(_listed(sequence)), "int64")


@converts("SequenceAt")
def sequence_at(ctx: Context, sequence: Any, position: Tensor) -> Any:
    """The tensor at a position."""
    return _listed(sequence)[_place(position, len(_listed(sequence)), 0)]


@converts("SequenceInsert")
def sequence_insert(
    ctx: Context, sequence: Any, tensor: Any, position: Tensor | None = None
) -> Items:
    """A sequence with a tensor before a position, by default at the end."""
    made = list(_listed(sequence))
    made.insert(len(made) if position is None else _place(position, len(made), 1), tensor)
    return made


@converts("SequenceErase")
def sequence_erase(ctx: Context, sequence: Any, position: Tensor | None = None) -> Items:
    """A sequence without the tensor at a position, by default the last."""
    made = list(_listed(sequence))
    if not made:
        raise ValueError("expected a sequence of at least 1 tensor, got none")
    del made[-1 if position is None else _place(position, len(made), 0)]
    return made


def _place(position: Tensor, length: int, more: int) -> int:
    """A position counted from the front; raises ValueError for one out of bounds."""
    place = int(position.number("a position in a sequence"))
    if not -length <= place < length + more:
        raise ValueError(f"expected a position in a sequence of {length}, got {place}")
    return place + length if place < 0 else place


@converts("SplitToSequence")
def split_to_sequence(
    ctx: Context, x: Tensor, split: Tensor | None = None, *, axis: int = 0, keepdims: int = 1
) -> Items:
    """Parts of a tensor along an axis, as a sequence."""
    axis = axis_of(axis, x.rank)
    is_even = split is None or not split.rank
    found = parts(ctx, x, axis, _lengths(x.dims[axis], split), is_even=is_even)
    if split is not None or keepdims:
        return found
    if x.known is None:
        return [ctx.emit("squeeze", p, axis=[axis]) for p in found]
    return [ctx.reshape(p, [*x.dims[:axis], *x.dims[axis + 1 :]]) for p in found]


def _lengths(dim: IntExpr, split: Tensor | None) -> Sequence[IntExpr]:
    """The length of each part; the last may be shorter where they have one length."""
    if split is not None and split.rank:
        lengths = split.sizes("lengths")
        total = sum(lengths, ZERO)
        if total != dim:
            raise ValueError(f"expected lengths of {dim} elements, got {total}")
        return lengths
    if not dim.is_constant:
        raise SizeDependent(dim.symbols(), "the length of a sequence")
    length = 1 if split is None else int(split.number("a length"))
    if length < 1:
        raise ValueError(f"expected a length of at least 1, got {length}")
    starts = range(0, dim.offset, length)
    return [IntExpr.of(min(length, dim.offset - s)) for s in starts]


@converts("ConcatFromSequence")
def concat_from_sequence(ctx: Context, sequence: Any, *, axis: int, new_axis: int = 0) -> Tensor:
    """The tensors of a sequence in a row, or stacked along a new axis."""
    if new_axis not in (0, 1):
        raise ValueError(f"expected new_axis 0 or 1, got {new_axis}")
    join = stacked if new_axis else joined
    return join(ctx, _listed(sequence), axis)


@converts("SequenceMap")
def sequence_map(ctx: Context, sequence: Any, *inputs: Any, body: Any) -> tuple[Any, ...]:
    """A graph that is run for the tensors of sequences; other inputs are the same for all."""
    first = _listed(sequence)
    names = [given.name for given in body.input]
    found: list[Items] = []
    for index, item in enumerate(first):
        others = [_listed(i)[index] if isinstance(i, list) else i for i in inputs]
        results = run(ctx, body, dict(zip(names, [item, *others], strict=True)))
        if has_failed(results):
            return tuple(results)
        found.append(results)
    return tuple([r[i] for r in found] for i in range(len(body.output)))


@converts("Optional")
def optional(ctx: Context, item: Any = None, *, type: Any = None) -> Any:
    """An item that may be absent."""
    return item


@converts("OptionalHasElement")
def optional_has_element(ctx: Context, item: Any = None) -> Tensor:
    """Whether an item is there."""
    return ctx.array(item is not None, "bool")


@converts("OptionalGetElement")
def optional_get_element(ctx: Context, item: Any) -> Any:
    """An item that is there."""
    if item is None:
        raise ValueError("expected an optional with an element, got none")
    return item
