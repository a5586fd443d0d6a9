"""Names the first pass of a pipeline that changes a result, by running the module after each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from ..dialects import get_context, loops, relax, rt, tir
from ..dialects.attributes import PRECISION
from ..dialects.dtypes import is_float
from ..dialects.int_expr import sym
from .arguments import flatten
from .compare import as_float64, mismatch, rounding_noise
from .evaluate import Outcome, is_scalar, parameters, run
from .inputs import copy_arguments, draw_arguments, draw_symbols
from .session import Registry
from .values import Array, EvaluationError

MachineCode: TypeAlias = Callable[[str, list[Any]], Sequence[Array]]
"""Runs a function of the finished module: name and arguments to results; may write in place."""

INTEGER_RANGES = ((-4, 5), (0, 2), (1, 2), (0, 1))
"""Ranges for random integers, tried until the given module has a meaning (no wrong index)."""

SIZES = (5, 40)
"""Largest value of a symbol in each sample: small shapes, then ones longer than a vector."""

FUNCTIONS = (relax.FuncOp, rt.FuncOp, tir.PrimFuncOp, loops.FuncOp)

_CALLS = (
    relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallDPSPackedOp | relax.CallOp | rt.CallDPSOp
)


class CheckError(Exception):
    """A pass changed what a function computes or left bad IR; one line that names the pass."""


@dataclass(frozen=True)
class _Case:
    """One function on one set of arguments, and what it must compute."""

    function: str
    symbols: dict[str, int]
    args: list[Any]
    exact: Outcome
    wide: Outcome
    names: tuple[str, ...]
    entered: tuple[bool, ...]
    """Which arguments users pass: not the indices that the shapes of buffers determine."""


def check_pipeline(
    module: ModuleOp,
    passes: Sequence[tuple[str, ModulePass]],
    *,
    functions: Sequence[str] | None = None,
    seed: int = 0,
    registry: Registry | None = None,
    context: Context | None = None,
    machine_code: MachineCode | None = None,
    before: Sequence[tuple[str, ModuleOp]] = (),
    on_checked: Callable[[str], None] | None = None,
) -> ModuleOp:
    """Run the passes on a copy of the module, checking each; returns the copy at the end.

    Every function of `functions` (by default the public ones: graph functions that are not private,
    and kernels that no other function calls) gets random arguments, the same at every stage. The
    result of each stage is compared with a float64 run of the given module, within the bound of
    `compare` plus four times the error that the given module itself has; integers must be equal.
    Once a pass has made `llvm` functions, results are compared through `machine_code` alone, after
    the last pass. `before` are the modules that the given one was made of, the first as it was and
    each other one after what is named; then results are compared with those of the first.
    Where a pass changes the precision that the module asks for, results are compared with those
    after it. `on_checked` is called with the name of each pass that leaves results as they are.

    Raises CheckError naming the first pass that changes a result, drops a function, or leaves IR
    that does not verify.
    """
    names = public_functions(module) if functions is None else list(functions)
    start = before[0][1] if before else module
    cases = [case for name in names for case in _cases(start, name, seed, registry)]
    for label, step in before[1:]:
        for case in cases:
            _compare(label, case, _outcome(label, step, case, registry))
    current, ctx = module.clone(), context or get_context()
    for name, pass_ in passes:
        rounds = PRECISION in current.attributes
        _apply(name, pass_, ctx, current)
        if rounds and PRECISION not in current.attributes:  # results are now those of fewer bits
            cases = [case for name in names for case in _cases(current, name, seed, registry)]
        elif not _is_machine_level(current):
            for case in cases:
                label = f"pass '{name}'"
                _compare(label, case, _outcome(label, current, case, registry))
        if on_checked is not None:
            on_checked(name)
    if machine_code is not None:
        for case in cases:
            _compare_machine_code(case, machine_code)
    return current


def public_functions(module: ModuleOp) -> list[str]:
    """Graph functions that are not private, and kernels that no function of the module calls.

    Private kernels count only if there are no others, as passes may remove them.
    """
    called = {op.callee_name for op in module.walk() if isinstance(op, _CALLS)}
    found: list[str] = []
    hidden: list[str] = []
    for op in module.body.block.ops:
        if isinstance(op, relax.FuncOp | rt.FuncOp):
            found += [op.sym_name.data] if _is_entry(op) else []
        elif isinstance(op, tir.PrimFuncOp | loops.FuncOp) and op.sym_name.data not in called:
            is_private = isinstance(op, tir.PrimFuncOp) and op.attr("private") is not None
            (hidden if is_private else found).append(op.sym_name.data)
    return found or hidden


def _is_entry(op: relax.FuncOp | rt.FuncOp) -> bool:
    """Whether users call a function; one that returns a function is for the module alone."""
    if isinstance(op, rt.FuncOp):
        return op.is_entry
    return op.private is None and not isinstance(op.result_type, relax.FuncType)


def _function(module: ModuleOp, name: str) -> Operation | None:
    for op in module.body.block.ops:
        if isinstance(op, FUNCTIONS) and op.sym_name.data == name:
            return op
    return None


def _cases(module: ModuleOp, name: str, seed: int, registry: Registry | None) -> list[_Case]:
    op = _function(module, name)
    if op is None:
        raise CheckError(f"expected a function '{name}' in the module, got none")
    return [
        _case(module, op, name, np.random.default_rng([seed, i]), registry, n)
        for i, n in enumerate(SIZES)
    ]


def _case(
    module: ModuleOp,
    op: Operation,
    name: str,
    rng: np.random.Generator,
    registry: Registry | None,
    largest: int,
) -> _Case:
    failure: Exception | None = None
    attempts = [(integers, equal) for equal in (False, True) for integers in INTEGER_RANGES]
    for integers, equal in attempts:
        try:
            symbols = draw_symbols(op, rng, largest, equal)
            args = draw_arguments(op, rng, symbols, integers)
            exact, wide = (
                run(module, name, copy_arguments(args), registry=registry, float64=f, tracks=True)
                for f in (False, True)
            )
            names = tuple(n for n, _ in parameters(op))
            return _Case(name, symbols, args, exact, wide, names, _entered(op))
        except (EvaluationError, ValueError) as error:  # of a registered function
            failure = error
    raise CheckError(f"the module as given cannot be evaluated: {failure}")


def _entered(op: Operation) -> tuple[bool, ...]:
    types = [type_ for _, type_ in parameters(op)]
    dims = {d for t in types if isinstance(t, tir.BufferType) for d in t.dims}
    return tuple(not isinstance(t, IndexType) or sym(n) not in dims for n, t in parameters(op))


def _apply(name: str, pass_: ModulePass, ctx: Context, module: ModuleOp) -> None:
    try:
        pass_.apply(ctx, module)
    except DiagnosticException as error:
        raise CheckError(f"pass '{name}' failed: {_first_line(error)}") from error
    try:
        module.verify()
    except VerifyException as error:
        raise CheckError(
            f"pass '{name}' left IR that does not verify: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return next(
        (line for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__
    )


def _is_machine_level(module: ModuleOp) -> bool:
    return any(op.name == "llvm.func" for op in module.body.block.ops)


def _outcome(label: str, module: ModuleOp, case: _Case, registry: Registry | None) -> Outcome:
    op = _function(module, case.function)
    if op is None:
        raise CheckError(f"{label} dropped the function '{case.function}'")
    args, names = copy_arguments(case.args), [n for n, _ in parameters(op)]
    if len(names) < len(args):  # an entry finds index parameters in shapes
        given = dict(zip(case.names, args, strict=True))
        args = [given[n] for n in names]
    try:
        return run(module, case.function, args, registry=registry)
    except EvaluationError as error:
        raise CheckError(f"{label} breaks '{case.function}'{_where(case)}: {error}") from None


def _where(case: _Case) -> str:
    return f" ({', '.join(f'{n} = {v}' for n, v in case.symbols.items())})" if case.symbols else ""


def _compare(name: str, case: _Case, outcome: Outcome) -> None:
    for what, attribute in (("result", "results"), ("argument", "arguments")):
        _compare_all(name, case, what, getattr(outcome, attribute), attribute)


def _compare_all(name: str, case: _Case, what: str, found: Sequence[Array], attribute: str) -> None:
    exact, wide = getattr(case.exact, attribute), getattr(case.wide, attribute)
    dtypes: tuple[str, ...] = getattr(case.exact, f"{what}_dtypes")
    if len(found) != len(exact):
        raise CheckError(
            f"{name} gives '{case.function}' {len(found)} {attribute} instead of {len(exact)}"
        )
    for i, dtype in enumerate(dtypes):
        problem = _problem(found[i], exact[i], wide[i], dtype, case.wide.terms)
        if problem is not None:
            label = f"'{case.names[i]}'" if what == "argument" and i < len(case.names) else str(i)
            raise CheckError(
                f"{name} changes {what} {label} of '{case.function}'{_where(case)}: {problem}"
            )


def _problem(found: Array, exact: Array, wide: Array, dtype: str, terms: int) -> str | None:
    """Compare with the float64 run; with the exact run where that has other infinities or NaNs."""
    if not is_float(dtype) or mismatch(exact, exact, dtype, terms) is not None:
        return mismatch(found, exact, dtype, terms)
    native, ideal = as_float64(exact, dtype), as_float64(wide, dtype)
    usable = np.isfinite(native) == np.isfinite(ideal)
    noise = rounding_noise(native, ideal)
    return mismatch(found, ideal if usable.all() else native, dtype, terms, noise)


def _number(arg: Any) -> Any:
    """A scalar as users pass it; one of bfloat16 has no number of Python's and is an array."""
    return np.asarray(arg) if is_scalar(arg) else arg


def _arrays(values: Sequence[Any]) -> list[Any]:
    return [v for v in values if isinstance(v, np.ndarray)]


def _compare_machine_code(case: _Case, machine_code: MachineCode) -> None:
    copies = zip(copy_arguments(case.args), case.entered, strict=True)
    args = [_number(a) for a, is_entered in copies if is_entered]
    results = list(machine_code(case.function, args))
    _compare_all("the machine code", case, "result", results, "results")
    arrays = _arrays([a for arg in args for a in flatten(arg)])
    if len(arrays) == len(case.exact.arguments):
        _compare_all("the machine code", case, "argument", arrays, "arguments")
