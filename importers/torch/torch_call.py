"""Native calls of a compiled model: torch tensors in, torch tensors out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ...runtime.native_call import CallTable, NativeCallable, NativeFunction
from ...runtime.native_callable import set_native_call
from .tensors import to_torch


class TorchCall(NativeCallable):
    """A function with torch tensors as results, a tuple of them where it returns a tuple.

    `arguments` checks what native code has not seen yet, and gives what the function takes. The
    first argument must be a torch tensor: without any, results are not torch's.
    """

    def __init__(
        self, function: NativeFunction, arguments: Callable[[tuple[Any, ...]], Sequence[Any]]
    ) -> None:
        self._function = function
        self._arguments = arguments
        self._table = CallTable(function, TorchCall.in_python, TorchCall.fail, returns_torch=True)
        set_native_call(self, function.entry, ctypes.addressof(self._table.words))

    def in_python(self, /, *args: Any) -> Any:
        """The same call where native code does not do it."""
        tensors = self._arguments(args)
        results = self._function(*tensors)
        self._table.learn(self._function.resolve(tensors)[1])
        returns_tuple = self._function.spec.returns_tuple
        return tuple(map(to_torch, results)) if returns_tuple else to_torch(results)

    def fail(self, *reported: int) -> NoReturn:
        """Raise what a status means."""
        self._function.fail(*reported)
