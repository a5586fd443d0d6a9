"""The instructions of traces: kinds, and calls of primitives.

A primitive is declared once, as a method of a class in this folder, one class per family, that
`Schedule` has among its bases::

    class CachePrimitives(Primitives):
        @primitive
        def cache_read(
            self, block: BlockRV | str, read_buffer_index: int, storage_scope: str
        ) -> BlockRV:
            '''One line on what it does; what is returned, and when ScheduleError is raised.'''
            return self.new_block(cache_read(self.block(block), read_buffer_index, storage_scope))

The signature determines the instruction kind, the printed call, its JSON and the replay. The body
maps variables to operations (`block`, `loop`, `number`, `sizes`), calls the function of
`lowering/schedule`, which leaves the IR unchanged if it raises, and defines variables for the
results (`new_block`, `new_loops`). Parameters annotated with the class of a variable are inputs;
`get_block` looks up a string for a `BlockRV`. All others are attributes: numbers, strings, lists
and dicts of these, `None`, integer expressions, and `Code`. ``self.record(name=value)`` records a
value that the body chose or looked up. ``@primitive(is_pure=True)`` declares a primitive that does
not change the module. The counterparts in TVM are ``InstructionKind`` and ``Instruction``.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from ....dialects.index_map import IndexExprs
from ....dialects.int_expr import IntExpr
from .random_variables import SEQUENCES, RandomVariable
from .sampled import sampled_in
from .trace_text import Code as Code
from .trace_text import python_text

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Performer")

DECISION = "decision"
"""The parameter that records a sampled value."""


@dataclass(frozen=True, eq=False)
class InstructionKind:
    """A kind of instruction: a method and its signature; `is_pure` if it keeps the module."""

    method: str
    function: Callable[..., Any]
    signature: inspect.Signature
    is_pure: bool

    @staticmethod
    def get(name: str) -> InstructionKind:
        """The kind of a name, such as ``GetBlock``, in which TVM may write ``SBlock``.

        Raises ValueError for an unknown one.
        """
        found = INSTRUCTIONS.get(name) or INSTRUCTIONS.get(name.replace("SBlock", "Block"))
        if found is None:
            raise ValueError(f"expected an instruction ({', '.join(INSTRUCTIONS)}), got '{name}'")
        return found

    def same_as(self, other: object) -> bool:
        """Whether another kind is this one."""
        return self is other

    @property
    def name(self) -> str:
        """The name in JSON: ``GetBlock`` for ``get_block``."""
        return "".join(word.capitalize() for word in self.method.split("_"))

    def is_input(self, parameter: str) -> bool:
        """Whether a parameter takes variables."""
        return "RV" in str(self.signature.parameters[parameter].annotation)

    def is_list(self, parameter: str) -> bool:
        """Whether a parameter takes a list, or any number of arguments."""
        annotation = str(self.signature.parameters[parameter].annotation)
        return parameter == self.variadic or annotation.startswith(SEQUENCES)

    def given(self, parameter: str, value: Any) -> Any:
        """The value of a parameter, for which 0 and 1 are truth values if it takes these."""
        is_truth = str(self.signature.parameters[parameter].annotation) == "bool"
        return bool(operator.index(value)) if is_truth and hasattr(value, "__index__") else value

    def default_of(self, parameter: str) -> Any:
        """The default value of a parameter; `inspect.Parameter.empty` if it has none."""
        return self.signature.parameters[parameter].default

    def is_required(self, parameter: str) -> bool:
        """Whether a parameter has no default value."""
        return self.default_of(parameter) is inspect.Parameter.empty

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters, without the schedule."""
        return list(self.signature.parameters)[1:]

    @property
    def variadic(self) -> str | None:
        """The parameter that takes any number of arguments, if there is one."""
        kinds = self.signature.parameters.items()
        return next((n for n, p in kinds if p.kind is p.VAR_POSITIONAL), None)

    def split_arguments(self, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Split arguments by parameter into positional and keyword arguments of a call."""
        positional = list(arguments.get(self.variadic, ())) if self.variadic else []
        return positional, {k: v for k, v in arguments.items() if k != self.variadic}


class Performer(Protocol):
    """A schedule that runs primitives and records them."""

    def perform(self, kind: InstructionKind, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run a primitive and record it; raises ScheduleError if it does not apply."""
        ...


INSTRUCTIONS: dict[str, InstructionKind] = {}
"""Every kind of instruction by its name in JSON."""


class Instruction:
    """A call of a primitive: its arguments by parameter, and its result variables."""

    def __init__(
        self,
        kind: InstructionKind,
        inputs: Sequence[Any] = (),
        attrs: Sequence[Any] = (),
        outputs: Sequence[RandomVariable] = (),
        decision: Any = None,
    ):
        """A call from its `inputs` and `attrs`, each in the order of the parameters.

        Attributes at the end may be left out where parameters have defaults. The elements of a
        list that is the last input may be inputs of their own, and truth values numbers, as TVM
        writes them. Raises ValueError for another number of them, and TypeError for outputs that
        are no variables of schedules.
        """
        for output in outputs:
            if not isinstance(output, RandomVariable):  # pyright: ignore[reportUnnecessaryIsInstance]
                kinds = "BlockRV, LoopRV or ExprRV"
                raise TypeError(f"{kind.name}: expected outputs to be {kinds}, got {output!r}")
        names = [p for p in kind.parameters if p != DECISION]
        given = {True: inputs, False: attrs}
        self.kind, self.outputs = kind, list(outputs)
        self.arguments: dict[str, Any] = {}
        for is_input, what in ((True, "inputs"), (False, "attrs")):
            own = [p for p in names if kind.is_input(p) == is_input]
            values = list(given[is_input])
            rest = values[len(own) - 1 :] if is_input and own and kind.is_list(own[-1]) else []
            if len(rest) > 1 or any(isinstance(r, RandomVariable) for r in rest):
                values[len(own) - 1 :] = [rest]
            values += [kind.default_of(p) for p in own[len(values) :] if not kind.is_required(p)]
            if len(values) != len(own):
                raise ValueError(
                    f"{kind.name}: expected {what} ({', '.join(own)}), got {len(given[is_input])}"
                )
            self.arguments |= {p: kind.given(p, v) for p, v in zip(own, values, strict=True)}
        self.arguments = {p: self.arguments.get(p, decision) for p in kind.parameters}

    @classmethod
    def of(
        cls, kind: InstructionKind, arguments: Mapping[str, Any], outputs: Sequence[RandomVariable]
    ) -> Instruction:
        """A call from its arguments by parameter."""
        new = cls.__new__(cls)
        new.kind, new.arguments, new.outputs = kind, dict(arguments), list(outputs)
        return new

    @property
    def inputs(self) -> list[Any]:
        """The arguments of parameters that take variables."""
        return [v for k, v in self.arguments.items() if self.kind.is_input(k)]

    @property
    def attrs(self) -> list[Any]:
        """The other arguments, without the decision."""
        return [v for k, v in self.arguments.items() if not self.kind.is_input(k) and k != DECISION]

    @property
    def decision(self) -> Any:
        """The sampled value; `None` for instructions that do not sample."""
        return self.arguments.get(DECISION)

    def same_as(self, other: object) -> bool:
        """Whether another instruction is this one."""
        return self is other

    def __str__(self) -> str:
        return self.statement({})

    def statement(
        self, names: Mapping[RandomVariable, str], leave_out: Mapping[str, Any] | None = None
    ) -> str:
        """The call as Python, with ``_`` for variables that are not in `names`.

        With `leave_out`, it is without these arguments and without default values.
        """
        positional, named = self.kind.split_arguments(self.arguments)
        arguments = [python_text(v, names) for v in positional]
        for name, value in named.items():
            text = python_text(value, names)
            if name == DECISION and value is None:
                continue
            if leave_out is None:
                arguments.append(f"{name}={text}")
            elif value not in (self.kind.default_of(name), leave_out.get(name)):
                arguments.append(text if self.kind.is_required(name) else f"{name}={text}")
        call = f"sch.{self.kind.method}({', '.join(arguments)})"
        outputs = ", ".join(names.get(o, "_") for o in self.outputs)
        if not outputs:
            return call
        is_list = "list" in str(self.kind.signature.return_annotation)
        return f"{outputs}{',' if is_list and len(self.outputs) == 1 else ''} = {call}"

    def used(self) -> Iterator[RandomVariable]:
        """The variables among the arguments."""
        yield from variables_in(list(self.arguments.values()))


def variables_in(value: Any) -> Iterator[RandomVariable]:
    """The variables in a value, in expressions and in nested lists."""
    if isinstance(value, RandomVariable):
        yield value
    elif isinstance(value, IntExpr | IndexExprs):
        yield from sampled_in(value)
    elif isinstance(value, list | tuple):
        for item in cast("Sequence[Any]", value):
            yield from variables_in(item)
    elif isinstance(value, Mapping):
        for item in cast("Mapping[str, Any]", value).values():
            yield from variables_in(item)


Method = Callable[Concatenate[S, P], R]


@overload
def primitive(method: Method[S, P, R]) -> Method[S, P, R]: ...


@overload
def primitive(*, is_pure: bool) -> Callable[[Method[S, P, R]], Method[S, P, R]]: ...


def primitive(method: Any = None, *, is_pure: bool = False) -> Any:
    """Declare a method as an instruction, whose calls are recorded."""
    if method is None:
        return partial(_declare, is_pure=is_pure)
    return _declare(method, is_pure)


def _declare(method: Callable[..., Any], is_pure: bool) -> Callable[..., Any]:
    kind = InstructionKind(method.__name__, method, inspect.signature(method), is_pure)
    INSTRUCTIONS[kind.name] = kind

    @wraps(method)
    def run(self: Performer, *args: Any, **kwargs: Any) -> Any:
        return self.perform(kind, args, kwargs)

    return run
