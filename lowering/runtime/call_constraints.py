"""Shape conditions of calls that only run time can decide become checks of the arguments.

A function that passes ``x: (1, m)`` and ``w: (n, p)`` to a kernel that wants ``(1, k)`` and ``(j,
k)`` works only where p is m. Every call of a straight-line function runs, so the function asks for
``w: (n, m)``: the checks of its arguments then decide at entry, with the user's names, and the
kernels stay within bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from ...dialects import relax
from ..equations import Equation, always_differ, solve
from ..substitute import substitute_symbols
from ..verify_calls import unify_call


def impose_call_constraints(func: relax.FuncOp, functions: Mapping[str, Operation]) -> None:
    """Replace symbols of the function, in place, until its types imply what its calls need.

    The functions that it calls must have been treated before. Raises PassFailedException with one
    line for a condition that cannot hold, and for one that does not determine a symbol.
    """
    while (found := _first_undecided(func, functions)) is not None:
        callee, equation = found
        solution = solve(equation.expected, equation.actual, func.declared_symbols())
        if solution is None:
            verdict = (
                "is never" if always_differ(equation.expected, equation.actual) else "may not be"
            )
            raise PassFailedException(
                f"call of '{callee}' in '{func.sym_name.data}': {equation.actual} "
                f"of {equation.subject} {verdict} {equation.expected}"
            )
        substitute_symbols(func, dict([solution]))


def _first_undecided(
    func: relax.FuncOp, functions: Mapping[str, Operation]
) -> tuple[str, Equation] | None:
    for op in func.walk():
        unified = unify_call(op, functions)
        if (
            unified is not None
            and unified.undecided
            and isinstance(op, relax.CallTIROp | relax.CallOp)
        ):
            return op.callee_name, unified.undecided[0]
    return None
