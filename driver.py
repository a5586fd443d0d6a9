"""Running the pipeline: from a module to the IR of any stage, and to an executable."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .dialects import get_context
from .dialects.diagnostics import verify
from .dialects.nesting import SAFE_DEPTH, depth_of, on_deep_stack
from .pipeline import CODE_NAMES, HOST, STAGE_NAMES, STAGES, Observer, make_pass, run_stage

if TYPE_CHECKING:
    from .backend.target import Target
    from .ir.function import BaseFunc
    from .ir.module import IRModule
    from .runtime.executable import Executable

Result = TypeVar("Result")


@contextmanager
def _without_collector() -> Generator[None]:
    """A compile makes many small objects that live on: the collector only costs time meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _with_room(module: ModuleOp, work: Callable[[], Result]) -> Result:
    """Run `work`, on a deep stack where the module's regions are nested deeply."""
    return on_deep_stack(work) if depth_of(module) > SAFE_DEPTH else work()


def lower_to(
    module: ModuleOp, stage: str, observe: Observer | None = None, target: str = HOST
) -> ModuleOp:
    """A copy of the module at a stage, for a target; raises ValueError for an unknown stage."""
    if stage not in STAGE_NAMES:
        known = ", ".join((*STAGE_NAMES, *CODE_NAMES))
        raise ValueError(f"expected a stage ({known}), got '{stage}'")

    def lower() -> ModuleOp:
        context = get_context()
        copy = module.clone()
        verify(copy)
        with _without_collector():
            for step in STAGES[: STAGE_NAMES.index(stage) + 1]:
                run_stage(copy, step, context, target, observe)
        return copy

    return _with_room(module, lower)


def stages(mod: IRModule | BaseFunc) -> list[tuple[str, str]]:
    """The text of a module, or of one function, at every stage of the pipeline, in order."""
    module = module_of(mod)

    def texts() -> list[tuple[str, str]]:
        context, current = get_context(), module.clone()
        found: list[tuple[str, str]] = []
        for stage in STAGES:
            run_stage(current, stage, context)
            found.append((stage.name, str(current)))
        return found

    return _with_room(module, texts)


def stage_text(
    mod: IRModule | BaseFunc,
    stage: str,
    target: str | Mapping[str, Any] | Target = HOST,
    function: str | None = None,
) -> str:
    """The IR of a module or function at one stage, or what LLVM makes of it, for a target.

    "llvm-opt" is LLVM's IR after optimisation and "asm" assembly, of each kernel by itself. With
    `function` only that function. Raises ValueError for an unknown stage or function.
    """
    from .backend.target import Target

    module, resolved = module_of(mod), Target(target)

    def text() -> str:
        if stage in CODE_NAMES:
            from .compilation import code_text

            with _without_collector():
                return code_text(module, resolved, stage, function)
        lowered = lower_to(module, stage, target=str(resolved))
        return str(lowered if function is None else _function_of(lowered, function))

    return _with_room(module, text)


def _function_of(module: ModuleOp, name: str) -> Operation:
    from .lowering.functions import functions_by_name

    functions = functions_by_name(module)
    if name not in functions:
        raise ValueError(f"expected a function ({', '.join(functions)}), got '{name}'")
    return functions[name]


def build(
    mod: IRModule | BaseFunc | ModuleOp,
    target: str | Mapping[str, Any] | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    *,
    check: bool = False,
    exec_mode: str = "compiled",
) -> Executable:
    """Compile a module, or one function, for a target; TVM's ``relax.build`` and ``tvm.compile``.

    `params` are bound to parameters of "main" by name. With `check` every pass is run against the
    reference evaluator on random inputs, and CheckError names the first one that changes a result.
    `exec_mode` may be "compiled" or TVM's "bytecode", and always means native code. Raises
    Diagnostic, PassFailedException or ValueError with one line where it cannot be compiled.
    """
    if exec_mode not in ("compiled", "bytecode"):
        raise ValueError(f"expected exec_mode 'compiled' or 'bytecode', got '{exec_mode}'")
    from .backend.target import Target
    from .profiling.profiler import Profiler

    module, resolved = module_of(mod), Target(target)
    if params:
        from .ir.module import IRModule
        from .relax.transform import BindParams

        module = BindParams("main", params)(IRModule(module)).op
    executable = _with_room(module, lambda: _compile(module, resolved))
    executable.profiler = Profiler(module.clone(), resolved)
    if check:
        check_module(module, executable, str(resolved))
    return executable


def _compile(module: ModuleOp, target: Target) -> Executable:
    from .compilation import compile_module

    with _without_collector():
        return compile_module(module, target)


def check_module(
    module: ModuleOp, executable: Executable | None = None, target: str = HOST
) -> None:
    """Compare each function's results before and after every pass, then those of the machine code.

    Raises CheckError with the name of the first pass that changes a result.
    """
    from .reference.check import check_pipeline

    last = len(STAGES) if executable is not None else -1
    passes = [(n, make_pass(n, target)) for stage in STAGES[:last] for n in stage.passes]
    run = None if executable is None else _machine_code(executable)
    check_pipeline(module, passes, registry=_array_functions(), machine_code=run)


def _machine_code(executable: Executable) -> Callable[[str, list[Any]], list[Any]]:
    """Functions of an executable on NumPy arrays, in which bfloat16 is held as its 16 bits."""
    from .runtime.packed_calls import without_prints
    from .runtime.structure import result_arrays
    from .runtime.tensor import Tensor, from_numpy

    def tensor(array: Any, dtype: str) -> Tensor:
        bits = from_numpy(array)
        return Tensor(bits.address, bits.layout._replace(dtype=dtype), array)

    def run(function: str, args: list[Any]) -> list[Any]:
        callee = executable[function]
        dtypes = iter([p.dtype for p in callee.spec.params])

        def value(arg: Any) -> Any:
            if isinstance(arg, tuple):
                return tuple(value(a) for a in cast("tuple[Any, ...]", arg))
            return tensor(arg, next(dtypes)) if hasattr(arg, "shape") else arg

        with without_prints():
            return result_arrays(callee.spec, callee(*map(value, args)))

    return run


def _array_functions() -> dict[str, Callable[..., Any]]:
    """The registered functions on NumPy arrays, which they see as Tensors on the same memory."""
    from .runtime.registry import registered_functions
    from .runtime.tensor import from_numpy

    def on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arrays: function(*(from_numpy(a) for a in arrays))

    return {name: on_arrays(function) for name, function in registered_functions().items()}


def module_of(mod: Any) -> ModuleOp:
    """The xDSL module of an `IRModule`, or one made of a function; raises TypeError for others."""
    from .ir.function import BaseFunc

    if isinstance(mod, ModuleOp):
        return mod
    if isinstance(mod, BaseFunc):
        return ModuleOp([mod.op.clone()])
    op = getattr(mod, "op", None)
    if isinstance(op, ModuleOp):
        return op
    raise TypeError(f"expected a module or a function to build, got {type(mod).__name__}")
