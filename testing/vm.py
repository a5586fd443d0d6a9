"""Functions that tests call by name as ``test.vm.…``, and a check of saved calls.

TVM's ``relax.testing.vm``. Importing it registers the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime import Tensor, VirtualMachine, array, register_func
from .numerics import assert_allclose


def check_saved_func(vm: VirtualMachine, func_name: str, *inputs: Any) -> Any:
    """Return what a function gives for inputs, after comparing it with the call that is saved.

    The function returns a tensor, the same for each call. `save_function` saves the call as
    "…_saved" of its name. Raises AssertionError if the results differ. TVM's
    ``tvm.relax.testing.vm.check_saved_func``.
    """
    saved_name = f"{func_name}_saved"
    vm.save_function(func_name, saved_name, *inputs)
    result = vm[func_name](*inputs)
    assert_allclose(vm[saved_name](), result)
    return result


def _add(a: Tensor, b: Tensor) -> Tensor:
    return array(a.numpy() + b.numpy())


def _add_scalar(a: Any, b: Any) -> Any:
    return a + b


def _check_if_defined(value: Any) -> bool:
    return value is not None


def _equal_zero(a: Tensor) -> Tensor:
    return array(np.all(a.numpy() == 0))


def _identity(a: Tensor, out: Tensor) -> None:
    out.copyfrom(a)


def _move(a: Any) -> Any:
    return a


def _mul(a: Tensor, b: Tensor) -> Tensor:
    return array(a.numpy() * b.numpy())


def _subtract_one(a: Tensor) -> Tensor:
    return array(a.numpy() - 1)


def _tile(a: Tensor, out: Tensor) -> None:
    out.copyfrom(np.tile(a.numpy(), (1, 2)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": _add,
    "add_scalar": _add_scalar,
    "check_if_defined": _check_if_defined,
    "equal_zero": _equal_zero,
    "identity": _identity,
    "move": _move,
    "mul": _mul,
    "subtract_one": _subtract_one,
    "tile": _tile,
}
"""The functions by name; `identity` and `tile` (of columns, twice) write to their last argument."""

for _name, _function in FUNCTIONS.items():
    register_func(f"test.vm.{_name}", _function, override=True)
