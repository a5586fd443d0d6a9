"""Functions that tests call by name as ``test.vm.…``, and a check of saved calls.

TVM's ``relax.testing.vm``. Importing it registers the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime import VirtualMachine, array, register_func
from .numerics import assert_allclose


def check_saved_func(vm: VirtualMachine, func_name: str, *inputs: Any) -> Any:
    """Return ``vm[func_name](*inputs)`` after comparing it with the call saved by `save_function`.

    The function returns a tensor, the same for each call. The call is saved as "…_saved" of its
    name. Raises AssertionError if the results differ. TVM's
    ``tvm.relax.testing.vm.check_saved_func``.
    """
    saved_name = f"{func_name}_saved"
    vm.save_function(func_name, saved_name, *inputs)
    result = vm[func_name](*inputs)
    assert_allclose(vm[saved_name](), result)
    return result


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: array(a.numpy() + b.numpy()),
    "add_scalar": lambda a, b: a + b,
    "check_if_defined": lambda value: value is not None,
    "equal_zero": lambda a: array(np.all(a.numpy() == 0)),
    "identity": lambda a, out: out.copyfrom(a),
    "move": lambda a: a,
    "mul": lambda a, b: array(a.numpy() * b.numpy()),
    "subtract_one": lambda a: array(a.numpy() - 1),
    "tile": lambda a, out: out.copyfrom(np.tile(a.numpy(), (1, 2))),
}
"""The functions by name; `identity` and `tile` (of columns, twice) write to their last argument."""

for _name, _function in FUNCTIONS.items():
    register_func(f"test.vm.{_name}", _function, override=True)
