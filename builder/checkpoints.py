"""Checkpoints of gradients around functions on expressions; see pass `gradient`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from ..ir.expr import Expr, Var, apply_operator
from .block_builder import BlockBuilder

START, END = "relax.grad.start_checkpoint", "relax.grad.end_checkpoint"


def checkpoint(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of ``func(*args, **kwargs)``, or a list of results, which gradients recompute.

    The backward pass keeps the arguments, and computes from them again what `func` computes.
    TVM's ``relax.testing.nn.checkpoint``, `torch.utils.checkpoint.checkpoint`.
    """
    return _between(func, args, kwargs, _mark)


def emit_checkpoint(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """As `checkpoint`, with a variable for each mark: ``x_scp`` starts, and ``y_ecp`` ends.

    Raises RuntimeError with one line outside of a function that is being built.
    """
    builder = _builder()

    def mark(operator: str, value: Expr) -> Any:
        variable = value if isinstance(value, Var) else builder.emit(value)
        suffix = "scp" if operator == START else "ecp"
        return builder.emit(_mark(operator, variable), f"{variable.name_hint}_{suffix}")

    return _between(func, args, kwargs, mark)


def emit_checkpoint_sequential(
    functions: Sequence[Callable[[Any], Any]],
    segments: int | Sequence[int],
    input: Var,
    checkpoint_last: bool = False,
) -> Any:
    """Emit functions one after the other, and recompute each segment of them but the last.

    `segments` is the least number of equal ones, or has the number of the first function of each.
    With `checkpoint_last` the last one is recomputed too. Raises ValueError with one line for more
    segments than functions, and for numbers that do not increase from 0.
    `torch.utils.checkpoint.checkpoint_sequential`.
    """
    builder, count = _builder(), len(functions)
    if isinstance(segments, int):
        if not 1 <= segments <= count:
            raise ValueError(f"expected 1 to {count} segments, got {segments}")
        segments = range(0, count, count // segments)
    starts = [start for start in segments if start != count]
    if not starts or starts[0] != 0 or starts != sorted({*starts}) or starts[-1] > count:
        raise ValueError(f"expected segments that increase from 0 to {count}, got {segments}")
    value: Any = input
    for start, end in zip(starts, [*starts[1:], count], strict=True):
        part = _chain(functions[start:end])
        is_last = end == count and not checkpoint_last
        value = part(value) if is_last else emit_checkpoint(part, value)
    return value if isinstance(value, Var) else builder.emit(value)


def _mark(operator: str, value: Expr) -> Any:
    return apply_operator(operator, [value], {})


def _between(
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    mark: Callable[[str, Expr], Any],
) -> Any:
    """The result of a function on marked arguments, marked."""

    def marked(operator: str, value: Any) -> Any:
        return mark(operator, value) if isinstance(value, Expr) else value

    named = {name: marked(START, value) for name, value in kwargs.items()}
    result = func(*(marked(START, a) for a in args), **named)
    if isinstance(result, list | tuple):
        return [marked(END, r) for r in cast("Sequence[Any]", result)]
    return marked(END, result)


def _chain(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run


def _builder() -> BlockBuilder:
    builder = BlockBuilder.current()
    if builder is None:
        raise RuntimeError("expected a function that is being built, got none")
    return builder
