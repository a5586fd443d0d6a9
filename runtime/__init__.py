"""The runtime: tensors, the function registry, executables and the virtual machine.

Nothing here imports the compiler: NumPy and the standard library are enough, and llvmlite to link
native code.
"""

from __future__ import annotations

from typing import Any

from ..name_lookup import known, resolve
from . import builtins as builtins  # registers its functions
from . import linear_algebra as linear_algebra  # registers its functions
from . import tensor_cache as tensor_cache  # registers its functions
from . import vm_builtins as vm_builtins  # registers its functions
from .conversion import convert as convert
from .device import Device as Device
from .device import cpu as cpu
from .device import device as device
from .executable import Executable as Executable
from .executable import NativeLibrary as NativeLibrary
from .executable import load as load
from .executable import load_module as load_module
from .native import NativeError as NativeError
from .package import PackageError as PackageError
from .registry import get_global_func as get_global_func
from .registry import list_global_func_names as list_global_func_names
from .registry import register_func as register_func
from .registry import register_global_func as register_global_func
from .registry import remove_global_func as remove_global_func
from .tensor import NDArray as NDArray
from .tensor import Tensor as Tensor
from .tensor import array as array
from .tensor import empty as empty
from .tensor import from_dlpack as from_dlpack
from .tensor import from_numpy as from_numpy
from .tensor import tensor as tensor
from .threads import num_threads as num_threads
from .threads import set_num_threads as set_num_threads
from .vm import VirtualMachine as VirtualMachine
from .warning import XRelaxWarning as XRelaxWarning

Module = Executable
"""TVM's name."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("runtime.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("runtime.")]
