"""`Schedule`: a module, and the primitives that change it and record what they did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Self

from xdsl.dialects.builtin import ModuleOp

from ...ir.function import PrimFunc
from ...ir.module import IRModule
from ...lowering.schedule.blocks import ScheduleError
from .annotation_primitives import AnnotationPrimitives
from .block_primitives import BlockPrimitives
from .buffer_primitives import BufferPrimitives
from .compute_primitives import ComputePrimitives
from .layout_primitives import LayoutPrimitives
from .lookup import LookupPrimitives
from .loop_primitives import LoopPrimitives
from .padding_primitives import PaddingPrimitives
from .reduction_primitives import ReductionPrimitives
from .sampling import SamplingPrimitives
from .state import ScheduleState
from .trace import Trace

RENDER_LEVELS = ("detail", "fast", "none")


class Schedule(
    LookupPrimitives,
    LoopPrimitives,
    AnnotationPrimitives,
    ComputePrimitives,
    BufferPrimitives,
    LayoutPrimitives,
    ReductionPrimitives,
    BlockPrimitives,
    PaddingPrimitives,
    SamplingPrimitives,
):
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
        for programs written for TVM: checks are always done. Raises TypeError for another `mod` and
        ValueError for an unknown level.
        """
        super().__init__()
        if isinstance(mod, PrimFunc):
            mod = IRModule({"main": mod})
        if not isinstance(mod, IRModule):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"expected an IRModule or PrimFunc, got {type(mod).__name__}")
        if error_render_level not in RENDER_LEVELS:
            expected = ", ".join(RENDER_LEVELS)
            raise ValueError(
                f"expected an error_render_level ({expected}), got '{error_render_level}'"
            )
        self.original = mod.clone()
        self.state = ScheduleState(mod.op.clone(), mod.name)
        self.trace = Trace()
        self.random = Random(seed)
        self.error_render_level = error_render_level
        self.is_checked = debug_mask not in ("none", 0)

    @property
    def mod(self) -> IRModule:
        """The module as it is now; later primitives do not change it."""
        mod = self.state.mod
        if mod.history is None:
            mod.history = ScheduleHistory(self.original, self.trace.copy())
        return mod

    @property
    def func(self) -> PrimFunc:
        """The only PrimFunc of the module as it is now; raises ScheduleError for several."""
        names = [f.sym_name.data for f in self.state.functions()]
        if len(names) != 1:
            raise ScheduleError(f"expected a module of one PrimFunc, got {', '.join(names)}")
        function = self.mod[names[0]]
        assert isinstance(function, PrimFunc)
        return function

    def copy(self) -> Self:
        """A schedule of a copy of the module as it is, in which variables stand for the same."""
        new = type(self)(IRModule(), error_render_level=self.error_render_level)
        new.original = self.original
        new.state = self.state.copy()
        new.trace = self.trace.copy()
        new.random = Random(self.fork_seed())
        new.is_checked = self.is_checked
        new.func_working_on = self.func_working_on
        new.take_names(self)
        return new

    def seed(self, seed: int) -> None:
        """Begin draws again with a seed."""
        self.random = Random(seed)

    def fork_seed(self) -> int:
        """A seed for another schedule."""
        return self.random.getrandbits(31)

    def show(self, style: str | None = None, black_format: bool = False) -> None:
        """Print the module and the trace."""
        print(self.mod.script())
        print(self.trace)


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
            moved, sch.moved_parameters = sch.moved_parameters > 0, 0
            name = f"primitive '{inst.kind.method}', number {number} of the schedule,"
            if not inst.kind.is_pure:
                yield "" if moved else name, sch.mod.op
