"""One build of a module: what the cache has of it, its kernels by themselves, and all the rest.

Kernels leave the module when it is planned (`lowering.llvm.separate`): each becomes an object file,
which other modules with the same kernel use too. The graph functions become one more.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from .backend.build import MachineCode, compile_llvm, link_executable
from .backend.build_cache import BuildCache, KernelCode, build_cache, text_hash
from .backend.target import Target
from .dialects import get_context, tir
from .dialects.canonical_form import CanonicalForm
from .dialects.diagnostics import verify
from .dialects.relax.constant import TensorData
from .lowering.llvm.interface import module_interface
from .lowering.llvm.separate import (
    declare_kernel,
    export_kernel,
    kernel_symbol,
    separable_kernels,
)
from .lowering.verify_names import verify_packed_names
from .pipeline import PASSES, STAGE_NAMES, STAGES, run_stage
from .runtime.executable import Executable

_PLANNED = STAGE_NAMES.index("rt") + 1
"""The number of stages after which kernels are compiled apart from graph functions."""


def compile_module(module: ModuleOp, target: Target) -> Executable:
    """The executable of a module, which stays as it is.

    Raises Diagnostic, PassFailedException or ValueError with one line where it cannot be compiled.
    """
    verify_packed_names(module)
    passes = tuple(PASSES.get(name, name) for stage in STAGES for name in stage.passes)
    cache = build_cache(target, passes)
    entry = None if cache is None else cache.module(module)
    executable = None if entry is None else entry.load()
    if executable is None:
        executable, constants = Compilation(target, cache, get_context()).compile(module)
        if entry is not None:
            entry.store(executable, constants)
        if cache is not None:
            cache.trim()
    if target.is_host:  # code for another machine can be saved, and not be linked
        executable.link()
    return executable


@dataclass(frozen=True)
class Compilation:
    """The compilation of a module of which the cache has no more than some kernels."""

    target: Target
    cache: BuildCache | None
    context: Context

    def compile(self, module: ModuleOp) -> tuple[Executable, tuple[TensorData, ...]]:
        """The executable of a module, and its constants."""
        lowered = module.clone()
        verify(lowered)
        for stage in STAGES[:_PLANNED]:
            run_stage(lowered, stage, self.context, str(self.target))
        parts = self._take_kernels(lowered)
        for stage in STAGES[_PLANNED:-1]:
            run_stage(lowered, stage, self.context, str(self.target))
        interface = module_interface(lowered)
        run_stage(lowered, STAGES[-1], self.context, str(self.target))
        parts.append(compile_llvm(lowered, self.target))
        executable = link_executable(
            interface.functions, interface.constants, parts, interface.kernels
        )
        return executable, interface.constants

    def _take_kernels(self, module: ModuleOp) -> list[MachineCode]:
        """Machine code of the kernels that can be compiled alone, which leaves declarations."""
        found: dict[str, KernelCode] = {}
        for func in separable_kernels(module):
            form = CanonicalForm(func, map_free_vars=True, compare_name=False)
            key = text_hash(*map(repr, form.program))
            if key not in found:
                found[key] = self._kernel(func, key)
            declare_kernel(func, found[key].symbol)
        return [kernel.code for kernel in found.values()]

    def _kernel(self, func: tir.PrimFuncOp, key: str) -> KernelCode:
        known = None if self.cache is None else self.cache.kernel(key)
        if known is not None:
            return known
        name = func.sym_name.data
        kernel = KernelCode(symbol := kernel_symbol(name, key), self._compile_kernel(func, symbol))
        if self.cache is not None:
            self.cache.keep_kernel(key, kernel)
        return kernel

    def _compile_kernel(self, func: tir.PrimFuncOp, symbol: str) -> MachineCode:
        module = ModuleOp([func.clone()])
        for stage in STAGES[_PLANNED:]:
            run_stage(module, stage, self.context, str(self.target))
        export_kernel(module, func.sym_name.data, symbol)
        return compile_llvm(module, self.target)
