"""The examples of operators: calls that the operators' tests draw, and what these compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import black
import numpy as np
from drawing import Draw
from harness import Case, Example, all_cases, graph_function
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr

from xrelax.dialects.dtypes import is_float
from xrelax.dialects.relax import OPERATORS, FuncOp
from xrelax.ir.function import function_view
from xrelax.reference.evaluate import evaluate

DTYPES = ("float32", "int32", "int64", "int8", "uint8", "bool", "uint32")
"""The dtypes to show, the first that an operator is tested with."""
DRAWN = 40
"""Calls to choose from."""
LARGEST = 9
"""Operands are at most this large, unless a case needs larger ones."""
SIZE = 6
"""Elements that the operands of a call have about."""


class PlainDraw(Draw):
    """Draws small operands of short numbers; special values only in every second call."""

    def __init__(self, operator: str, number: int, dtype: str):
        super().__init__(f"{operator} {number}", dtype)
        self.has_special = number % 2 == 1

    def size(self, least: int = 0) -> int:
        """A dim of 1 to 3, or the least."""
        return max(least, self.pick((1, 2, 2, 3, 3)))

    def shape(self, low: int = 0, high: int = 3, least: int = 0) -> tuple[int, ...]:
        """A shape of rank 0 to 2, or of the nearest rank."""
        lowest = low if self.chance(40) else max(low, min(1, high))
        return super().shape(lowest, min(high, max(low, 2)), least)

    def array(
        self,
        shape: Sequence[int],
        low: float = -3,
        high: float = 3,
        dtype: str | None = None,
        special: bool = False,
    ) -> np.ndarray[Any, Any]:
        """Values in ``[low, high]`` with one digit after the point, with two in short ranges."""
        if low < LARGEST and high > -LARGEST:
            low, high = max(low, -LARGEST), min(high, LARGEST)
        values = super().array(shape, low, high, dtype, special and self.has_special)
        if not is_float(dtype or self.dtype):
            return values
        short = np.clip(np.round(values, 1 if high - low > 2 else 2), low, high)
        return np.where(np.isfinite(values), short, values)


@dataclass(frozen=True)
class Call:
    """A function of one operator, with operands and results."""

    function: FuncOp
    operands: list[Any]
    results: list[Any]

    def values(self) -> list[str]:
        """Each operand and result as text."""
        names = [name.data for name in self.function.param_names] + ["result"] * len(self.results)
        arrays = [*self.operands, *self.results]
        return [f"{n} = {_text(a, n)}" for n, a in zip(names, arrays, strict=True)]

    def markdown(self) -> str:
        """The function and the values, as a section of a page."""
        script = function_view(self.function).script().splitlines()
        program = "\n".join(line for line in script if not line.startswith("#"))
        program = black.format_str(program.strip(), mode=black.Mode())
        values = "\n".join(self.values())
        return f"## Example\n\n```python\n{program}```\n\n```text\n{values}\n```\n"


def operator_examples() -> dict[str, str]:
    """A call of each operator that has tests, and what it computes."""
    return {name: example_of(case).markdown() for name, case in first_cases().items()}


def first_cases() -> dict[str, Case]:
    """The first case of the tests of each operator."""
    cases: dict[str, Case] = {}
    for case in all_cases():
        cases.setdefault(case.operator, case)
    return cases


def example_of(case: Case) -> Call:
    """The call of a case, of some that are drawn, that is easiest to read."""
    dtype = next(d for d in DTYPES if d in case.dtypes)
    return min((_drawn_call(case, number, dtype) for number in range(DRAWN)), key=_difficulty)


def _drawn_call(case: Case, number: int, dtype: str) -> Call:
    name = case.operator.rpartition(".")[2]
    drawn, attributes = case.draw(PlainDraw(case.operator, number, dtype))
    operands = [_short(np.asarray(a)) for a in drawn]
    function = graph_function(Example(case, dtype, name, operands, attributes, False))
    names = OPERATORS[case.operator].operand_names()
    if len(names) == len(operands):
        function.properties["param_names"] = ArrayAttr([StringAttr(n) for n in names])
    results = evaluate(ModuleOp([function]), name, operands)
    return Call(function, operands, [np.asarray(r) for r in results])


def _difficulty(call: Call) -> tuple[int, ...]:
    """How little a call shows: small if it has few numbers, which are short and differ."""
    arrays = [*call.operands, *call.results]
    unusual = [np.count_nonzero(~np.isfinite(a) | ((a == 0) & np.signbit(a))) for a in arrays]
    totals = [sum(a.size for a in some) for some in (call.operands, call.results)]
    return (
        sum(a.size == 0 for a in arrays),
        any(_equal(a, r) for a in call.operands for r in call.results),
        all(len(np.unique(r)) == 1 for r in call.results),
        sum(unusual),
        sum(dtype in str(call.function) for dtype in ("f16", "bf16", "f64")),
        sum("e" in line.partition(" = ")[2] for line in call.values()),
        all(a.ndim == 0 for a in call.operands),
        len(call.operands) < 2,
        sum(map(_clamped, call.operands)),
        max(0, *(total - 4 * SIZE for total in totals)),
        sum(len(op.properties) for op in call.function.body.block.ops),
        max((a.ndim for a in call.operands), default=0),
        sum(a.ndim <= 2 and 1 in a.shape for a in arrays),
        abs(max(totals) - SIZE),
        min(totals),
    )


def _equal(operand: Any, result: Any) -> bool:
    return operand.shape == result.shape and np.array_equal(operand, result)


def _clamped(operand: Any) -> int:
    """How many elements are no indices of a dim of 3."""
    return np.count_nonzero((operand < -3) | (operand > 2)) if operand.dtype.kind in "iu" else 0


def _short(array: Any) -> Any:
    """Floats rounded to two digits, and to two after the point."""
    if array.dtype.kind != "f":
        return array
    short = [float(f"{round(float(value), 2) + 0.0:.2g}") for value in array.ravel()]
    return np.asarray(short, array.dtype).reshape(array.shape)


def _text(array: Any, name: str) -> str:
    return np.array2string(
        array,
        precision=4,
        threshold=24,
        edgeitems=3 if array.size <= 48 else 1,
        separator=", ",
        prefix=f"{name} = ",
    )
