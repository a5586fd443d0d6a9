"""The base of the families of primitives: random variables, and recording of instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, TypeVar, cast

from ....dialects import tir
from ....dialects.diagnostics import verify
from ....dialects.dims import dim_of
from ....dialects.int_expr import IntExpr
from ..blocks import ScheduleError
from ..layout import MovedParameter
from ..loop_checks import loop_text
from .decisions import Cost, Decisions
from .instructions import DECISION, INSTRUCTIONS, Instruction, InstructionKind, variables_in
from .random_variables import BlockRV, ExprRV, LoopRV, RandomVariable, verify_argument
from .sampled import (
    divides_by_zero,
    expression_in,
    has_sampled,
    is_recordable,
    replaced,
    sampled_in,
)
from .state import ScheduleState, Value
from .trace import Trace

Size = int | str | ExprRV | IntExpr | None

T = TypeVar("T")


class Primitives:
    """A module that is scheduled, and the trace of the primitives applied to it."""

    state: ScheduleState
    trace: Trace
    random: Random
    decisions: Decisions | None = None
    """The answers of a search; without them rules take their defaults, and samples are drawn."""
    error_render_level: str = "detail"
    is_checked: bool = False

    def __init__(self) -> None:
        self._recorded: dict[str, Any] | None = None
        self._names: dict[RandomVariable, str] = {}
        self.moved_parameters: list[MovedParameter] = []
        """The parameters whose layout was transformed; callers must pass them in the new layout."""

    def block(self, block: BlockRV | str) -> tir.BlockOp:
        """The block of a variable; raises ScheduleError if it has another value or is invalid."""
        value = self.state.resolve(cast(BlockRV, block))
        if not isinstance(value, tir.BlockOp):
            raise ScheduleError(f"expected a block, got {self._text(value)}")
        return value

    def loop(self, loop: LoopRV) -> tir.ForOp:
        """The loop of a variable; raises ScheduleError if it has another value or is invalid."""
        value = self.state.resolve(loop)
        if not isinstance(value, tir.ForOp):
            raise ScheduleError(f"expected a loop, got {self._text(value)}")
        return value

    def block_or_loop(self, variable: BlockRV | LoopRV) -> tir.BlockOp | tir.ForOp:
        """The block or loop of a variable; raises ScheduleError if it is invalid."""
        return self.block(variable) if isinstance(variable, BlockRV) else self.loop(variable)

    def number(self, value: ExprRV | int) -> int | None:
        """An int, or the value of a variable; `None` for a factor of a symbolic extent."""
        if not isinstance(value, ExprRV):
            return value
        found = self.state.resolve(value)
        assert not isinstance(found, tir.BlockOp | tir.ForOp | str)
        return found

    def evaluated(self, value: Any) -> Any:
        """An expression or map with the values of sampled numbers; an int where it is constant.

        Raises ScheduleError for a factor of a symbolic extent, and for a division by 0.
        """
        sampled = {v.symbol: self.size(v, "number") for v in sampled_in(value)}
        found = value.substitute(sampled) if sampled else value
        if sampled and divides_by_zero(found):
            raise ScheduleError("expected a divisor other than 0, got one of sampled numbers")
        constant = found.constant if sampled and isinstance(found, IntExpr) else None
        return found if constant is None else constant

    def size(self, value: int | ExprRV, what: str = "size") -> int:
        """A number of iterations; raises ScheduleError for a factor of a symbolic extent."""
        number = self.number(value)
        if number is None:
            raise ScheduleError(f"expected a {what}, got a factor of a symbolic extent")
        return number

    def sizes(self, sizes: Sequence[Size]) -> list[int | IntExpr | None]:
        """Numbers of iterations: ints, expressions over symbols, or `None` to be inferred."""
        found = [self.number(s) if isinstance(s, ExprRV) else s for s in sizes]
        return [s if isinstance(s, int | None) else dim_of(s) for s in found]

    def new_block(self, block: tir.BlockOp) -> BlockRV:
        """Define a variable for a block."""
        return self._define(BlockRV(), block)

    def new_blocks(self, blocks: Sequence[tir.BlockOp]) -> list[BlockRV]:
        """Define variables for blocks."""
        return [self.new_block(b) for b in blocks]

    def new_loop(self, loop: tir.ForOp | str) -> LoopRV:
        """Define a variable for a loop, or for ``"inline"`` or ``"root"``."""
        return self._define(LoopRV(), loop)

    def new_loops(self, loops: Sequence[tir.ForOp]) -> list[LoopRV]:
        """Define variables for loops."""
        return [self.new_loop(loop) for loop in loops]

    def new_number(self, number: int | None) -> ExprRV:
        """Define a variable for a sampled number; `None` is a factor of a symbolic extent."""
        return self._define(ExprRV(), number)

    def _define(self, variable: Any, value: Value) -> Any:
        self.state.define(variable, value)
        self._names[variable] = self._text(value)
        return variable

    def _text(self, value: Value) -> str:
        match value:
            case tir.BlockOp():
                return f"block '{value.block_name.data}'"
            case tir.ForOp():
                return loop_text(value)
            case str():
                return f"the place '{value}'"
            case _:
                return f"the number {value}"

    def take_names(self, other: Primitives) -> None:
        """Use the names of another schedule's variables in messages."""
        self._names = dict(other._names)

    def decide(
        self,
        name: str,
        default: T,
        candidates: Callable[[], Iterable[T]],
        cost: Cost | None = None,
    ) -> T:
        """A choice of a rule: the default, or what a search has chosen of the candidates.

        Candidates are ints, strings or tuples of these; `cost` estimates the time of one.
        """
        if self.decisions is None:
            return default
        return self.decisions.choose(name, default, candidates(), cost)

    def record(self, **arguments: Any) -> None:
        """Record these arguments of the running primitive, in place of those of the call."""
        if self._recorded is not None:
            self._recorded |= arguments

    def perform(self, kind: InstructionKind, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run a primitive and record it; calls of primitives inside it are not recorded."""
        if self._recorded is not None:
            return kind.function(self, *args, **kwargs)
        bound = kind.signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        _, *arguments = bound.arguments.items()
        try:
            given = {name: replaced(value, self._recordable) for name, value in arguments}
            for name, value in self._evaluated(given).items():
                verify_argument(kind.signature.parameters[name], value)
        except ScheduleError as error:
            raise self._rendered(kind, error) from None
        given = {name: self._looked_up(kind, name, value) for name, value in given.items()}
        sample = None
        if self.decisions is not None and DECISION in given and given[DECISION] is None:
            sample, given[DECISION] = self.decisions.sampled(kind.method)
        self._recorded = dict(given)
        positional, named = kind.split_arguments(self._evaluated(given))
        changed = self.state.functions_of(variables_in(list(given.values())))
        try:
            result = kind.function(self, *positional, **named)
            recorded = self._recorded
        except ScheduleError as error:
            raise self._rendered(kind, error) from None
        finally:
            self._recorded = None
        if not kind.is_pure:
            self.state.after(kind.method, self._names)
            self.changed(changed)
            if self.is_checked:
                verify(self.state.module)
        if self.decisions is not None and sample is not None:
            self.decisions.record(sample, recorded[DECISION])
        self.trace.append(Instruction.of(kind, recorded, list(variables_in(result))))
        return result

    def _recordable(self, value: Any) -> Any:
        found = expression_in(value)
        is_sampled = isinstance(found, IntExpr) and has_sampled(found)
        return self.evaluated(found) if is_sampled and not is_recordable(found) else found

    def _evaluated(self, arguments: dict[str, Any]) -> dict[str, Any]:
        def change(value: Any) -> Any:
            return self.evaluated(value) if isinstance(value, IntExpr) else value

        return replaced(arguments, change)

    def changed(self, functions: Sequence[tir.PrimFuncOp]) -> None:
        """Called with the changed functions after each primitive that is not pure."""

    def looked_up(self, block: BlockRV | str) -> BlockRV:
        """A variable, or that of the block of a name; raises ScheduleError if there is none."""
        if isinstance(block, BlockRV):
            return block
        return self.perform(INSTRUCTIONS["GetBlock"], (block,), {})

    def _looked_up(self, kind: InstructionKind, parameter: str, value: Any) -> Any:
        annotation = str(kind.signature.parameters[parameter].annotation)
        if isinstance(value, str) and "BlockRV" in annotation:
            return self.looked_up(value)
        if isinstance(value, list) and "BlockRV" in annotation:
            return [self._looked_up(kind, parameter, v) for v in cast("list[Any]", value)]
        return cast(Any, value)

    def _rendered(self, kind: InstructionKind, error: ScheduleError) -> ScheduleError:
        if self.error_render_level == "fast":
            return error
        message = f"'{kind.method}' does not apply (not rendered)"
        if self.error_render_level == "detail":
            message = f"{kind.method}: {error.message}"
        new = type(error)(message)
        new.filename, new.line, new.column = error.filename, error.line, error.column
        return new
