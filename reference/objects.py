"""Objects of Python in planned functions, and the values that registered functions see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ..dialects.relax.prim_values import is_open
from ..dialects.relax.types import ObjectType, PrimType
from ..dialects.rt.call_packed import ASSERT, STRING
from .arguments import GraphValue
from .memory import Buffer
from .registered import object_of
from .session import Session, array_of
from .values import EvaluationError, memory_of, number_in


def with_handles(session: Session, type_: Attribute, value: GraphValue) -> GraphValue:
    """A value with numbers in memory in the place of objects, and of integers of unknown value."""
    match type_:
        case PrimType() if is_open(type_) and isinstance(value, int):
            return Buffer(memory_of(type_.dtype, value), type_.dtype, "an integer")
        case ObjectType():
            session.objects.append(value)
            return Buffer(np.array(len(session.objects) - 1, np.int64), "int64", "an object")
        case TupleType(types=fields):
            pairs = zip(fields.data, cast("tuple[Any, ...]", value), strict=True)
            return tuple(with_handles(session, t, v) for t, v in pairs)
        case _:
            return value


def call_own(
    session: Session, text: str, name: str, inputs: Sequence[Buffer], outputs: Sequence[Buffer]
) -> None:
    """Call a function of the runtime."""
    if name == ASSERT:
        raise EvaluationError(session.formatted(text, inputs))
    if name == STRING:
        store_value(session, name, ObjectType(), text, iter(outputs))
    else:
        session.write(text, inputs)


def without_buffers(type_: Attribute, value: GraphValue) -> GraphValue:
    """A value with numbers in the place of the memory of scalars."""
    match type_:
        case PrimType() if isinstance(value, Buffer):
            return number_in(value.dtype, value.array)
        case TupleType(types=fields):
            pairs = zip(fields.data, cast("tuple[Any, ...]", value), strict=True)
            return tuple(without_buffers(t, v) for t, v in pairs)
        case _:
            return value


def store_value(
    session: Session, name: str, type_: Attribute, value: Any, outputs: Iterator[Buffer]
) -> None:
    """Store what a registered function returns in the memory of its type."""
    match type_:
        case ObjectType():
            output = next(outputs)
            session.store(name, np.array(len(session.objects), np.int64), output)
            session.objects.append(object_of(value))
        case TupleType(types=fields):
            for field, item in zip(fields.data, value, strict=True):
                store_value(session, name, field, item, outputs)
        case PrimType():
            session.store(name, memory_of(type_.dtype, value), next(outputs))
        case _:
            session.store(name, array_of(value), next(outputs))
