"""Primitives that find blocks and loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ....dialects.nesting import ancestors
from ..blocks import ScheduleError, function_of, loops_around
from ..navigate import (
    blocks_named,
    child_blocks,
    consumers_of,
    output_blocks,
    producers_of,
    root_block,
)
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, LoopRV, RandomVariable
from .sampled import expression_in
from .state import StmtSRef, UnknownFunctionError

P = ParamSpec("P")
R = TypeVar("R")


class LookupPrimitives(Primitives):
    """Primitives that find blocks and loops, and do not change the module."""

    def __init__(self) -> None:
        super().__init__()
        self.working_on: str | None = None

    def work_on(self, func_name: str) -> None:
        """Set the function in which blocks are looked up; raises ScheduleError if there is none."""
        self.working_on = self.state.function(func_name).sym_name.data

    @primitive(is_pure=True)
    def get_block(self, name: str, func_name: str | None = None) -> BlockRV:
        """Look up a block by its name.

        The function is `func_name`; by default, that of `work_on`, the only one, or "main".
        ``"root"`` is the block around the function's loops. Raises ScheduleError if there is no
        such block, or several, and for several functions one that is a ValueError too.
        """
        func_name = func_name or self._default_function()
        self.record(func_name=func_name)
        func = self.state.function(func_name)
        if name == "root":
            return self.new_block(root_block(func))
        found = blocks_named(func, name)
        if len(found) == 1:
            return self.new_block(found[0])
        known = ", ".join(dict.fromkeys(b.block_name.data for b in blocks_named(func)))
        got = f"{len(found)} of the name" if found else "none"
        raise ScheduleError(
            f"expected one block '{name}' in function '{func_name}' ({known}), got {got}"
        )

    get_sblock = get_block

    def _default_function(self) -> str:
        names = [f.sym_name.data for f in self.state.functions()]
        if self.working_on is not None:
            return self.working_on
        if len(names) == 1:
            return names[0]
        if "main" in names:
            return "main"
        raise UnknownFunctionError(
            f"expected func_name ({', '.join(names)}), or work_on before it: the schedule does not "
            "know which function to be working on"
        )

    @primitive(is_pure=True)
    def get_loops(self, block: BlockRV | str) -> list[LoopRV]:
        """The loops around a block, outermost first, up to the parent block."""
        return self.new_loops(loops_around(self.block(block)))

    @primitive(is_pure=True)
    def get_child_blocks(self, block_or_loop: BlockRV | LoopRV) -> list[BlockRV]:
        """The outermost blocks in a block or loop."""
        return self.new_blocks(child_blocks(self.block_or_loop(block_or_loop)))

    @primitive(is_pure=True)
    def get_producers(self, block: BlockRV | str) -> list[BlockRV]:
        """The producers of a block: earlier blocks of its scope that store what it loads."""
        return self.new_blocks(producers_of(self.block(block)))

    @primitive(is_pure=True)
    def get_consumers(self, block: BlockRV | str) -> list[BlockRV]:
        """The consumers of a block: later blocks of its scope that load what it stores."""
        return self.new_blocks(consumers_of(self.block(block)))

    @primitive(is_pure=True)
    def get_output_blocks(self, scope_block: BlockRV | str) -> list[BlockRV]:
        """The blocks in a block that store to a buffer defined outside of it, outer ones first."""
        return self.new_blocks(output_blocks(self.block(scope_block)))

    def get(self, rand_var_or_sref: object) -> tir.BlockOp | tir.ForOp | int | str | None:
        """The value of a variable: the operation of a block or loop, or a number.

        The variable may be an expression of sampled numbers. Raises TypeError for anything else,
        and ScheduleError for a dead one.
        """
        expr = expression_in(rand_var_or_sref)
        if isinstance(expr, IntExpr):
            return self.evaluated(expr)
        if not isinstance(rand_var_or_sref, RandomVariable):
            raise TypeError(f"expected a variable, got {type(rand_var_or_sref).__name__}")
        return self.state.resolve(rand_var_or_sref)

    def get_sref(self, rand_var_or_stmt: BlockRV | LoopRV | tir.BlockOp | tir.ForOp) -> StmtSRef:
        """The reference to the block or loop of a variable; raises ScheduleError for a dead one."""
        if isinstance(rand_var_or_stmt, BlockRV | LoopRV):
            rand_var_or_stmt = self.block_or_loop(rand_var_or_stmt)
        return self.state.get_sref(rand_var_or_stmt)

    @overload
    def rv(self, op: tir.BlockOp) -> BlockRV: ...

    @overload
    def rv(self, op: tir.ForOp) -> LoopRV: ...

    def rv(self, op: tir.BlockOp | tir.ForOp) -> BlockRV | LoopRV:
        """The variable of a block or loop of the module; looked up if there is none yet."""
        if op not in self.state.variables:
            self._look_up(op)
        found = self.state.variables[op]
        assert isinstance(found, BlockRV | LoopRV)
        return found

    def _look_up(self, op: tir.BlockOp | tir.ForOp) -> None:
        """Define a variable for an operation, by name or by the block around it."""
        if isinstance(op, tir.ForOp):
            self.get_loops(self.rv(child_blocks(op)[0]))
            return
        func, name = function_of(op), op.block_name.data
        if op is root_block(func) if name == "root" else len(blocks_named(func, name)) == 1:
            self.get_block(name, func.sym_name.data)
            return
        around = [o for o in ancestors(op) if isinstance(o, tir.BlockOp | tir.ForOp)]
        known = next((o for o in around if o in self.state.variables), None)
        self.get_child_blocks(self.rv(known or root_block(func)))
        if op not in self.state.variables:  # it is in another block
            self.rv(next(o for o in around if isinstance(o, tir.BlockOp)))
            self._look_up(op)

    def try_(self, primitive: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """The result of a primitive, or `None` if it does not apply; the IR is unchanged then."""
        try:
            return primitive(*args, **kwargs)
        except ScheduleError:
            return None

    def applies(self, primitive: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> bool:
        """Run a primitive; returns whether it applied. The IR is unchanged if it did not."""
        try:
            primitive(*args, **kwargs)
        except ScheduleError:
            return False
        return True

    def remove_rv(self, rand_var: RandomVariable) -> None:
        """Remove a variable; raises ScheduleError if it is dead or unknown."""
        self.state.resolve(rand_var)
        self.state.forget(rand_var)
