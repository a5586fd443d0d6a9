"""Shape conditions of calls that only run time can decide become checks.

A function that passes ``x: (1, m)`` and ``w: (n, p)`` to a kernel that wants ``(1, k)`` and ``(j,
k)`` works only where p is m. A call outside of branches always runs, so the function asks for ``w:
(n, m)``: the checks of its arguments then decide at entry, with the user's names, and the kernels
stay within bounds. A call in a branch, or one of a function that calls itself, gets a check of its
own before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.ir import Operation

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.nesting import enclosing
from ..equations import Equation, always_differ, solve
from ..substitute import substitute_symbols
from ..verify_calls import unify_call

_CALLS = (relax.CallTIROp, relax.CallTIRInplaceOp, relax.CallOp)


def impose_call_constraints(
    func: relax.FuncOp, functions: Mapping[str, Operation], recursive: Collection[str]
) -> None:
    """Replace symbols of the function, in place, until its types imply what its calls need.

    The functions that it calls must have been treated before, except for those of a circle of
    calls, `recursive`. Raises Diagnostic with one line for a condition that cannot hold,
    and for one that does not determine a symbol.
    """
    while (found := _first_undecided(func, functions, recursive)) is not None:
        call, equation = found
        solution = solve(equation.expected, equation.actual, func.declared_symbols())
        if solution is None:
            verdict = (
                "is never" if always_differ(equation.expected, equation.actual) else "may not be"
            )
            raise Diagnostic(
                f"call of '{call.callee_name}' in '{func.sym_name.data}': {equation.actual} "
                f"of {equation.subject} {verdict} {equation.expected}",
                call,
            )
        substitute_symbols(func, dict([solution]))


def _first_undecided(
    func: relax.FuncOp, functions: Mapping[str, Operation], recursive: Collection[str]
) -> tuple[relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallOp, Equation] | None:
    for op in func.walk():
        if not isinstance(op, _CALLS) or _is_in_branch(op):
            continue
        if op.callee_name in recursive:
            continue
        if (unified := unify_call(op, functions)) is not None and unified.undecided:
            return op, unified.undecided[0]
    return None


def _is_in_branch(op: Operation) -> bool:
    return enclosing(op, relax.IfOp) is not None
