"""What a kernel has to do by its TensorIR: arithmetic operations, and bytes of its buffers.

Arithmetic is counted for each block over the extents of its axes, so that a matmul has ``2 M N K``
however its loops are arranged. A buffer that is given counts once as read if the kernel loads from
it before it stores there, and once as written; never more than what the loads and stores move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import tir
from ..dialects.dtypes import byte_width, dtype_name
from ..dialects.int_expr import ONE, IntExpr, minimum
from ..dialects.sym import exprs_of
from ..dialects.tir.types import BufferType

_ARITHMETIC = frozenset(
    f"arith.{name}"
    for name in (
        *("addf", "subf", "mulf", "divf", "remf", "negf", "maximumf", "minimumf", "maxnumf"),
        *("minnumf", "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi"),
        *("maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori", "shli", "shrsi", "shrui"),
    )
)
_SEVERAL = {"math.fma": 2, "tir.dp4a": 7, "tir.bfdot": 3}
_DOTS = {"tir.dp4a": "int8", "tir.bfdot": "bfloat16"}
"""The dtypes of what dot products multiply."""


class Work(NamedTuple):
    """Operations and bytes, over the symbols of the kernel; `None` where data decides."""

    operations: IntExpr | None
    read: IntExpr
    written: IntExpr
    dtype: str
    """The widest type that the arithmetic is done in, or that of the numbers of dot products."""


@dataclass
class _Access:
    """How often a buffer is loaded from and stored to, and which of them comes first."""

    loads: IntExpr = field(default_factory=lambda: IntExpr.of(0))
    stores: IntExpr = field(default_factory=lambda: IntExpr.of(0))
    starts_with_load: bool = False
    is_stored: bool = False
    is_counted: bool = True
    """Whether the counts hold: not where data decides how often a loop runs."""


class _Counter:
    def __init__(self) -> None:
        self.operations = IntExpr.of(0)
        self.is_known = True
        self.dots: set[str] = set()
        self.accesses: dict[SSAValue, _Access] = {}
        self.types: dict[Attribute, None] = {}

    def block(self, block: Block, times: IntExpr | None, loops: Sequence[tir.ForOp]) -> None:
        """Count a block of operations, which runs `times` for each iteration of the loops."""
        for op in block.ops:
            match op:
                case tir.ForOp():
                    self.block(op.body.block, times, [*loops, op])
                case tir.BlockOp():
                    self._tir_block(op, times, loops)
                case tir.InitOp():
                    pass  # counted with its block
                case scf.WhileOp():
                    for region in op.regions:
                        self.block(region.block, None, ())
                case _:
                    self._operation(op, _over(times, map(_extent, loops)))
                    for region in op.regions:
                        for inner in region.blocks:
                            self.block(inner, times, loops)

    def _tir_block(
        self, op: tir.BlockOp, times: IntExpr | None, loops: Sequence[tir.ForOp]
    ) -> None:
        numbering = op.numbering()
        bound = {numbering[i] for b in exprs_of(op.bindings) for i in b.args()}
        repeated = [_extent(loop) for loop in loops if loop.loop_var not in bound]
        extents: dict[bool, list[IntExpr | None]] = {False: [], True: []}
        for axis in op.axes.data:
            extents[axis.kind.data == "reduce"].append(_symbolic(axis.extent.data))
        outputs = _over(times, [*repeated, *extents[False]])
        if op.init is not None:
            self.block(op.init.body.block, outputs, ())
        self.block(op.body.block, _over(outputs, extents[True]), ())

    def _operation(self, op: Operation, times: IntExpr | None) -> None:
        if isinstance(op, tir.LoadOp | tir.StoreOp):
            self._access(op, times)
        elif isinstance(op, tir.OpaqueCallOp):
            self.is_known = False
        elif count := _operations_of(op):
            self.types[op.results[0].type] = None
            self.dots |= {_DOTS[op.name]} if op.name in _DOTS else set()
            self.is_known &= times is not None
            self.operations += 0 if times is None else times * count

    def _access(self, op: tir.LoadOp | tir.StoreOp, times: IntExpr | None) -> None:
        is_load = isinstance(op, tir.LoadOp)
        access = self.accesses.setdefault(root_of(op.buffer), _Access(starts_with_load=is_load))
        access.is_counted &= times is not None
        access.is_stored |= not is_load
        if times is not None and is_load:
            access.loads += times
        elif times is not None:
            access.stores += times

    def moved(self, buffer: SSAValue, count: Callable[[_Access], IntExpr | None]) -> IntExpr:
        """Bytes of a buffer, or of as many elements as are counted where these are fewer."""
        assert isinstance(buffer.type, BufferType)
        access = self.accesses.get(buffer)
        elements = None if access is None else count(access)
        if access is None or elements is None:
            return IntExpr.of(0)
        size = buffer.type.size_in_bytes()
        if not access.is_counted:
            return size
        return minimum(size, elements * byte_width(buffer.type.element_type))


def work_of(func: tir.PrimFuncOp) -> Work:
    """What a kernel does, over its symbols."""
    counter = _Counter()
    counter.block(func.body.block, ONE, ())
    buffers = [p for p in func.params if isinstance(p.type, BufferType)]
    zero = IntExpr.of(0)
    read = [counter.moved(b, lambda a: a.loads if a.starts_with_load else None) for b in buffers]
    written = [counter.moved(b, lambda a: a.stores if a.is_stored else None) for b in buffers]
    widest = max(counter.types, key=byte_width, default=None)
    dtype = "" if widest is None else dtype_name(widest)
    return Work(
        counter.operations if counter.is_known else None,
        sum(read, zero),
        sum(written, zero),
        max(counter.dots, default=dtype),
    )


def root_of(buffer: SSAValue) -> SSAValue:
    """The buffer that an alias is of."""
    while isinstance(buffer.owner, tir.MatchBufferOp):
        buffer = buffer.owner.source
    return buffer


def _operations_of(op: Operation) -> int:
    if len(op.results) != 1 or isinstance(op.results[0].type, IndexType):
        return 0
    if op.name in _SEVERAL:
        return _SEVERAL[op.name]
    return int(op.name in _ARITHMETIC or op.name.startswith("math."))


def _symbolic(extent: IntExpr) -> IntExpr | None:
    """An extent over symbols alone; `None` where it depends on loops or data."""
    return None if extent.args() else extent


def _extent(loop: tir.ForOp) -> IntExpr | None:
    return _symbolic(loop.extent.data)


def _over(times: IntExpr | None, extents: Iterable[IntExpr | None]) -> IntExpr | None:
    for extent in extents:
        times = None if times is None or extent is None else times * extent
    return times
