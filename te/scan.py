"""Tensors of which elements depend on earlier ones along an axis; TVM's ``te.scan``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects.dtypes import check_dtype
from ..dialects.int_expr import IntExpr
from .arithmetic import cast, convert, dim_expr, index_value
from .axes import IterVar
from .expr import PrimExpr, Reduce
from .intrinsics import if_then_else
from .tag import joined
from .tensor import Compute, ShapeLike, Tensor, shape_of


def recurrence(
    shape: ShapeLike,
    axis: int,
    fcompute: Callable[..., Any],
    dtype: str,
    name: str = "scan",
) -> Tensor:
    """The tensor whose element at ``(i, j, …)`` is ``fcompute(before, i, j, …)``.

    `before` is the tensor itself, of which elements with a smaller index along `axis` may be read:
    the axis runs in order. `scan` is the same in two definitions.
    """
    dims = [dim_expr(d) for d in shape]
    index_dtype = "int32" if all(d.is_constant for d in dims) else "int64"
    axes = tuple(
        IterVar(f"i{n}", 0, index_value(d), "scan" if n == axis else "spatial", index_dtype)
        for n, d in enumerate(dims)
    )
    before = Tensor(name, shape_of(dims), check_dtype(dtype))
    element = cast(dtype, convert(fcompute(before, *axes)))
    before.op = Compute(name, axes, (element,), (before,))
    return before


@dataclass(eq=False)
class ScanOp(Compute):
    """The definition of tensors whose first elements along the first axis others follow from."""

    states: tuple[Tensor, ...] = ()
    """The placeholders that stand for the outputs, one by one."""
    aliases: tuple[tuple[IterVar, int], ...] = ()
    """Axes of other definitions in the expressions, and which axis of this one each is."""
    sources: tuple[Tensor, ...] = ()

    def inputs(self) -> list[Tensor]:
        read = [t for t in super().inputs() if t not in self.states]
        return list(dict.fromkeys([*read, *self.sources]))


def scan(
    init: Tensor | Sequence[Tensor],
    update: Tensor | Sequence[Tensor],
    state_placeholder: Tensor | Sequence[Tensor],
    inputs: Sequence[Tensor] = (),
    name: str = "scan",
    tag: str = "",
) -> Any:
    """The tensor that starts along its first axis with `init`, and goes on with `update`.

    `init` and `update` are defined by `compute`. `update` has the shape of the result, and reads
    earlier elements of it from the placeholder, which is no input. Lists of tensors of one shape
    give a list. TVM's ``te.scan``. Raises TypeError where a tensor is defined by anything else, and
    ValueError for other shapes and dtypes, or other numbers of tensors.
    """
    first, later, states = (
        [t] if isinstance(t, Tensor) else list(t) for t in (init, update, state_placeholder)
    )
    if not len(first) == len(later) == len(states) or not states:
        counts = f"{len(first)}, {len(later)} and {len(states)}"
        raise ValueError(f"expected as many init, update and state tensors, got {counts}")
    _verify(name, first, later, states)
    dims = [dim_expr(d) for d in states[0].shape]
    index_dtype = "int32" if all(d.is_constant for d in dims) else "int64"
    axes = tuple(
        IterVar(f"i{n}", 0, index_value(d), "spatial" if n else "scan", index_dtype)
        for n, d in enumerate(dims)
    )
    definition = ScanOp(name, axes, (), tag=joined(tag), sources=tuple(inputs))
    definition.states = tuple(states)
    definition.aliases = tuple(
        (axis, n) for t in (*first, *later) for n, axis in enumerate(_computed(name, t).axes)
    )
    definition.bodies = tuple(
        cast(s.dtype, if_then_else(axes[0] < i.shape[0], _body(name, i), _body(name, u)))
        for i, u, s in zip(first, later, states, strict=True)
    )
    definition.outputs = tuple(
        Tensor(name if len(states) == 1 else f"{name}.v{n}", s.shape, s.dtype, definition, n)
        for n, s in enumerate(states)
    )
    return definition.outputs[0] if len(states) == 1 else list(definition.outputs)


def _verify(
    name: str, first: Sequence[Tensor], later: Sequence[Tensor], states: Sequence[Tensor]
) -> None:
    """Raise ValueError unless the tensors fit."""
    shape = _dims(states[0])
    for i, u, s in zip(first, later, states, strict=True):
        if not shape or not _dims(s) == _dims(u) == shape or _dims(i)[1:] != shape[1:]:
            shown = f"{list(i.shape)}, {list(u.shape)} and {list(s.shape)}"
            raise ValueError(f"expected shapes of '{name}' that fit {list(shape)}, got {shown}")
        if not i.dtype == u.dtype == s.dtype:
            shown = f"{i.dtype}, {u.dtype} and {s.dtype}"
            raise ValueError(
                f"expected init, update and state of '{name}' of one dtype, got {shown}"
            )


def _dims(tensor: Tensor) -> list[IntExpr]:
    return [dim_expr(d) for d in tensor.shape]


def _computed(name: str, tensor: Tensor) -> Compute:
    definition = tensor.op
    if type(definition) is not Compute or any(isinstance(b, Reduce) for b in definition.bodies):
        raise TypeError(
            f"expected '{tensor.name}' of '{name}' to be computed from single elements, by "
            f"te.compute without a reduction"
        )
    return definition


def _body(name: str, tensor: Tensor) -> PrimExpr:
    return _computed(name, tensor).bodies[tensor.index]
