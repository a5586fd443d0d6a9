"""What a schedule's methods give and take: names for blocks, loops and numbers of its module.

Arguments of primitives are checked against the annotations of their parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, TypeAlias, cast

from ....dialects.int_expr import IntExpr
from ..blocks import ScheduleError


class RandomVariable:
    """A name for something of a schedule's module, equal to itself only.

    What it stands for is in the schedule: the same variable is good in copies of the schedule,
    where it stands for the same thing of the copy.
    """

    prefix = "v"


class BlockRV(RandomVariable):
    """A block; TVM's ``SBlockRV``, which was ``BlockRV``."""

    prefix = "b"


class LoopRV(RandomVariable):
    """A loop, or one of the places ``inline`` and ``root`` that a block can be computed at."""

    prefix = "l"


class ExprRV(RandomVariable):
    """A number that was drawn."""


SBlockRV: TypeAlias = BlockRV


SEQUENCES = ("Sequence[", "list[")

PLAIN = "None | bool | float | int | str"
"""What messages show."""


def verify_argument(parameter: inspect.Parameter, value: Any) -> None:
    """Raise ScheduleError for a value that does not fit the annotation of a parameter."""
    annotation = str(parameter.annotation)
    is_variadic = parameter.kind is parameter.VAR_POSITIONAL
    for one in value if is_variadic else (value,):
        if not fits(one, annotation):
            raise ScheduleError(f"expected {parameter.name} to be {annotation}, got {_text(one)}")


def _text(value: Any) -> str:
    """A value in messages, or its type where its text says nothing."""
    is_plain = all(any(_is(v, o) for o in _options(PLAIN)) for v in _items(value))
    return repr(value) if is_plain else f"a {type(value).__name__}"


def _items(value: Any) -> Iterable[Any]:
    is_list = isinstance(value, list | tuple)
    return cast("Iterable[Any]", value) if is_list else (value,)


def fits(value: Any, annotation: str) -> bool:
    """Whether a value is of one of the types of an annotation; unknown types take all values.

    A variable fits everywhere: it may stand for a number, and what it stands for is asked later.
    """
    return isinstance(value, RandomVariable) or any(_is(value, o) for o in _options(annotation))


def _options(annotation: str) -> list[str]:
    """The types that an annotation joins by ``|``."""
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
        case "IntExpr":  # or what wraps one, such as a symbol of a script
            return (
                isinstance(value, IntExpr) or hasattr(value, "expr") or hasattr(value, "borrowed")
            )
        case _:
            return not option.endswith("RV")
