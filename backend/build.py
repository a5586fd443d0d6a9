"""Compile a module in the `llvm` dialect to LLVM IR text, machine code and an executable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.llvm import FuncOp

from ..dialects.llvm_ext import EXPLICIT_VECTORS
from ..dialects.relax.constant import TensorData
from ..runtime.executable import Executable
from ..runtime.saving import stored_tensor
from ..runtime.signature import FunctionSpec, LoadSpec
from .jit import Library, compile_module, join_libraries
from .llvm_module import emit_module
from .target import Target


class MachineCode(NamedTuple):
    """A module of the `llvm` dialect as LLVM IR text, and its compiled code."""

    llvm_ir: str
    library: Library


def compile_llvm(
    module: ModuleOp, target: Target, opt_level: int = 3, *, debug_info: bool = False
) -> MachineCode:
    """Machine code of a module in the `llvm` dialect, optimized at `opt_level` 0 to 3.

    `debug_info` adds source locations, as in `emit_module`. Raises BackendError for code that LLVM
    rejects.
    """
    text = emit_module(module, target, debug_info=debug_info)
    return MachineCode(text, compile_module(text, target, opt_level, is_explicit(module)))


def is_explicit(module: ModuleOp) -> bool:
    """Whether all kernels of a module in the `llvm` dialect are marked as vector code."""
    kernels = [
        op
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and op.body.blocks and op.no_inline is not None
    ]
    marks = [op.passthrough.data if op.passthrough is not None else () for op in kernels]
    return bool(kernels) and all(EXPLICIT_VECTORS in mark for mark in marks)


def compile_executable(
    functions: Iterable[FunctionSpec],
    constants: Iterable[TensorData],
    llvm_module: ModuleOp,
    target: Target,
    opt_level: int = 3,
) -> Executable:
    """The executable of one module in the `llvm` dialect.

    `functions` and `constants` are the interface of the module before conversion to `llvm`
    (`lowering.llvm.interface.module_interface`). Raises BackendError for code that LLVM rejects,
    ValueError for a constant without data.
    """
    code = compile_llvm(llvm_module, target, opt_level)
    return link_executable(functions, constants, [code])


def link_executable(
    functions: Iterable[FunctionSpec],
    constants: Iterable[TensorData],
    parts: Sequence[MachineCode],
    kernels: int = 0,
    load: LoadSpec | None = None,
) -> Executable:
    """The executable of a module's parts, which may call each other.

    `attributes` of the result hold the target, the number of kernels and the LLVM IR as text;
    optimized IR and assembly are functions without arguments, which compute them when called.
    """
    library = join_libraries([part.library for part in parts])
    llvm_ir = "\n".join(part.llvm_ir for part in parts)
    attributes = {**attributes_of(library, llvm_ir), "kernels": kernels}
    tensors = [stored_tensor(c.values, c.dtype) for c in constants]
    return Executable(functions, library, tensors, attributes, load)


def attributes_of(library: Library, llvm_ir: str) -> dict[str, Any]:
    """The attributes of an executable: its target, kernels and IR."""
    return {
        "target": str(library.target),
        "llvm_ir": llvm_ir,
        "optimized_llvm_ir": library.optimized_ir,
        "assembly": library.assembly,
    }
