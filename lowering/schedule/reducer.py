"""Match the combiner of a reduction block: ``Y[i] = combine(Y[i], value)``.

The combiner must be associative and commutative: a sum, product, minimum, maximum or bitwise
operation, or a selection between old and new values, such as argmax.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import IntExpr
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..analysis.reductions import Accumulation, identity
from .blocks import ScheduleError
from .copy_scalars import ScalarCopier
from .truth_table import Cases, may_regroup, may_reorder, truth_table

COUNTING = (arith.AddfOp, arith.AddiOp, arith.MulfOp, arith.MuliOp, arith.XOrIOp)
"""Accumulations that are not idempotent."""


@dataclass(frozen=True)
class Update:
    """``store(combine(old, value))``: one result of a reduction and the combined value."""

    store: tir.StoreOp
    value: SSAValue

    @property
    def buffer(self) -> SSAValue:
        """The buffer of the results."""
        return self.store.buffer


@dataclass(frozen=True)
class Combination:
    """The combiner of one result, or of several together."""

    operations: list[Operation]
    same: Mapping[SSAValue, int]
    """Values of the body that equal an update's value, by its number."""


@dataclass(frozen=True)
class Reducer:
    """The results of a reduction block and the operations that combine old and new ones."""

    updates: list[Update]
    combinations: list[Combination]
    """One for each result, in order, or one for all that are chosen."""

    def combine(self, copier: ScalarCopier, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Copy the combination of the old results with other values; returns the new results."""
        for combination in self.combinations:
            for value, number in combination.same.items():
                copier.scope.data[value] = values[number]
            copier.copy_all(combination.operations)
        return [copier.value(u.store.value) for u in self.updates]

    @property
    def is_choice(self) -> bool:
        """Whether results are selected among old and new ones."""
        return any(isinstance(u.store.value.owner, arith.SelectOp) for u in self.updates)

    def is_in_any_order(self) -> bool:
        """Whether the combiner is associative and commutative, also for equal values and NaN."""
        if not self.is_choice:
            return True
        table = self.table(with_nan=True)
        return table is not None and may_regroup(table) and may_reorder(table)

    def table(self, with_nan: bool) -> Cases | None:
        """The truth table of a selection; None unless comparisons of results decide it."""
        (choice,) = self.combinations
        numbers = {u.buffer: i for i, u in enumerate(self.updates)}
        loads = [op for op in choice.operations if isinstance(op, tir.LoadOp)]
        old: dict[SSAValue, int] = {op.result: numbers[op.buffer] for op in loads}
        results = [u.store.value for u in self.updates]
        return truth_table(choice.operations, results, old, choice.same, with_nan)

    def may_start_again(self, init: tir.InitOp) -> bool:
        """Whether results are the same if several partial ones start with the initial value."""
        operations = {u.buffer: u.store.value.owner for u in self.updates}
        stores = [op for op in init.walk() if isinstance(op, tir.StoreOp)]
        return all(_is_neutral(s.value, operations[s.buffer]) for s in stores)


def _is_neutral(value: SSAValue, operation: Operation | Block) -> bool:
    """Whether an initial value may be combined several times."""
    if not isinstance(operation, COUNTING):
        return True
    constant = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    neutral = identity(operation, value.type).value.data
    return isinstance(constant, IntegerAttr | FloatAttr) and constant.value.data == neutral


def reducer_of(block: tir.BlockOp) -> Reducer:
    """The combiners of a reduction block; raises ScheduleError if one is not associative."""
    where = f"block '{block.block_name.data}'"
    body = _Body(block)
    stores = [op for op in block.body.block.ops if isinstance(op, tir.StoreOp)]
    if not stores or len({s.buffer for s in stores}) != len(stores):
        raise ScheduleError(f"expected {where} to store one element of each result", block)
    keys = [body.key_of_access(s) for s in stores]
    for op in block.body.block.walk():
        if isinstance(op, tir.LoadOp) and op.buffer in {s.buffer for s in stores}:
            if body.key_of_access(op) not in keys or not body.is_before_store(op):
                raise ScheduleError(
                    f"expected {where} to load from {buffer_text(op.buffer)} only the element that "
                    "it stores, before the store",
                    block,
                )
    _verify_init(block, stores, body)
    return _verified(block, [Update(s, _taken_in(block, s, body)) for s in stores], body)


def _verify_init(block: tir.BlockOp, stores: Sequence[tir.StoreOp], body: _Body) -> None:
    """Raise ScheduleError unless the init stores each result once, and nothing else."""
    if block.init is None:
        return
    where = f"block '{block.block_name.data}'"
    for op in block.init.body.block.ops:
        if op.regions:
            raise ScheduleError(
                f"expected the init of {where} to store only its results, got '{op.name}'", op
            )
    started = [op for op in block.init.body.block.ops if isinstance(op, tir.StoreOp)]
    wanted = {body.key_of_access(s) for s in stores}
    found = {body.key_of_access(s) for s in started}
    if found != wanted or len(started) != len(stores):
        names = (", ".join(buffer_text(s.buffer) for s in group) for group in (stores, started))
        raise ScheduleError(
            f"expected the init of {where} to initialize each result once ({{}}), got {{}}".format(
                *names
            ),
            block,
        )


def _taken_in(block: tir.BlockOp, store: tir.StoreOp, body: _Body) -> SSAValue:
    """The value that the last operation before a store combines with the old result."""
    op = store.value.owner
    operands: list[SSAValue] = []
    if isinstance(op, Accumulation):
        operands = list(op.operands)
    elif isinstance(op, arith.SelectOp):
        operands = [op.lhs, op.rhs]
    old = [v for v in operands if body.is_old(v, store)]
    new = [v for v in operands if v not in body.dependent]
    if len(old) != 1 or len(new) != 1:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to combine {buffer_text(store.buffer)} with "
            "one value by an associative and commutative operation or a select",
            block,
        )
    return new[0]


def _verified(block: tir.BlockOp, updates: list[Update], body: _Body) -> Reducer:
    """The reducer, if combiners use only old results, new values and constants."""
    choices = [u for u in updates if isinstance(u.store.value.owner, arith.SelectOp)]
    if choices and len(choices) != len(updates):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to select all results or none", block
        )
    if not choices and any(body.mixes(u) for u in updates):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to combine each result separately", block
        )
    reducer = Reducer(updates, _combinations(updates, body, bool(choices)))
    table = reducer.table(with_nan=False) if choices else None
    if choices and (table is None or not may_regroup(table)):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to select by comparisons whose result does "
            "not depend on the order of values",
            block,
        )
    return reducer


def _combinations(updates: list[Update], body: _Body, choose: bool) -> list[Combination]:
    """A combiner for each result, or one for all results that are selected together."""
    wanted = [(body.key(u.value), i) for i, u in enumerate(updates)]
    if not choose:
        return [_combination([u], dict([w]), body) for u, w in zip(updates, wanted, strict=True)]
    if len(dict(wanted)) != len(updates):
        raise ScheduleError(
            f"expected block '{body.block.block_name.data}' to select each result from other "
            "values",
            body.block,
        )
    return [_combination(updates, dict(wanted), body)]


def _combination(
    updates: Sequence[Update], wanted: Mapping[object, int], body: _Body
) -> Combination:
    """The operations from old results and `wanted` values to new results."""
    block, same = body.block, dict[SSAValue, int]()
    needed: set[Operation] = set()
    todo = [u.store.value for u in updates]
    while todo:
        value = todo.pop()
        number = wanted.get(body.key(value))
        op = value.owner
        if number is not None:
            same[value] = number
        elif isinstance(op, tir.LoadOp) and op.buffer in body.stored:
            needed.add(op)
        elif isinstance(op, Operation) and op.name.startswith("arith.") and not op.regions:
            needed.add(op)
            todo += op.operands
        else:
            name = "an axis" if isinstance(op, Block) else f"'{op.name}'"
            raise ScheduleError(
                f"expected block '{block.block_name.data}' to combine old results only with its "
                f"input values, got {name}",
                block,
            )
    return Combination([op for op in block.body.block.ops if op in needed], same)


@dataclass
class _Body:
    """The values of a block's body: which depend on old results, and which are equal."""

    block: tir.BlockOp
    stored: set[SSAValue] = field(default_factory=lambda: set())
    dependent: set[SSAValue] = field(default_factory=lambda: set())
    numbering: Values = field(default_factory=Values)
    keys: dict[SSAValue, object] = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        ops = self.block.body.block.ops
        self.stored = {op.buffer for op in ops if isinstance(op, tir.StoreOp)}
        for op in self.block.body.block.ops:
            if isinstance(op, tir.InitOp):
                continue
            uses = any(
                (isinstance(o, tir.LoadOp) and o.buffer in self.stored)
                or any(v in self.dependent for v in o.operands)
                for o in op.walk()
            )
            if uses:
                self.dependent.update(op.results)
            if uses and op.regions:
                raise ScheduleError(
                    f"expected block '{self.block.block_name.data}' to combine results without "
                    f"'{op.name}'",
                    op,
                )

    def is_old(self, value: SSAValue, store: tir.StoreOp) -> bool:
        """Whether a value is the old element at the indices of a store."""
        load = value.owner
        return isinstance(load, tir.LoadOp) and (
            self.key_of_access(load) == self.key_of_access(store)
        )

    def is_before_store(self, load: tir.LoadOp) -> bool:
        """Whether a result is loaded before the block stores to it."""
        op = load.prev_op
        while op is not None and not (isinstance(op, tir.StoreOp) and op.buffer is load.buffer):
            op = op.prev_op
        return op is None

    def mixes(self, update: Update) -> bool:
        """Whether a result depends on old values of other results."""
        op = update.store.value.owner
        return isinstance(op, Operation) and any(
            v in self.dependent and not self.is_old(v, update.store) for v in op.operands
        )

    def key_of_access(self, op: tir.LoadOp | tir.StoreOp) -> tuple[SSAValue, tuple[IntExpr, ...]]:
        """Equal for accesses to one element."""
        indices = exprs_of(op.indices)
        return op.buffer, tuple(self.numbering.rebase(e, op.operands_) for e in indices)

    def key(self, value: SSAValue) -> object:
        """Equal for values of structurally equal computations."""
        if value not in self.keys:
            self.keys[value] = self._key(value)
        return self.keys[value]

    def _key(self, value: SSAValue) -> object:
        op = value.owner
        match op:
            case tir.LoadOp():
                return self.key_of_access(op)
            case tir.ApplyOp():
                return self.numbering.rebase(op.expr.data, op.operands)
            case Block():
                return value
            case _ if op.regions or not op.results:
                return value
            case _:
                properties = tuple(sorted((k, v) for k, v in op.properties.items()))
                operands = tuple(self.key(v) for v in op.operands)
                return op.name, operands, properties, op.results.index(value)
