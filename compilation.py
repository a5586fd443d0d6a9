"""One build of a module: what the cache has of it, its kernels by themselves, and all the rest.

Kernels leave the module when it is planned (`lowering.llvm.separate`): each becomes an object file,
which other modules with the same kernel use too. The graph functions become one more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from .backend.build import MachineCode, compile_llvm, link_executable
from .backend.build_cache import BuildCache, KernelCode, build_cache
from .backend.build_key import text_hash
from .backend.jit import Library
from .backend.jit import compile_module as compile_llvm_text
from .backend.target import Target
from .dialects import get_context, tir
from .dialects.diagnostics import verify
from .dialects.relax.constant import TensorData
from .lowering.canonical_form import CanonicalForm
from .lowering.functions import functions_by_name
from .lowering.llvm.interface import module_interface
from .lowering.llvm.separate import (
    declare_kernel,
    export_kernel,
    kernel_symbol,
    separable_kernels,
)
from .lowering.runtime.kernel_entries import KERNEL_SUFFIX
from .lowering.verify_calls import verify_packed_names
from .pipeline import (
    PASSES,
    STAGE_NAMES,
    STAGES,
    Observer,
    enabled_passes,
    run_passes,
    run_stage,
)
from .runtime.call_words import ENTRY_SYMBOL
from .runtime.executable import Executable
from .runtime.python_calls.entry import python_calls_ir

_PLANNED = STAGE_NAMES.index("rt") + 1
"""The number of stages after which kernels are compiled apart from graph functions."""


def compile_module(module: ModuleOp, target: Target) -> Executable:
    """The executable of a module, which is unchanged.

    Raises Diagnostic, PassFailedException or ValueError with one line where it cannot be compiled.
    """
    verify_packed_names(module)
    cache = cached_builds(target)
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


def cached_builds(target: Target) -> BuildCache | None:
    """The cache of builds by the passes of the pipeline; `None` if caching is off."""
    passes = tuple(PASSES.get(name, name) for stage in STAGES for name in enabled_passes(stage))
    return build_cache(target, passes)


@dataclass(frozen=True)
class Compilation:
    """The compilation of a module of which the cache has no more than some kernels."""

    target: Target
    cache: BuildCache | None
    context: Context
    debug_info: bool = False
    """Whether code knows the source lines that it comes from; the cache does not."""

    def compile(self, module: ModuleOp) -> tuple[Executable, tuple[TensorData, ...]]:
        """The executable of a module, and its constants."""
        planned = self.plan(module)
        return self.finish(planned, self.take_kernels(planned).values())

    def plan(self, module: ModuleOp, observe: Observer | None = None) -> ModuleOp:
        """A copy of a module with scheduled kernels and planned memory.

        It is verified before and afterwards; `lower_to` verifies each stage, which takes longer.
        """
        planned = module.clone()
        verify(planned)
        for stage in STAGES[:_PLANNED]:
            run_passes(planned, stage, self.context, str(self.target), observe)
        verify(planned)
        return planned

    def take_kernels(self, planned: ModuleOp, uncalled: bool = False) -> dict[str, KernelCode]:
        """Machine code, by name, of the kernels that can be compiled alone.

        The module keeps declarations. Kernels that are equal have one symbol and one code.
        """
        found: dict[str, KernelCode] = {}
        names: dict[str, KernelCode] = {}
        for func in separable_kernels(planned, uncalled):
            form = CanonicalForm(func, True, compare_name=False, compare_blocks=False)
            key = text_hash(*map(repr, form.program))
            if key not in found:
                found[key] = self._kernel(func, key)
            names[func.sym_name.data] = found[key]
            declare_kernel(func, found[key].symbol)
        return names

    def finish(
        self, planned: ModuleOp, kernels: Iterable[KernelCode]
    ) -> tuple[Executable, tuple[TensorData, ...]]:
        """The executable of a planned module, which is lowered in place, and its constants."""
        for stage in STAGES[_PLANNED:-1]:
            run_stage(planned, stage, self.context, str(self.target))
        interface = module_interface(planned)
        self._to_llvm(planned)
        parts = list({kernel.symbol: kernel.code for kernel in kernels}.values())
        parts.append(compile_llvm(planned, self.target))
        parts.append(self._python_entry())
        executable = link_executable(
            interface.functions, interface.constants, parts, interface.kernels, interface.load
        )
        return executable, interface.constants

    def _python_entry(self) -> MachineCode:
        """The function by which Python calls all others; the texts of a module do not show it."""
        known = None if self.cache is None else self.cache.kernel(ENTRY_SYMBOL)
        code = _compiled_entry(self.target) if known is None else known.code
        if known is None and self.cache is not None:
            self.cache.keep_kernel(ENTRY_SYMBOL, KernelCode(ENTRY_SYMBOL, code))
        return MachineCode("", Library(code.library.objects, self.target))

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
        for stage in STAGES[_PLANNED:-1]:
            run_stage(module, stage, self.context, str(self.target))
        self._to_llvm(module)
        export_kernel(module, func.sym_name.data, symbol)
        return compile_llvm(module, self.target, debug_info=self.debug_info)

    def _to_llvm(self, module: ModuleOp) -> None:
        """The last stage; LLVM verifies its result when it compiles it."""
        run_passes(module, STAGES[-1], self.context, str(self.target))


@cache
def _compiled_entry(target: Target) -> MachineCode:
    text = python_calls_ir()  # small functions without loops
    return MachineCode(text, compile_llvm_text(text, target, opt_level=1, is_explicit=True))


def code_text(module: ModuleOp, target: Target, form: str, function: str | None = None) -> str:
    """What LLVM makes of a module: "llvm-opt", its IR after optimization, or "asm", assembly.

    Kernels come first, each compiled by itself as in a build, then the graph functions, which are
    one object. With `function` only the kernel of that name, or the object of that graph function.
    Raises ValueError for a name that the planned module does not have.
    """
    parts = code_parts(module, target, function)
    return "\n".join(part_text(part, form) for part in parts.values())


def code_parts(
    module: ModuleOp, target: Target, function: str | None = None, *, debug_info: bool = False
) -> dict[str, Library]:
    """The objects that a module is compiled to, by the names of their functions.

    They are in the order of `code_text`, which says what is in them, and raises what this raises.
    """
    compilation = Compilation(target, None, get_context(), debug_info)
    planned = compilation.plan(module)
    names = functions_by_name(planned)
    if function is not None and function not in names:
        raise ValueError(f"expected a function ({', '.join(names)}), got '{function}'")
    kernels = compilation.take_kernels(planned, uncalled=True)
    wanted = [n for n in (f"{function}{KERNEL_SUFFIX}", function) if n in kernels]
    shown = wanted[:1] if function is not None else [*kernels]
    parts: dict[str, Library] = {}
    for name in shown:
        if all(kernels[name].code.library is not part for part in parts.values()):
            parts[name] = kernels[name].code.library
    if not wanted and (rest := [name for name in names if name not in kernels]):
        parts[", ".join(rest)] = _lowered_code(compilation, planned)
    return parts


def part_text(part: Library, form: str) -> str:
    """An object as "llvm-opt", LLVM's IR after optimization, or "asm", assembly."""
    return part.optimized_ir() if form == "llvm-opt" else part.assembly()


def _lowered_code(compilation: Compilation, planned: ModuleOp) -> Library:
    for stage in STAGES[_PLANNED:]:
        run_stage(planned, stage, compilation.context, str(compilation.target))
    return compile_llvm(planned, compilation.target, debug_info=compilation.debug_info).library
