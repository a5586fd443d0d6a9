"""Functions of the registry under the names that TVM's runtime gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .registry import register_func, remove_global_func
from .tensor import Tensor, array, as_tensor

_python_functions: set[str] = set()


def _register_py_func(name: str, function: Callable[..., Any]) -> None:
    """Register a function for ``R.call_py_func``, in place of another one."""
    register_func(name, function, override=True)
    _python_functions.add(name)


def _clear_py_func_registry() -> None:
    """Remove the functions that `register_py_func` has registered."""
    while _python_functions:
        remove_global_func(_python_functions.pop())


def _invoke(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a function that a user passes; raises TypeError for another object."""
    if not callable(function):
        raise TypeError(f"expected a function to call, got {type(function).__name__}")
    return function(*args)


def _value_of(value: Any) -> Any:
    """An object as a tensor or number; the call checks its type."""
    return value


def _dims_of(value: Any) -> Tensor:
    """The dims of an object, which must be a tensor, as an int64 tensor; raises TypeError."""
    return array(as_tensor(value).shape, dtype="int64")


BUILTINS: dict[str, Callable[..., Any]] = {
    "vm.builtin.clear_py_func_registry": _clear_py_func_registry,
    "vm.builtin.copy": array,
    "vm.builtin.dims_of": _dims_of,
    "vm.builtin.invoke_closure": _invoke,
    "vm.builtin.register_py_func": _register_py_func,
    "vm.builtin.value_of": _value_of,
}
"""A copy of a tensor, and the functions that Python gives to ``R.call_py_func``."""

for _name, _function in BUILTINS.items():
    register_func(_name, _function, override=True)
