"""Programs compiled with schedules and without, run, and compared with the reference in f64."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np
from drawn_programs import Program

from xrelax import relax
from xrelax.dialects import tir
from xrelax.inspection import module_of
from xrelax.lowering.schedule import default
from xrelax.lowering.schedule.primitives.schedule import Schedule
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

HEAD = "from xrelax.script import ir as I, relax as R\n@I.ir_module\nclass M:\n"
SLACK = 24
"""Roundings of an element that is the sum of nothing: functions of floats, and what follows."""

STRIDED = 0.1
"""How many arrays have gaps between their elements."""

Values = dict[str, dict[str, np.ndarray]]
"""For each program its arrays by name."""


class Unit:
    """Programs as one module, in which operands that are constant are bound to whole numbers."""

    def __init__(self, programs: Sequence[Program], seed: int = 0):
        self.programs = {p.name: p for p in programs}
        self.rng = np.random.default_rng(seed)
        lines = "\n".join(p.text for p in programs).splitlines()
        self.unbound = from_source(HEAD + "\n".join(f"    {line}" for line in lines))
        self.module, self.constants = self.unbound, {}
        for p in programs:
            bound = {o.name: o.whole_numbers(self.rng) for o in p.operands if o.is_constant}
            self.constants[p.name] = bound
            if bound:
                self.module = relax.transform.BindParams(p.name, bound)(self.module)

    def build(self, target: str) -> relax.Executable:
        return relax.build(self.module, target=target)

    def values(self, are_whole: bool) -> Values:
        """Arrays for all operands of all programs."""
        found: Values = {}
        for p in self.programs.values():
            free = [o for o in p.operands if not o.is_constant]
            own = {o.name: o.whole_numbers(self.rng) for o in free if are_whole}
            own = own or {o.name: o.numbers(self.rng) for o in free}
            own = {n: strided(a) if self.rng.random() < STRIDED else a for n, a in own.items()}
            found[p.name] = {o.name: (self.constants[p.name] | own)[o.name] for o in p.operands}
        return found

    def results(self, code: relax.Executable, values: Values) -> dict[str, np.ndarray]:
        """What machine code makes of arrays."""
        found: dict[str, np.ndarray] = {}
        for name, p in self.programs.items():
            given = [values[name][o.name] for o in p.operands if not o.is_constant]
            found[name] = code[name](*given).numpy().copy()
        return found

    def difference(
        self, name: str, values: Values, found: np.ndarray, are_whole: bool
    ) -> str | None:
        """What is wrong with the result of a program, if anything is."""
        program, given = self.programs[name], list(values[name].values())
        exact = self._reference(name, given)
        if found.shape != exact.shape:
            return f"expected shape {exact.shape}, got {found.shape}"
        if found.dtype.kind != "f" or (program.is_exact and are_whole):
            with np.errstate(over="ignore"):
                wrong = found != exact.astype(found.dtype)
        else:
            wrong = ~(np.abs(found - exact) <= self._bound(name, given, exact, found.dtype))
        if not wrong.any():
            return None
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        return f"{int(wrong.sum())} of {wrong.size} at {at}: expected {exact[at]}, got {found[at]}"

    def _reference(self, name: str, given: Sequence[np.ndarray]) -> np.ndarray:
        with np.errstate(all="ignore"):
            return evaluate(module_of(self.unbound), name, given, float64=True)[0]

    def _bound(
        self, name: str, given: Sequence[np.ndarray], exact: np.ndarray, dtype: np.dtype
    ) -> np.ndarray:
        """How far from the exact result sums may be: an epsilon or underflow for each rounding.

        That is of the sum of magnitudes (Higham, Accuracy and Stability of Numerical Algorithms,
        2002, 3.1, with twice the half of an epsilon); of the largest value where there is more than
        sums of products.
        """
        program = self.programs[name]
        if program.is_exact:
            scale, roundings = (
                self._reference(name, [np.asarray(abs(a)) for a in given]),
                program.terms,
            )
        else:
            scale, roundings = max(1.0, np.abs(exact).max(initial=0)), program.terms + SLACK
        info = np.finfo(dtype)
        return roundings * (float(info.eps) * np.abs(scale) + float(info.smallest_subnormal))


def strided(array: np.ndarray) -> np.ndarray:
    """The same values, every other one of a larger array."""
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array


@contextmanager
def without_rules() -> Generator[None]:
    """Kernels keep the loops that they are written with."""
    before, default.RULES = default.RULES, {}
    try:
        yield
    finally:
        default.RULES = before


@contextmanager
def watched_rules() -> Generator[dict[str, set[str]]]:
    """The names of the PrimFuncs that each rule has changed."""
    fired: dict[str, set[str]] = defaultdict(set)
    before = default.RULES

    def watch(name: str, rule: default.Rule) -> default.Rule:
        def apply(sch: Schedule, function: tir.PrimFuncOp, target: default.Target) -> None:
            text = str(function)
            rule(sch, function, target)
            if str(function) != text:
                fired[name].add(function.sym_name.data)

        return apply

    default.RULES = {name: watch(name, rule) for name, rule in before.items()}
    try:
        yield fired
    finally:
        default.RULES = before
