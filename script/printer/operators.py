"""How scalar operations are spelled in TVMScript, and the signedness of integers in print."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.dtypes import dtype_name, is_unsigned
from ...dialects.python_text import ADD as ADD
from ...dialects.python_text import AND as AND
from ...dialects.python_text import BIT_AND as BIT_AND
from ...dialects.python_text import BIT_OR as BIT_OR
from ...dialects.python_text import BIT_XOR as BIT_XOR
from ...dialects.python_text import COMPARE as COMPARE
from ...dialects.python_text import MULTIPLY as MULTIPLY
from ...dialects.python_text import NOT as NOT
from ...dialects.python_text import OR as OR
from ...dialects.python_text import PRIMARY as PRIMARY
from ...dialects.python_text import SHIFT as SHIFT
from ...dialects.python_text import UNARY as UNARY
from ...dialects.python_text import Text as Text
from ...dialects.tir import BufferType, CallExternOp, CallIntrinOp, CallOp, LoadOp
from ...dialects.tir.scalar_ops import yielded

UNSIGNED_INPUT = frozenset(
    f"arith.{n}"
    for n in ("divui", "remui", "minui", "maxui", "shrui", "ceildivui", "extui", "uitofp")
)
SIGNED_INPUT = frozenset(
    f"arith.{n}"
    for n in (
        "divsi",
        "remsi",
        "floordivsi",
        "ceildivsi",
        "minsi",
        "maxsi",
        "shrsi",
        "extsi",
        "sitofp",
    )
) | {"math.absi"}
UNSIGNED_RESULT = UNSIGNED_INPUT - {"arith.extui", "arith.uitofp"} | {"arith.fptoui"}
SIGNED_RESULT = SIGNED_INPUT - {"arith.extsi", "arith.sitofp"} | {"arith.fptosi", "tir.dp4a"}
SAME_AS_INPUT = frozenset(
    f"arith.{n}" for n in ("addi", "subi", "muli", "andi", "ori", "xori", "shli", "select")
) | {"math.ctpop", "math.ctlz", "math.cttz", "math.ipowi"}

_UNSIGNED_PREDICATES = range(6, 10)
_SIGNED_PREDICATES = range(2, 6)


def input_sign(op: Operation) -> bool | None:
    """Whether the operation takes its operands as unsigned; `None` where it makes no difference."""
    if op.name in UNSIGNED_INPUT:
        return True
    if op.name in SIGNED_INPUT:
        return False
    if isinstance(op, CmpiOp):
        predicate = op.predicate.value.data
        if predicate in _UNSIGNED_PREDICATES:
            return True
        return False if predicate in _SIGNED_PREDICATES else None
    return None


def sized_integer(type_: Attribute) -> bool:
    """Whether signedness matters for the type."""
    return isinstance(type_, IntegerType) and type_ != IntegerType(1)


def dtype_of(type_: Attribute, unsigned: bool) -> str:
    """The dtype name of a scalar type, such as "uint8" for an unsigned i8."""
    name = dtype_name(type_)
    return f"u{name}" if unsigned and sized_integer(type_) else name


class Signs:
    """Finds out what signedness values have by where they come from."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, bool | None] = {}

    def fix(self, value: SSAValue, unsigned: bool) -> None:
        """From now on the value has this signedness: it was printed with its dtype."""
        self._known[value] = unsigned

    def natural(self, value: SSAValue) -> bool | None:
        """Whether the value is unsigned; `None` where it can be either."""
        if value not in self._known:
            self._known[value] = self._find(value)
        return self._known[value]

    def _find(self, value: SSAValue) -> bool | None:
        op = value.owner
        if not isinstance(op, Operation):
            return False
        if isinstance(op, LoadOp):
            return is_unsigned(cast(BufferType, op.buffer.type).dtype)
        if op.name in UNSIGNED_RESULT:
            return True
        if isinstance(op, CallIntrinOp | CallOp):
            return op.unsigned is not None
        if op.name in SIGNED_RESULT or isinstance(op, CallExternOp):
            return False
        if op.name in SAME_AS_INPUT:
            return self.common([o for o in op.operands if o.type == value.type])
        if op.name == "scf.if":
            return self.common(yielded(op))
        return None

    def common(self, values: list[SSAValue]) -> bool | None:
        """The signedness of the first value that has one of its own."""
        return next((s for v in values if (s := self.natural(v)) is not None), None)


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
