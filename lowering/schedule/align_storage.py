"""`align-storage`: lay out scratch buffers with the strides that `storage_align` requested.

::

    block "T" … annotations {buffer_dim_align = [[0, 0, 32, 8]]}       T: [n, m]

⇒

    block "T" …                                T: [n, m + (8 - m) mod 32], the rest of rows unused
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.nesting import operations_in
from .annotations import unannotate
from .blocks import ScheduleError
from .layout import relayout, verify_movable
from .storage import ALIGNMENTS, alignments_of


def align_storage(func: tir.PrimFuncOp) -> None:
    """Lay out the scratch buffers of a function by the annotations of its blocks.

    Raises ScheduleError for a buffer that is viewed or passed on.
    """
    wanted: dict[SSAValue, dict[int, tuple[int, int]]] = {}
    for block in [op for op in operations_in(func) if isinstance(op, tir.BlockOp)]:
        found = alignments_of(block)
        for number, axis, factor, offset in found:
            buffer = block.write_buffers[number]
            if not isinstance(buffer.owner, tir.AllocBufferOp):
                continue  # of a parameter, which took the place of what was aligned
            verify_movable(buffer, block)
            wanted.setdefault(buffer, {})[axis] = (factor, offset)
        if found:
            unannotate(block, ALIGNMENTS)
    for buffer, alignments in wanted.items():
        assert isinstance(buffer.type, tir.BufferType)
        layout = Rows.of(buffer.type.dims, alignments)
        relayout(buffer, layout.place, layout.dims)


@dataclass(frozen=True)
class Rows:
    """Dims of dense memory; each is the one index that `members` has, or several with strides."""

    dims: list[IntExpr]
    members: list[list[tuple[int, IntExpr]]]

    @staticmethod
    def of(dims: Sequence[IntExpr], alignments: Mapping[int, tuple[int, int]]) -> Rows:
        """The memory of a shape in which some dims have an aligned stride plus an offset.

        The dims inside of a dim with padding become one dim, whose extent is its stride.
        """
        inner: list[IntExpr] = []
        members: list[list[tuple[int, IntExpr]]] = []
        for axis in reversed(range(len(dims))):
            dense = ONE
            for dim in inner:
                dense = dense * dim
            factor, offset = alignments.get(axis, (1, 0))
            stride = dense + (offset - dense) % factor
            if stride != dense:
                members, inner = [_joined(inner, members)], [stride]
            inner, members = [dims[axis], *inner], [[(axis, ONE)], *members]
        return Rows(inner, members)

    def place(self, indices: Sequence[IntExpr]) -> list[IntExpr]:
        """The indices of an element in that memory."""
        found: list[IntExpr] = []
        for group in self.members:
            total = ZERO
            for axis, stride in group:
                total = total + indices[axis] * stride
            found.append(total)
        return found


def _joined(
    dims: Sequence[IntExpr], members: Sequence[Sequence[tuple[int, IntExpr]]]
) -> list[tuple[int, IntExpr]]:
    joined: list[tuple[int, IntExpr]] = []
    step = ONE
    for dim, group in zip(reversed(dims), reversed(members), strict=True):
        joined = [*((axis, stride * step) for axis, stride in group), *joined]
        step = step * dim
    return joined


@dataclass(frozen=True)
class AlignStoragePass(ModulePass):
    """Lay out scratch buffers with the strides that schedules requested."""

    name = "align-storage"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, tir.PrimFuncOp):
                try:
                    align_storage(func)
                except ScheduleError as error:
                    raise PassFailedException(f"in '@{func.sym_name.data}': {error}") from error
