"""From the LLVM dialect to functions that can be called: text, machine code, an executable."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ..dialects.relax.constant import TensorData
from ..runtime.executable import Executable
from ..runtime.signature import FunctionSpec
from ..runtime.tensor import Layout, Tensor, from_numpy
from .jit import compile_module
from .llvm_text import emit_module
from .target import Target


def compile_executable(
    functions: Iterable[FunctionSpec],
    constants: Iterable[TensorData],
    llvm_module: ModuleOp,
    target: Target,
    opt_level: int = 3,
) -> Executable:
    """The executable of a module in the `llvm` dialect.

    `functions` and `constants` are the interface of the module, taken before it was converted
    (`lowering.llvm.interface.module_interface`). `attributes` of the result hold the target and the
    LLVM IR as text, and as functions without arguments what is only made when asked for:
    "optimized_llvm_ir", "assembly" and "object". Raises BackendError for what LLVM does not accept,
    ValueError for a constant whose data was not given.
    """
    text = emit_module(llvm_module, target)
    library = compile_module(text, target, opt_level)
    attributes = {
        "target": str(target),
        "llvm_ir": text,
        "optimized_llvm_ir": library.optimized_ir,
        "assembly": library.assembly,
        "object": library.object_bytes,
    }
    return Executable(functions, library, [constant_tensor(c) for c in constants], attributes)


def constant_tensor(data: TensorData) -> Tensor:
    """The run-time tensor that shares the memory of a constant."""
    tensor = from_numpy(np.asarray(data.values))
    if data.dtype == tensor.dtype:
        return tensor
    # bfloat16 is held as its bits, for NumPy has no such type.
    layout = Layout(tensor.shape, data.dtype, tensor.layout.strides, tensor.layout.writable)
    return Tensor(tensor.address, layout, tensor)
