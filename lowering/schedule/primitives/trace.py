"""The trace of a schedule: instructions that print as Python, serialize to JSON, and replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ....display.rich import displayed
from ....display.show import show_code
from ..blocks import ScheduleError
from .instructions import (
    DECISION,
    Instruction,
    InstructionKind,
    Performer,
    variables_in,
)
from .random_variables import BlockRV, ExprRV, LoopRV, RandomVariable
from .sampled import replaced, with_variables
from .trace_text import from_json, to_json

POSTPROC = "EnterPostproc"
"""The instruction that ends the search space of a trace; postprocessing follows it."""

DecisionProvider = Callable[[Instruction, list[Any], list[Any], Any], Any]


@displayed("programs:trace_html")
class Trace:
    """Instructions in order; TVM's ``Trace``."""

    def __init__(
        self,
        insts: Iterable[Instruction] = (),
        decisions: Mapping[Instruction, Any] | None = None,
    ):
        """A trace of instructions; `decisions` replace those that the instructions have."""
        given = decisions or {}
        self.insts = [_decided(i, given[i]) if i in given else i for i in insts]

    @property
    def decisions(self) -> dict[Instruction, Any]:
        """The decisions by instruction."""
        return {i: i.decision for i in self.insts if i.decision is not None}

    def get_decision(self, inst: Instruction) -> Any:
        """The decision of an instruction; `None` if it does not sample."""
        return inst.decision if inst in self.insts else None

    def append(self, inst: Instruction) -> None:
        """Add an instruction at the end."""
        self.insts.append(inst)

    def pop(self) -> Instruction | None:
        """Remove and return the last instruction; `None` if there is none."""
        return self.insts.pop() if self.insts else None

    def copy(self) -> Trace:
        """A trace with a copy of the list of instructions."""
        return Trace(self.insts)

    def with_decision(
        self, inst: Instruction, decision: Any, remove_postproc: bool = False
    ) -> Trace:
        """The trace with the decision of one instruction replaced."""
        new = _decided(inst, decision)
        return Trace(new if i is inst else i for i in self._kept(remove_postproc))

    def simplified(self, remove_postproc: bool = False) -> Trace:
        """The trace without lookups and samples whose results are not used."""
        kept: list[Instruction] = []
        used: set[RandomVariable] = set()
        for inst in reversed(self._kept(remove_postproc)):
            if inst.kind.is_pure and not used & set(inst.outputs):
                continue
            kept.insert(0, inst)
            used.update(inst.used())
        return Trace(kept)

    def _kept(self, remove_postproc: bool) -> list[Instruction]:
        names = [i.kind.name for i in self.insts]
        if not remove_postproc or POSTPROC not in names:
            return self.insts
        return self.insts[: names.index(POSTPROC)]

    def apply_to_schedule(
        self,
        sch: Performer,
        remove_postproc: bool = False,
        decision_provider: DecisionProvider | None = None,
    ) -> None:
        """Replay the instructions on another schedule, which records them, with their decisions.

        `decision_provider` replaces decisions; it is called with an instruction, its inputs, its
        attributes and its decision. Raises ScheduleError if an instruction does not apply.
        """
        for _ in self.replayed(sch, remove_postproc, decision_provider):
            pass

    def replayed(
        self,
        sch: Performer,
        remove_postproc: bool = False,
        decision_provider: DecisionProvider | None = None,
    ) -> Iterator[Instruction]:
        """Replay step by step: yield each instruction after it has run."""
        known: dict[RandomVariable, RandomVariable] = {}
        for inst in self._kept(remove_postproc):
            renamed = partial(with_variables, known=known)
            arguments = replaced(inst.arguments, renamed)
            if decision_provider is not None and DECISION in arguments:
                arguments[DECISION] = decision_provider(
                    inst, inst.inputs, inst.attrs, inst.decision
                )
            positional, named = inst.kind.split_arguments(arguments)
            outputs = list(variables_in(sch.perform(inst.kind, positional, named)))
            if len(outputs) != len(inst.outputs):
                raise ScheduleError(
                    f"{inst.kind.method}: expected {len(inst.outputs)} results as in the trace, "
                    f"got {len(outputs)}"
                )
            known |= dict(zip(inst.outputs, outputs, strict=True))
            yield inst

    def as_json(self, remove_postproc: bool = False) -> list[Any]:
        """Serialize to lists: ``[[name, inputs, attrs, outputs], …]`` and the decisions.

        Decisions are ``[position of the instruction, decision]``, as in TVM.
        """
        insts = self._kept(remove_postproc)
        names = self._names()
        lines = [
            [
                i.kind.name,
                to_json(i.inputs, names),
                to_json(i.attrs, names),
                to_json(i.outputs, names),
            ]
            for i in insts
        ]
        return [lines, [[n, i.decision] for n, i in enumerate(insts) if i.decision is not None]]

    @staticmethod
    def from_json(json_obj: Sequence[Any]) -> Trace:
        """Parse the lists of `as_json`; raises ValueError for an unknown instruction."""
        lines, decisions = json_obj
        variables: dict[str, RandomVariable] = {}
        drawn = {number: decision for number, decision in decisions}
        trace = Trace()
        for number, (name, inputs, attrs, outputs) in enumerate(lines):
            made = [new_variable(text) for text in outputs]
            values = from_json(inputs, variables), from_json(attrs, variables, is_attribute=True)
            kind = InstructionKind.get(name)
            trace.append(Instruction(kind, *values, made, drawn.get(number)))
            variables |= dict(zip(outputs, made, strict=True))
        return trace

    @staticmethod
    def apply_json_to_schedule(json_obj: Sequence[Any], sch: Performer) -> None:
        """Replay the lists of `as_json` on a schedule."""
        Trace.from_json(json_obj).apply_to_schedule(sch)

    def _names(self) -> dict[RandomVariable, str]:
        names: dict[RandomVariable, str] = {}
        for inst in self.insts:
            for variable in inst.outputs:
                names[variable] = f"{variable.prefix}{len(names)}"
        return names

    def as_python(self, remove_postproc: bool = False) -> list[str]:
        """The instructions as Python statements, one each."""
        names = self._names()
        return [inst.statement(names) for inst in self._kept(remove_postproc)]

    def show(self, style: str | None = None, black_format: bool | None = None) -> None:
        """Show the trace as Python, as `IRModule.show`."""
        show_code(str(self), style, black_format)

    def as_function(self, name: str, function: str) -> str:
        """The source of a Python function that applies the trace to a schedule of one function.

        Arguments with their default values are omitted.
        """
        names = self._names()
        lines = [inst.statement(names, {"func_name": function}) for inst in self.insts]
        return "\n".join([f"def {name}(sch: tir.Schedule) -> None:", *_indented(lines)])

    def __str__(self) -> str:
        head = ["# from xrelax import tir", "def apply_trace(sch: tir.Schedule) -> None:"]
        return "\n".join([*head, *_indented(self.as_python(), "  ")])  # as TVM prints it

    def __repr__(self) -> str:
        return str(self)


def new_variable(name: str) -> RandomVariable:
    """A variable of the class that the first letter of its name in a trace selects."""
    classes: Mapping[str, type[RandomVariable]] = {c.prefix: c for c in (BlockRV, LoopRV, ExprRV)}
    return classes[name[0]]()


def _decided(inst: Instruction, decision: Any) -> Instruction:
    """The instruction with another decision."""
    return Instruction.of(inst.kind, {**inst.arguments, DECISION: decision}, inst.outputs)


def _indented(lines: Sequence[str], margin: str = "    ") -> list[str]:
    return [margin + line for line in lines or ["pass"]]
