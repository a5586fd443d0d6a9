"""`pack-constants`: constant operands of contractions are laid out in the panels that tiles read.

::

    relax.call_tir @matmul(%x, %w) : …                         %w is a constant

⇒

    %1 = relax.nn.pad %w {…}                                   columns up to whole panels
    %2 = relax.reshape %1 …
    %3 = relax.permute_dims %2 {…}                             [n // 64, k, 64]
    relax.call_tir @matmul(%x, %3) : …

The kernel's parameter gets the new type, and its loads the new indices. The rest is done once: by
`fold-constant` when the module is compiled, or if much memory is moved, when it is loaded
(`hoist-to-load`). A kernel that some call gives what is not made of constants stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import relax, tir
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.reshaping import ReshapeOp
from ...dialects.relax.operators.slicing import PadOp
from ..functions import is_private
from ..schedule.blocks import IS_SCHEDULED, blocks_in, uses_of
from ..schedule.layout import transform_layout
from ..schedule.rules.contraction_plan import choose_rows, is_packable
from ..schedule.rules.match_contraction import Contraction, column_dim, contraction_of, dense_bytes
from ..sizes import is_worth_keeping
from .fold_constant import is_computed_from_constants


@dataclass(frozen=True)
class Panels:
    """A parameter that is to be laid out in panels of so many columns, which index `dim`."""

    contraction: Contraction
    parameter: BlockArgument
    dim: int
    columns: int
    width: int

    @property
    def order(self) -> list[int]:
        """The dims of the reshaped constant in the order of the panels."""
        rank = len(self._dims) + 1
        return [
            self.dim,
            *(d for d in range(rank) if d not in (self.dim, self.dim + 1)),
            self.dim + 1,
        ]

    @property
    def shape(self) -> list[IntExpr]:
        """The dims of the panels."""
        count = -(-self.columns // self.width)
        rest = [e for d, e in enumerate(self._dims) if d != self.dim]
        return [IntExpr.of(count), *rest, IntExpr.of(self.width)]

    @property
    def _dims(self) -> tuple[IntExpr, ...]:
        assert isinstance(self.parameter.type, tir.BufferType)
        return self.parameter.type.dims

    def indices(self, old: Sequence[IntExpr]) -> list[IntExpr]:
        """Where an element of the parameter is in the panels."""
        column = old[self.dim]
        rest = [e for d, e in enumerate(old) if d != self.dim]
        return [column // self.width, *rest, column % self.width]

    def lay_out(self, value: SSAValue) -> list[Operation]:
        """The operators that bring a tensor into panels, the last one's result being these."""
        dims = [d.constant for d in self._dims]
        count = -(-self.columns // self.width)
        made: list[relax.OperatorOp] = []
        if missing := count * self.width - self.columns:
            widths = [0] * (2 * len(dims))
            widths[2 * self.dim + 1] = missing
            made.append(PadOp.of([value], {"pad_width": widths}))
            value = made[-1].result
        split = [*dims[: self.dim], count, self.width, *dims[self.dim + 1 :]]
        made.append(ReshapeOp.of([value], {"shape": split}))
        made.append(PermuteDimsOp.of([made[-1].result], {"axes": self.order}))
        return list(made)


def pack_constants(module: ModuleOp, target: Target) -> None:
    """Lay out every constant that only calls of one kernel's contraction use."""
    calls = _calls_by_callee(module)
    for func in list(module.body.block.ops):
        if not isinstance(func, tir.PrimFuncOp) or func.attr(IS_SCHEDULED) is not None:
            continue
        if not is_private(func) or func.sym_name.data not in calls:
            continue
        for panels in panels_of(func, target):
            _pack(panels, calls[func.sym_name.data])


def panels_of(func: tir.PrimFuncOp, target: Target) -> list[Panels]:
    """The parameters of a kernel that contractions would rather read in panels."""
    found: list[Panels] = []
    for block in blocks_in(func):
        contraction = contraction_of(block)
        if contraction is None or not is_packable(contraction):
            continue
        (load,) = contraction.rhs
        lanes = target.lanes(contraction.element_bits)
        dim, columns = column_dim(contraction, load), contraction.extent(contraction.n).constant
        buffer = load.buffer
        if not isinstance(buffer, BlockArgument) or uses_of(buffer).loads != [load]:
            continue
        size = dense_bytes(buffer)
        if lanes < 2 or dim is None or columns is None or not size:
            continue
        _, tile = choose_rows(contraction, lanes, target)
        width = tile.vectors * lanes
        if is_worth_keeping(size // columns * (-(-columns // width) * width), size):
            found.append(Panels(contraction, buffer, dim, columns, width))
    return found


def _calls_by_callee(module: ModuleOp) -> dict[str, list[relax.CallTIROp]]:
    """The calls of each kernel; kernels that something else refers to are left out."""
    found: dict[str, list[relax.CallTIROp]] = {}
    others: set[str] = set()
    for op in module.walk():
        if isinstance(op, relax.CallTIROp):
            found.setdefault(op.callee_name, []).append(op)
            continue
        match op.properties.get("callee"):
            case SymbolRefAttr() as callee:
                others.add(callee.root_reference.data)
            case StringAttr(data=name):
                others.add(name)
            case _:
                pass
    return {name: calls for name, calls in found.items() if name not in others}


def _pack(panels: Panels, calls: Sequence[relax.CallTIROp]) -> None:
    position = panels.parameter.index
    constants = [call.args[position].owner for call in calls]
    if not all(is_computed_from_constants(call.args[position]) for call in calls):
        return
    for call in calls:
        value = call.args[position]
        ops = panels.lay_out(value)
        assert call.parent is not None
        for op in ops:
            op.location = call.location
        call.parent.insert_ops_before(ops, call)
        call.operands = [
            ops[-1].results[0] if i == position else v for i, v in enumerate(call.operands)
        ]
    transform_layout(panels.contraction.block, panels.parameter, panels.indices, panels.shape)
    for constant in constants:
        if isinstance(constant, relax.ConstantOp) and constant.result.first_use is None:
            constant.detach()
            constant.erase()


@dataclass(frozen=True)
class PackConstantsPass(ModulePass):
    """Lay out constant operands of contractions in panels as wide as the target's tiles."""

    name = "pack-constants"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pack_constants(op, Target(self.target))
