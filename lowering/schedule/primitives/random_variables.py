"""Random variables: the results and arguments of primitives; they name blocks, loops, numbers.

Arguments of primitives are checked against the annotations of their parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, ClassVar, TypeAlias, cast
from weakref import WeakValueDictionary

from ....dialects.int_expr import IntExpr, Sym
from ....dialects.python_operators import Operators
from ..blocks import ScheduleError


class RandomVariable:
    """A name of a block, loop or number in a schedule's module; compared by identity.

    Its value is stored in the schedule: a copy of the schedule maps the same variable to the
    corresponding operation of its own module.
    """

    prefix = "v"

    def same_as(self, other: object) -> bool:
        """Whether another variable is this one."""
        return self is other


class BlockRV(RandomVariable):
    """A block; TVM's ``SBlockRV``, which was ``BlockRV``."""

    prefix = "b"


class LoopRV(RandomVariable):
    """A loop, or one of the locations ``inline`` and ``root`` of `sample_compute_location`."""

    prefix = "l"


class ExprRV(RandomVariable, Operators):
    """A sampled number; TVM's ``ExprRV``. Operators make expressions, which primitives take too.

    ``sch.split(loop, [None, v0 * v1])``. In an expression, a variable is a symbol of its own.
    """

    _symbols: ClassVar[WeakValueDictionary[str, ExprRV]] = WeakValueDictionary()
    _numbers: ClassVar[Iterator[int]] = count()

    def __init__(self) -> None:
        self.symbol = Sym(f"v#{next(ExprRV._numbers)}")
        ExprRV._symbols[self.symbol.name] = self

    @property
    def expr(self) -> IntExpr:
        """The variable as an expression."""
        return IntExpr.of(self.symbol)

    @staticmethod
    def of_symbol(name: str) -> ExprRV | None:
        """The variable of a symbol; `None` for one of a program."""
        return ExprRV._symbols.get(name)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


SBlockRV: TypeAlias = BlockRV


SEQUENCES = ("Sequence[", "list[")

PLAIN = "None | bool | float | int | str"
"""The types of the values that messages show."""


def verify_argument(parameter: inspect.Parameter, value: Any) -> None:
    """Raise ScheduleError for a value that does not fit the annotation of a parameter."""
    annotation = str(parameter.annotation)
    is_variadic = parameter.kind is parameter.VAR_POSITIONAL
    for one in value if is_variadic else (value,):
        if not fits(one, annotation):
            raise ScheduleError(f"expected {parameter.name} to be {annotation}, got {_text(one)}")


def _text(value: Any) -> str:
    """The text of a value in messages, or its type if the text is not informative."""
    is_plain = all(any(_is(v, o) for o in _options(PLAIN)) for v in _items(value))
    return repr(value) if is_plain else f"a {type(value).__name__}"


def _items(value: Any) -> Iterable[Any]:
    is_list = isinstance(value, list | tuple)
    return cast("Iterable[Any]", value) if is_list else (value,)


def fits(value: Any, annotation: str) -> bool:
    """Whether a value is of one of the types of an annotation; unknown types accept all values.

    A variable fits every type: its value is checked later.
    """
    return isinstance(value, RandomVariable) or any(_is(value, o) for o in _options(annotation))


def _options(annotation: str) -> list[str]:
    """The alternatives of an annotation that are joined by ``|``."""
    found, depth = [""], 0
    for character in annotation.replace(" ", ""):
        depth += (character == "[") - (character == "]")
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return found


def _is(value: Any, option: str) -> bool:
    if option.startswith(SEQUENCES):
        element = option.partition("[")[2][:-1]
        is_list = isinstance(value, Iterable) and not isinstance(value, str)
        return is_list and all(fits(v, element) for v in cast("Iterable[Any]", value))
    match option:
        case "None":
            return value is None
        case "int":
            return hasattr(value, "__index__")
        case "float":
            return hasattr(value, "__float__") or hasattr(value, "__index__")
        case "str" | "bool":
            return isinstance(value, {"str": str, "bool": bool}[option])
        case "IntExpr":  # or an object that wraps one, such as a symbol of a script
            return (
                isinstance(value, IntExpr) or hasattr(value, "expr") or hasattr(value, "borrowed")
            )
        case _:
            return not option.endswith("RV")
