"""Building a module: to an executable, with its parameters bound and its passes checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

from .backend.target import HOST
from .dialects.attributes import PRECISION
from .inspection import module_of, with_deep_stack, without_collector
from .pipeline import STAGES, make_pass

if TYPE_CHECKING:
    from .backend.target import Target
    from .ir.base_function import BaseFunc, History
    from .ir.module import IRModule
    from .runtime.executable import Executable


_PRECISIONS = {"f32": None, "bf16": "bfloat16", "f16": "float16"}
"""The dtypes of contractions by the names of precisions."""


def build(
    mod: IRModule | BaseFunc | ModuleOp,
    target: str | Mapping[str, Any] | Target | None = None,
    params: Mapping[str, Any] | None = None,
    *,
    relax_pipeline: Any = None,
    check: bool = False,
    precision: str = "f32",
    exec_mode: str = "compiled",
    dump_schedules: str | Path | None = None,
) -> Executable:
    """Compile a module, or one function, for a target; TVM's ``relax.build`` and ``tvm.compile``.

    Without a `target` it is the one of the ``with Target(…):`` around, else "llvm". The passes
    `relax_pipeline`, by name or as `relax.get_pipeline` returns them, run first. `params` are bound
    to parameters of "main" by name.

    With a `precision` of "bf16" or "f16", linear layers, matmuls by a matrix and convolutions of
    float32 take operands of these bits and sum in float32; weights are rounded once, and everything
    else stays in float32. With `check` every pass is run against the reference evaluator on random
    inputs, and CheckError names the first one that changes a result; for the module of a
    ``tir.Schedule`` that starts at the module before, with the primitives. `exec_mode` may be
    "compiled" or TVM's "bytecode", and always means native code. Into the folder `dump_schedules`
    goes a script for each kernel, NAME.py, with its default schedule.

    Raises Diagnostic, PassFailedException or ValueError with one line where it cannot be compiled.
    """
    if exec_mode not in ("compiled", "bytecode"):
        raise ValueError(f"expected exec_mode 'compiled' or 'bytecode', got '{exec_mode}'")
    dtype = _contraction_dtype(precision)
    from .backend.target import Target

    module, resolved = module_of(mod), Target(target or Target.current() or HOST)
    module = _bound(module, params)
    before = [(n, _bound(step, params)) for n, step in _steps_before(mod)] if check else []
    if relax_pipeline is not None:
        module = _transformed(module, relax_pipeline)
    if dtype is not None:
        module = _with_precision(module, dtype)
    executable = with_deep_stack(module, lambda: _compile(module, resolved))
    inspect_with(executable, module.clone(), resolved)
    if dump_schedules is not None:
        from .schedules import write_schedules

        write_schedules(module, dump_schedules, str(resolved))
    if check:
        check_module(module, executable, str(resolved), before)
    return executable


def _contraction_dtype(precision: str) -> str | None:
    """The dtype that operands of contractions are rounded to, if any."""
    if precision not in _PRECISIONS:
        expected = ", ".join(f"'{p}'" for p in _PRECISIONS)
        raise ValueError(f"expected precision {expected}, got '{precision}'")
    return _PRECISIONS[precision]


def inspect_with(executable: Executable, module: ModuleOp, target: Target) -> None:
    """Let an executable be profiled and debugged by the module that it was compiled from."""
    from .debugging.debugger import Debugger
    from .inspection import CodeInspector
    from .profiling.profiler import Profiler

    executable.profiler = Profiler(module, target)
    executable.debugger = Debugger(module, target)
    executable.inspector = CodeInspector(module, target)


def _bound(module: ModuleOp, params: Mapping[str, Any] | None) -> ModuleOp:
    """A copy in which parameters of "main" have values; the module itself if none are given."""
    if not params:
        return module
    from .ir.module import IRModule
    from .relax.transform import BindParams

    return BindParams("main", params)(IRModule(module)).op


def _transformed(module: ModuleOp, pipeline: Any) -> ModuleOp:
    """A copy on which the passes of a pipeline have run."""
    from .ir.module import IRModule
    from .ir.transform import as_pass
    from .relax.pipelines import get_pipeline

    passes = get_pipeline(pipeline) if isinstance(pipeline, str) else as_pass(pipeline)
    return passes(IRModule(module)).op


def _with_precision(module: ModuleOp, dtype: str) -> ModuleOp:
    """A copy whose contractions round their operands to a dtype."""
    module = module.clone()
    module.attributes[PRECISION] = StringAttr(dtype)
    return module


def _steps_before(mod: IRModule | BaseFunc | ModuleOp) -> list[tuple[str, ModuleOp]]:
    """The modules that a module was made of by schedules, unless it was changed otherwise since."""
    from .dialects.diagnostics import Diagnostic
    from .lowering.canonical_form import CanonicalForm

    history: History | None = getattr(mod, "history", None)
    if history is None:
        return []
    try:
        made = list(history.steps())
    except Diagnostic:  # a primitive that does not apply: the trace is not what was done
        return []
    forms = [CanonicalForm(m, False).program for m in (made[-1][1], module_of(mod))] if made else []
    if not made or forms[0] != forms[1]:
        return []
    before = _steps_before(history.original) or [("", history.original.op)]
    steps = [*before, *made]
    return steps[max(i for i, (name, _) in enumerate(steps) if not name) :]


def _compile(module: ModuleOp, target: Target) -> Executable:
    from .compilation import compile_module

    with without_collector():
        return compile_module(module, target)


def check_module(
    module: ModuleOp,
    executable: Executable | None = None,
    target: str = HOST,
    before: Sequence[tuple[str, ModuleOp]] = (),
) -> None:
    """Compare each function's results before and after every pass, then those of the machine code.

    `before` are the modules that this one was made of, as for `check_pipeline`.

    Raises CheckError with the name of the first pass that changes a result.
    """
    from .reference.check import check_pipeline
    from .reference.inputs import array_functions

    last = len(STAGES) if executable is not None else -1
    passes = [(n, make_pass(n, target)) for stage in STAGES[:last] for n in stage.passes]
    run = None if executable is None else _machine_code(executable)
    check_pipeline(module, passes, registry=array_functions(), machine_code=run, before=before)


def _machine_code(executable: Executable) -> Callable[[str, list[Any]], list[Any]]:
    """Functions of an executable on NumPy arrays, in which bfloat16 is held as its 16 bits."""
    from .runtime.callback import without_prints
    from .runtime.structure import result_arrays, tensors_over

    def run(function: str, args: list[Any]) -> list[Any]:
        callee = executable[function]
        with without_prints():
            return result_arrays(callee.spec, callee(*tensors_over(callee.spec, args)))

    return run
