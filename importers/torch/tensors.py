"""torch tensors as arguments and results of compiled code, without copies."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch

from ...runtime.call import new_result
from ...runtime.layout import Layout
from ...runtime.native_call import CallTable, NativeCallable, NativeFunction, set_native_call
from ...runtime.tensor import Tensor


def is_torch(value: Any) -> bool:
    """Whether a value is a torch tensor."""
    return isinstance(value, torch.Tensor)


def as_argument(name: str, value: Any, dtype: torch.dtype | None = None) -> Any:
    """A tensor that compiled code can read; other values are returned unchanged.

    `dtype` is that of a complex argument, `None` for real ones. Raises TypeError for another, and
    ValueError for a tensor on another device or of another layout, and for one that requires
    a gradient while gradients are recorded.
    """
    if dtype is not None and getattr(value, "dtype", None) != dtype:
        expected = str(dtype).removeprefix("torch.")
        raise TypeError(
            f"expected argument '{name}' to be a torch tensor of dtype {expected}, "
            f"got {_described(value)}"
        )
    if not isinstance(value, torch.Tensor):
        return value
    if dtype is None and value.is_complex():
        raise TypeError(f"expected argument '{name}' to have real numbers, got {_described(value)}")
    if value.device.type != "cpu":
        raise ValueError(f"expected argument '{name}' on the cpu, got a tensor on {value.device}")
    if value.layout is not torch.strided:
        kind = str(value.layout).removeprefix("torch.")
        raise ValueError(f"expected argument '{name}' to be dense, got a tensor of layout {kind}")
    if value.requires_grad and torch.is_grad_enabled():
        raise ValueError(
            f"expected argument '{name}' without a gradient, which compiled code does not "
            "compute: detach it, or call the model under torch.no_grad()"
        )
    return plain(value)


def _described(value: Any) -> str:
    known = isinstance(value, torch.Tensor)
    return str(value.dtype).removeprefix("torch.") if known else type(value).__name__


def plain(value: torch.Tensor) -> torch.Tensor:
    """The same memory as a real tensor without gradient, subclass or pending negation."""
    if value.requires_grad:
        value = value.detach()
    if type(value) is not torch.Tensor:
        value = value.as_subclass(torch.Tensor)
    value = real_tensor(value)
    return value.resolve_neg() if value.is_neg() else value


def real_tensor(value: torch.Tensor) -> torch.Tensor:
    """The tensor, or for complex numbers their memory as pairs of real ones along a last dim."""
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


def to_torch(result: Tensor) -> torch.Tensor:
    """A result as a torch tensor over its memory."""
    return torch.from_dlpack(result)  # pyright: ignore[reportPrivateImportUsage]


def complex_tensor(result: Tensor | torch.Tensor) -> torch.Tensor:
    """A result whose last dim has real and imaginary parts, as complex numbers over its memory."""
    return torch.view_as_complex(result if isinstance(result, torch.Tensor) else to_torch(result))


def _new_torch(layout: Layout) -> torch.Tensor:
    """A torch tensor with undefined values in memory of the run time, which keeps its pages.

    torch gives large memory back to the system, which has each page zeroed when it is used again.
    """
    return to_torch(new_result(layout))


class TorchCall(NativeCallable):
    """A function that returns a torch tensor, or a tuple of them if it returns a tuple.

    On the Python path, `arguments` checks the arguments and converts them for the function. The
    first argument must be a torch tensor: without one, results are not torch's.
    """

    def __init__(
        self, function: NativeFunction, arguments: Callable[[tuple[Any, ...]], Sequence[Any]]
    ) -> None:
        self._function = function
        self._arguments = arguments
        self._table = CallTable(function, TorchCall.in_python, TorchCall.fail, new_torch=_new_torch)
        set_native_call(self, function.entry, ctypes.addressof(self._table.words))

    def in_python(self, /, *args: Any) -> Any:
        """The Python path of a call."""
        tensors = self._arguments(args)
        results = self._function(*tensors)
        self._table.learn(self._function.resolve(tensors)[1])
        returns_tuple = self._function.spec.returns_tuple
        return tuple(map(to_torch, results)) if returns_tuple else to_torch(results)

    def fail(self, *reported: int) -> NoReturn:
        """Raise the exception for a native status."""
        self._function.fail(*reported)
