"""The computations in a block that only its axes determine, how often, and of what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects import tir
from ...dialects.int_expr import Arg, IntExpr
from ...dialects.nesting import operations_in
from ...dialects.sym import Values, exprs_of

Key = tuple[Hashable, ...]
"""Equal for equal computations."""

DIVISIONS = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.FloorDivSIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
)


@dataclass(frozen=True)
class AxisIndex:
    """An index of an access that is an expression over axes: the axes, and the expression."""

    axes: tuple[int, ...]
    expr: IntExpr
    """Over the axes in this order."""


class AxisComputations:
    """The computations in a block that only its axes determine, by their keys."""

    def __init__(self, block: tir.BlockOp):
        self.block = block
        self.keys: dict[SSAValue, Key] = {}
        self.values: dict[Key, list[SSAValue]] = {}
        self.parts: dict[Key, Counter[Key]] = {}
        """How often each computation is done in one, itself included."""
        self.loads: dict[Key, list[tuple[tir.LoadOp, int]]] = {}
        """The loads at an index that is an expression, and its position."""
        self.sites: Counter[Key] = Counter()
        """How often a computation is done for something that is none."""
        for op in operations_in(block):
            self._define(op)
        for op in operations_in(block):
            self._count(op)

    def _define(self, op: Operation) -> None:
        if isinstance(op, tir.ApplyOp):
            index = _index_of(op.expr.data, op.operands, self.block)
            if index is not None:
                self._add(op.result, (index,), Counter())
        elif isinstance(op, arith.ConstantOp):
            self._add(op.result, (op.value, op.result.type), Counter())
        elif _is_computation(op) and all(o in self.keys for o in op.operands):
            keys = tuple(self.keys[o] for o in op.operands)
            attributes = frozenset({**op.properties, **op.attributes}.items())
            parts: Counter[Key] = Counter()
            for key in keys:
                parts += self.parts[key]
            self._add(op.results[0], (op.name, attributes, op.results[0].type, *keys), parts)

    def _add(self, value: SSAValue, key: Key, parts: Counter[Key]) -> None:
        self.keys[value] = key
        self.values.setdefault(key, []).append(value)
        self.parts[key] = parts + Counter([key])

    def _count(self, op: Operation) -> None:
        if not any(result in self.keys for result in op.results):
            self.sites.update(self.keys[o] for o in op.operands if o in self.keys)
        if isinstance(op, tir.LoadOp):
            for position, expr in enumerate(exprs_of(op.indices)):
                index = _index_of(expr, op.operands_, self.block)
                if index is not None:
                    key: Key = (index,)
                    self.loads.setdefault(key, []).append((op, position))
                    self.parts.setdefault(key, Counter([key]))
                    self.sites[key] += 1

    def indices(self) -> list[Key]:
        """The indices of loads, those that are expressions and the values in them."""
        found: dict[Key, None] = {}
        for op in operations_in(self.block):
            if isinstance(op, tir.LoadOp):
                for expr in exprs_of(op.indices):
                    index = _index_of(expr, op.operands_, self.block)
                    keys = [self.keys.get(op.operands_[n]) for n in expr.args()]
                    found |= {} if index is None else {(index,): None}
                    found |= {key: None for key in keys if key is not None}
        return [key for key in found if self._is_worth(key)]

    def repeated(self, least: int) -> list[Key]:
        """The computations that are done `least` times, the largest first."""
        left: Counter[Key] = Counter()
        for key, count in self.sites.items():
            for part, times in self.parts[key].items():
                left[part] += count * times
        chosen: list[Key] = []
        for key in sorted(left, key=lambda k: -self.parts[k].total()):
            if (count := left[key]) >= least and self._is_worth(key):
                chosen.append(key)
                for part, times in self.parts[key].items():
                    left[part] -= count * times
        return chosen

    def _is_worth(self, key: Key) -> bool:
        """Whether something is computed from axes, and stored as a number, not as an index."""
        match key:
            case (AxisIndex() as index,):
                return bool(index.axes) and not isinstance(index.expr.as_atom, Arg)
            case _:
                type_ = self.values[key][0].type
                is_number = isinstance(type_, IndexType | IntegerType | AnyFloat)
                return is_number and type_ != i1 and bool(self.axes_of(key))

    def axes_of(self, key: Key) -> list[int]:
        """The axes that a computation depends on, in the block's order."""
        parts = (part[0] for part in self.parts[key] if len(part) == 1)
        return sorted({axis for part in parts if isinstance(part, AxisIndex) for axis in part.axes})

    def definition(self, key: Key) -> Iterator[Operation]:
        """The operations that compute a value, in order, those of its operands first."""
        pending = [self.values[key][0]]
        needed: set[Operation] = set()
        while pending:
            owner = pending.pop().owner
            assert isinstance(owner, Operation)
            if owner not in needed:
                needed.add(owner)
                pending += [o for o in owner.operands if o in self.keys]
        return (op for op in operations_in(self.block) if op in needed)


def _is_computation(op: Operation) -> bool:
    """Whether an operation has one result, which operands determine whatever they are."""
    if len(op.results) != 1 or op.regions or isinstance(op, tir.LoadOp):
        return False
    if isinstance(op, DIVISIONS) and not _is_nonzero(op.operands[1]):
        return False
    return is_side_effect_free(op)


def _is_nonzero(value: SSAValue) -> bool:
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return number.value.data != 0
        case _:
            return False


def _index_of(expr: IntExpr, operands: Sequence[SSAValue], block: tir.BlockOp) -> AxisIndex | None:
    """An expression over axes of a block alone, and constants; `None` for another one."""
    variables: list[SSAValue] = list(block.axis_vars)
    numbers = sorted(expr.args())
    if expr.symbols() or any(operands[n] not in variables for n in numbers):
        return None
    axes = tuple(sorted({variables.index(operands[n]) for n in numbers}))
    values = Values()
    for axis in axes:
        values.expr(variables[axis])
    return AxisIndex(axes, values.rebase(expr, operands))
