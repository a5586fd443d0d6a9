"""The global registry of Python functions that compiled code can call by name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

_functions: dict[str, Function] = {}
_lock = threading.RLock()


@overload
def register_func(name: F, f: None = None, override: bool = False) -> F: ...
@overload
def register_func(name: str, f: F, override: bool = False) -> F: ...
@overload
def register_func(name: str, f: None = None, override: bool = False) -> Callable[[F], F]: ...


def register_func(name: str | Function, f: Function | None = None, override: bool = False) -> Any:
    """Register a function under a name, as `tvm.register_func` and `register_global_func`.

    Three forms: `register_func("env.add", add)`, `@register_func("env.add")`, and the bare
    `@register_func`, which takes the function's own name. All return the function itself. Compiled
    code that calls it by name passes tensors; in destination-passing style the results come last.
    Raises ValueError for a name that is taken, unless `override` is given, and TypeError for a
    value that is not callable.
    """
    if not isinstance(name, str):
        return _register(name.__name__, name, override)
    if f is not None:
        return _register(name, f, override)
    return lambda function: _register(name, function, override)  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType]


register_global_func = register_func


def _register(name: str, function: Any, override: bool) -> Any:
    if not callable(function):
        kind = type(function).__name__
        raise TypeError(f"expected a callable to register as '{name}', got {kind}")
    with _lock:
        if name in _functions and not override:
            raise ValueError(
                f"function '{name}' is registered already, pass override=True to replace"
            )
        _functions[name] = function
    return function


@overload
def get_global_func(name: str, allow_missing: Literal[False] = False) -> Function: ...
@overload
def get_global_func(name: str, allow_missing: bool) -> Function | None: ...


def get_global_func(name: str, allow_missing: bool = False) -> Function | None:
    """The function registered under `name`.

    If there is none, returns None with `allow_missing`, else raises ValueError.
    """
    function = _functions.get(name)
    if function is None and not allow_missing:
        raise ValueError(f"function '{name}' is not registered")
    return function


def remove_global_func(name: str) -> None:
    """Remove a function from the registry; raises ValueError if there is none of that name."""
    with _lock:
        if _functions.pop(name, None) is None:
            raise ValueError(f"function '{name}' is not registered")


def list_global_func_names() -> list[str]:
    """All registered names, sorted."""
    with _lock:
        return sorted(_functions)


def registered_functions() -> dict[str, Function]:
    """A copy of the registry: functions by name."""
    with _lock:
        return dict(_functions)
