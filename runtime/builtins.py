"""Functions of the registry under the names that TVM's runtime gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .registry import register_func, remove_global_func
from .tensor import array

_python_functions: set[str] = set()


def _register_py_func(name: str, function: Callable[..., Any]) -> None:
    """Register a function for ``R.call_py_func``, in place of another one."""
    register_func(name, function, override=True)
    _python_functions.add(name)


def _clear_py_func_registry() -> None:
    """Remove the functions that `register_py_func` has registered."""
    while _python_functions:
        remove_global_func(_python_functions.pop())


BUILTINS: dict[str, Callable[..., Any]] = {
    "vm.builtin.clear_py_func_registry": _clear_py_func_registry,
    "vm.builtin.copy": array,
    "vm.builtin.register_py_func": _register_py_func,
}
"""A copy of a tensor, and the functions that Python gives to ``R.call_py_func``."""

for _name, _function in BUILTINS.items():
    register_func(_name, _function, override=True)
