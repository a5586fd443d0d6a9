"""Tables: how the scalar operations of `arith` and `math` are spelled in TVMScript."""

from __future__ import annotations

from typing import NamedTuple

OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, ADD, MULTIPLY, UNARY, PRIMARY = range(12)
"""Python's precedences, from loose to tight."""


class Text(NamedTuple):
    """An expression and how tightly its outermost operator binds."""

    text: str
    precedence: int = PRIMARY

    def within(self, precedence: int) -> str:
        """The text, in parentheses where an operand has to bind at least this tightly."""
        return self.text if self.precedence >= precedence else f"({self.text})"


BINARY: dict[str, tuple[str, int]] = {
    "arith.addf": ("+", ADD),
    "arith.addi": ("+", ADD),
    "arith.subf": ("-", ADD),
    "arith.subi": ("-", ADD),
    "arith.mulf": ("*", MULTIPLY),
    "arith.muli": ("*", MULTIPLY),
    "arith.divf": ("/", MULTIPLY),
    "arith.floordivsi": ("//", MULTIPLY),
    "arith.divui": ("//", MULTIPLY),
    "arith.remui": ("%", MULTIPLY),
    "arith.andi": ("&", BIT_AND),
    "arith.ori": ("|", BIT_OR),
    "arith.xori": ("^", BIT_XOR),
    "arith.shli": ("<<", SHIFT),
    "arith.shrsi": (">>", SHIFT),
    "arith.shrui": (">>", SHIFT),
}
BOOLEAN: dict[str, tuple[str, int, str]] = {
    "arith.andi": ("and", AND, "T.And"),
    "arith.ori": ("or", OR, "T.Or"),
}
"""On bools: Python's operator, which guards its right side, and the function that does not."""
CALLS: dict[str, str] = {
    "arith.divsi": "T.truncdiv",
    "arith.remf": "T.fmod",
    "arith.remsi": "T.truncmod",
    "arith.maximumf": "T.max",
    "arith.maxsi": "T.max",
    "arith.maxui": "T.max",
    "arith.minimumf": "T.min",
    "arith.minsi": "T.min",
    "arith.minui": "T.min",
    "arith.select": "T.Select",
    "math.absf": "T.abs",
    "math.absi": "T.abs",
    "math.ctlz": "T.clz",
    "math.ctpop": "T.popcount",
    "math.ipowi": "T.power",
    "math.powf": "T.pow",
    "math.roundeven": "T.nearbyint",
    **{
        f"math.{name}": f"T.{name}"
        for name in (
            "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign",
            "cos", "cosh", "erf", "exp", "exp2", "expm1", "floor", "fma", "log", "log10", "log1p",
            "log2", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
        )
    },
}  # fmt: skip
CASTS = frozenset(
    f"arith.{name}"
    for name in (
        "extf", "truncf", "extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "fptoui",
        "index_cast",
    )
)  # fmt: skip
INTEGER_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
"""By the number of an `arith.cmpi` predicate."""
FLOAT_COMPARISONS = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
"""By the number of an `arith.cmpf` predicate; as in Python, NaN is unequal to all."""
NEGATED_FLOAT_COMPARISONS = {9: "<=", 10: "<", 11: ">=", 12: ">"}
"""Unordered comparisons, which are the negation of an ordered one."""
