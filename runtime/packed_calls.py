"""What happens at one packed call: a registered function runs, or one of the run time's own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from .registry import get_global_func
from .signature import PackedSite, shape_text
from .tensor import Tensor, as_tensor

_SILENT: ContextVar[bool] = ContextVar("silent", default=False)


def run_site(site: PackedSite, args: Sequence[Tensor]) -> None:
    """Call the function of a site; raises what it raises, TypeError or ValueError for its result.

    A function that returns gets its inputs alone, and its result is copied to the outputs.
    """
    if site.text is not None:
        OWN[site.name](site.text, [a.numpy() for a in args])
        return
    function = get_global_func(site.name)
    if not site.returned:
        function(*args)
        return
    first = len(args) - site.returned
    store_results(site.name, function(*args[:first]), args[first:])


def store_results(name: str, result: Any, outputs: Sequence[Tensor]) -> None:
    """Copy what a function returned: one tensor, or a tuple of as many as there are outputs."""
    given = cast("Sequence[Any]", result if isinstance(result, tuple | list) else (result,))
    if len(given) != len(outputs):
        raise ValueError(f"expected '{name}' to return {len(outputs)} tensors, got {len(given)}")
    for value, output in zip(given, outputs, strict=True):
        output.copyfrom(_checked(name, value, output))


def _checked(name: str, value: Any, output: Tensor) -> Tensor:
    try:
        tensor = as_tensor(value)
    except (BufferError, RuntimeError, TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"expected '{name}' to return a tensor, got {kind}") from None
    wanted, got = output.layout, tensor.layout
    if (wanted.dtype, wanted.shape) != (got.dtype, got.shape):
        raise ValueError(
            f"expected '{name}' to return {wanted.dtype} of shape {shape_text(wanted.shape)}, "
            f"got {got.dtype} of shape {shape_text(got.shape)}"
        )
    return tensor


def format_values(text: str, values: Sequence[Any]) -> str:
    """The values in a format, or one after the other where it is empty."""
    return text.format(*values) if text else " ".join(map(str, values))


@contextmanager
def without_prints() -> Generator[None]:
    """Programs print nothing meanwhile, in this thread: their results are only compared."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


def _print(text: str, values: Sequence[Any]) -> None:
    if not _SILENT.get():
        print(format_values(text, values))


def _fail(text: str, values: Sequence[Any]) -> None:
    raise AssertionError(format_values(text, values) or "assertion failed")


OWN: Mapping[str, Callable[[str, Sequence[Any]], None]] = {
    "relax.assert": _fail,
    "relax.print": _print,
}
"""The run time's own functions, on a format and arrays."""
