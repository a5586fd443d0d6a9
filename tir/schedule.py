"""`tir.Schedule`: the schedule primitives as methods that are recorded and can be replayed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from xdsl.dialects.builtin import ModuleOp

from ..dialects.tir import PrimFuncOp
from ..dialects.tir.control import has_jumps
from ..display.rich import displayed
from ..ir.block_views import SBlock as SBlock
from ..ir.block_views import view_of
from ..ir.buffers import Buffer
from ..ir.callees import GlobalVar
from ..ir.module import IRModule
from ..ir.prim_func import PrimFunc
from ..ir.statements import For as For
from ..ir.statements import Statement
from ..lowering.schedule.blocks import IS_SCHEDULED
from ..lowering.schedule.blocks import ScheduleError as ScheduleError
from ..lowering.schedule.index_map import IndexMap as Map
from ..lowering.schedule.primitives import schedule as primitives
from ..lowering.schedule.primitives.instructions import INSTRUCTIONS as INSTRUCTIONS
from ..lowering.schedule.primitives.instructions import Code as Code
from ..lowering.schedule.primitives.instructions import Instruction as Instruction
from ..lowering.schedule.primitives.instructions import InstructionKind as InstructionKind
from ..lowering.schedule.primitives.random_variables import BlockRV as BlockRV
from ..lowering.schedule.primitives.random_variables import ExprRV as ExprRV
from ..lowering.schedule.primitives.random_variables import LoopRV as LoopRV
from ..lowering.schedule.primitives.random_variables import SBlockRV as SBlockRV
from ..lowering.schedule.primitives.state import ScheduleDebugMask as ScheduleDebugMask
from ..lowering.schedule.primitives.state import ScheduleState as ScheduleState
from ..lowering.schedule.primitives.state import StmtSRef as StmtSRef
from ..lowering.schedule.primitives.trace import Trace as Trace
from ..name_lookup import resolve
from .index_map import IndexMap

instruction = schedule = state = trace = sys.modules[__name__]
"""TVM's modules of the package, whose names are all here."""

RENDER_LEVELS = ("detail", "fast", "none")


@displayed("programs:schedule_html")
class Schedule(primitives.Schedule):
    """A copy of a module that primitives change step by step; TVM's ``tir.Schedule``.

    ``sch.mod`` is the module as it is, ``sch.trace`` what was done. Methods that find or make
    blocks and loops return variables for them; a variable whose loop a primitive replaced is dead.
    """

    def __init__(
        self,
        mod: IRModule | PrimFunc,
        *,
        seed: int | None = None,
        debug_mask: str | int = "none",
        error_render_level: str = "detail",
        enable_check: bool = True,
    ):
        """Schedule a copy of a module, or of a function, which is called "main" then.

        `seed` is that of draws. With a `debug_mask` but "none" or 0 the module is verified after
        each primitive. Messages of errors name the primitive at `error_render_level` "detail", are
        those of the rule at "fast", and name the primitive alone at "none". `enable_check` is there
        for programs written for TVM: checks are always done. Raises TypeError for another `mod`,
        ValueError for an unknown level, and ScheduleError for kernels with jumps.
        """
        if isinstance(mod, PrimFunc):
            mod = IRModule({"main": mod})
        if not isinstance(mod, IRModule):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"expected an IRModule or PrimFunc, got {type(mod).__name__}")
        if error_render_level not in RENDER_LEVELS:
            expected = ", ".join(RENDER_LEVELS)
            raise ValueError(
                f"expected an error_render_level ({expected}), got '{error_render_level}'"
            )
        if has_jumps(mod.op):
            raise ScheduleError("expected kernels without 'break' and 'continue' to schedule")
        super().__init__(mod.op.clone(), seed)
        self.original = mod.clone()
        self._mod = mod
        self.error_render_level = error_render_level
        self.is_checked = debug_mask not in ("none", 0)

    @property
    def mod(self) -> IRModule:
        """The module as it is now; later primitives do not change it."""
        if self._mod.op is not self.state.snapshot:
            self._mod = IRModule(self.state.snapshot, self._mod.name)
            self._mod.history = ScheduleHistory(self.original, self.trace.copy())
        return self._mod

    @property
    def func(self) -> PrimFunc:
        """The only PrimFunc of the module as it is now; raises ScheduleError for several."""
        names = [f.sym_name.data for f in self.state.functions()]
        if len(names) != 1:
            raise ScheduleError(f"expected a module of one PrimFunc, got {', '.join(names)}")
        function = self.mod[names[0]]
        assert isinstance(function, PrimFunc)
        return function

    @property
    def func_working_on(self) -> GlobalVar | None:
        """The function in which blocks are looked up, if `work_on` has set one."""
        return None if self.working_on is None else self.mod.get_global_var(self.working_on)

    def copy(self) -> Self:
        """A schedule of a copy of the module as it is, in which variables stand for the same."""
        new = type(self)(self._mod, error_render_level=self.error_render_level)
        new.original = self.original
        new.state = self.state.copy()
        new.trace = self.trace.copy()
        new.random = Random(self.fork_seed())
        new.is_checked = self.is_checked
        new.working_on = self.working_on
        new.take_names(self)
        return new

    def perform(self, kind: InstructionKind, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run a primitive; buffers stand for their names."""
        names = {k: _named(v) for k, v in kwargs.items()}
        return super().perform(kind, [_named(a) for a in args], names)

    def get(self, rand_var_or_sref: object) -> Any:
        """The value of a variable: a view of a loop or block, or a number; also of a reference.

        Raises TypeError for anything else, and ScheduleError for a dead variable.
        """
        if isinstance(rand_var_or_sref, StmtSRef):
            return view_of(rand_var_or_sref.stmt)
        return view_of(super().get(rand_var_or_sref))

    def get_sref(self, rand_var_or_stmt: Any) -> StmtSRef:
        """The reference to the loop or block of a variable or view.

        Raises ScheduleError for a dead variable.
        """
        is_view = isinstance(rand_var_or_stmt, Statement)
        return super().get_sref(rand_var_or_stmt.op if is_view else rand_var_or_stmt)

    def changed(self, functions: Sequence[PrimFuncOp]) -> None:
        """Keep the default schedules off functions: their loops are what was asked for."""
        for function in functions:
            function.set_attr(IS_SCHEDULED, True)

    def index_map(self, given: Any, rank: int) -> Map:
        """What is given as a map of `rank` indices: a map, a function, or a lambda's text."""
        return given if isinstance(given, Map) else IndexMap.of(given, rank).map

    def show(self, style: str | None = None, black_format: bool | None = None) -> None:
        """Show the module and the trace, as `IRModule.show`."""
        self.mod.show(style, black_format)
        self.trace.show(style, black_format)


def _named(value: Any) -> Any:
    return value.name if isinstance(value, Buffer) else value


@dataclass(frozen=True)
class ScheduleHistory:
    """What a schedule did to a module."""

    original: IRModule
    trace: Trace

    def steps(self) -> Iterator[tuple[str, ModuleOp]]:
        """The primitives that change something, with the module after each.

        One after which callers pass other arguments has no name: nothing before it compares.
        """
        sch = Schedule(self.original)
        for number, inst in enumerate(self.trace.replayed(sch), 1):
            moved, sch.moved_parameters = bool(sch.moved_parameters), []
            name = f"primitive '{inst.kind.method}', number {number} of the schedule,"
            if not inst.kind.is_pure:
                yield "" if moved else name, sch.mod.op


def __getattr__(name: str) -> Any:
    """What TVM has in modules below this one; raises AttributeError for another name."""
    return resolve("tir.schedule.", name)
