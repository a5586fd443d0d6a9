"""The insertion point in an LLVM function, with the enclosing regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import llvm_ext, loops, tir
from ...dialects.int_expr import Sym
from ...dialects.tir.types import BufferType
from .layout import root_of
from .types import PLAIN, i32_array, string

Source: TypeAlias = SSAValue | Sym
"""A value or a symbol of a function of the source."""


class Level:
    """A region of structured control flow: its current block, its values, its index arithmetic.

    The block stays open while inner regions are lowered, so that arithmetic on values of this level
    can still be added to it: this hoists invariant index expressions out of loops.
    """

    __slots__ = ("_written", "block", "loop", "memo", "values")

    def __init__(self, block: Block):
        self.block = block
        self.loop: Operation | None = None
        """The loop of this body, if it runs whenever the enclosing region does."""
        self._written: set[SSAValue] | None = None
        self.values: dict[Source, SSAValue] = {}
        self.memo: dict[object, SSAValue] = {}

    def leaves(self, root: SSAValue) -> bool:
        """Whether this is a loop's body that certainly runs, and never writes the buffer `root`."""
        if self.loop is None:
            return False
        if self._written is None:
            self._written = {root_of(b) for op in self.loop.walk() for b in _may_write(op)}
        return root not in self._written


class Cursor:
    """Adds blocks to a function's region, and operations to the last one of them.

    Each of `levels` is a region of the source that is being lowered, the innermost last.
    """

    def __init__(self, region: Region):
        self.region = region
        self.location: LocationAttr = UNKNOWN_LOC
        """The source location of the operations that are added."""
        self.levels = [Level(Block())]
        self.region.add_block(self.levels[0].block)

    @property
    def block(self) -> Block:
        """The block to which operations are added."""
        return self.levels[-1].block

    def add_block(self, arg_types: Sequence[Attribute] = ()) -> Block:
        """A new block of the function."""
        block = Block(arg_types=arg_types)
        self.region.add_block(block)
        return block

    def continue_in(self, block: Block) -> None:
        """Continue in another block, which becomes the last one of the function."""
        if block.parent is None:
            self.region.add_block(block)
        self.levels[-1].block = block

    def push(self, block: Block) -> Level:
        """Start a region inside of the current one, at `block`."""
        if block.parent is None:
            self.region.add_block(block)
        level = Level(block)
        self.levels.append(level)
        return level

    def pop(self) -> None:
        """Leave a region, and drop its values."""
        self.levels.pop()

    def add(self, op: Operation, level: Level | None = None) -> None:
        """Add an operation, maybe to an outer region."""
        op.location = self.location
        (level or self.levels[-1]).block.add_op(op)

    def emit(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] = PLAIN,
    ) -> SSAValue:
        """Add an operation with one result."""
        op = kind.create(operands=operands, result_types=(type_,), properties=properties)
        self.add(op)
        return op.results[0]

    def run(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute] = PLAIN,
    ) -> None:
        """Add an operation without results."""
        self.add(kind.create(operands=operands, properties=properties))

    def intrinsic(
        self,
        name: str,
        args: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] = PLAIN,
    ) -> SSAValue:
        """Call an LLVM intrinsic with a result."""
        return self.emit(
            llvm_ext.IntrinsicOp, args, type_, {"intrinsic": string(name), **properties}
        )

    def branch(
        self, target: Block, args: Sequence[SSAValue] = (), attributes: Mapping[str, Attribute] = {}
    ) -> None:
        """End the current block with a jump."""
        op = llvm.BrOp.create(operands=args, successors=[target], attributes=attributes)
        self.add(op)

    def branch_if(
        self,
        condition: SSAValue,
        then: Block,
        otherwise: Block,
        then_args: Sequence[SSAValue] = (),
        else_args: Sequence[SSAValue] = (),
        attributes: Mapping[str, Attribute] = {},
    ) -> None:
        """End the current block with a choice."""
        segments = i32_array(1, len(then_args), len(else_args))
        op = llvm.CondBrOp.create(
            operands=[condition, *then_args, *else_args],
            successors=[then, otherwise],
            properties={"operandSegmentSizes": segments},
            attributes=attributes,
        )
        self.add(op)


def _may_write(op: Operation) -> Sequence[SSAValue]:
    """The buffers that an operation stores to, or passes to a function."""
    if isinstance(op, loops.StoreOp):
        return (op.buffer,)
    if isinstance(op, tir.OpaqueCallOp):
        return [a for a in op.args if isinstance(a.type, BufferType)]
    return ()
