"""Replace a group of pure operations of a block by the call of a function.

A group has one call, so what it needs is computed before it, and what needs it after:

::

    %0 = relax.matmul %x, %w : …            # in the group
    %1 = relax.exp %y : …
    %2 = relax.add %0, %1 : …               # in the group

⇒

::

    %1 = relax.exp %y : …
    %2 = relax.call @fused(%x, %w, %1) : …

A function of several values returns a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.relax.closure import is_pure
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.types import type_symbols
from ..canonical_form import CanonicalForm
from ..functions import functions_by_name, unique_name
from .composite import set_name
from .outlined import outlined_call


class Group:
    """Operations of a block in order, and the values and symbols that go in and out."""

    def __init__(self, ops: Sequence[Operation], copied: Callable[[Operation], bool]):
        """`copied` says which operations outside of the group that it uses are repeated in it."""
        self.ops = ops
        self.members = set(ops)
        used = dict.fromkeys(o for op in ops for o in op.operands if o.owner not in self.members)
        owners = dict.fromkeys(o.owner for o in used if isinstance(o.owner, Operation))
        self.copies = [owner for owner in owners if copied(owner)]
        inside: set[object] = set(self.copies)
        self.inputs = [o for o in used if o.owner not in inside]
        self.outputs = self._outputs()
        determined = set(determined_symbols(v.type for v in self.inputs))
        needed = {s for a in self._attributes() for s in type_symbols(a)}
        self.undetermined = sorted(needed - determined)

    def _outputs(self) -> list[SSAValue]:
        """The values used outside of the group, in order of their first use."""
        block = self.ops[0].parent
        order = {op: i for i, op in enumerate(() if block is None else block.ops)}
        uses = [
            (order[_ancestor_in(order, use.operation)], use.index, value)
            for op in self.ops
            for value in op.results
            for use in value.uses
            if use.operation not in self.members
        ]
        return list(dict.fromkeys(value for *_, value in sorted(uses, key=lambda u: u[:2])))

    def _attributes(self) -> Iterable[Attribute]:
        yield from (v.type for v in self.inputs)
        for op in (*self.copies, *self.ops):
            yield from (*op.result_types, *op.properties.values())

    def insertion_point(self) -> tuple[list[Operation], Operation] | None:
        """The operations that go first, and the one of the group before which the call is then.

        `None` if the group uses a value that depends on it, or if an effect is in the way.
        """
        between = self._between()
        needed: set[Operation] = set()
        for op in reversed([*between, self.ops[-1]]):
            if op in self.members or op in needed:
                needed |= {o for o in _operand_owners(op) if o in between and o not in self.members}
        dependent: set[Operation] = set()
        for op in between:
            if op not in self.members and _operand_owners(op) & (self.members | dependent):
                dependent.add(op)
        if needed & dependent:
            return None
        if all(_can_move(op) for op in needed):
            return [op for op in between if op in needed], self.ops[0]
        return None if dependent else ([], self.ops[-1])

    def _between(self) -> dict[Operation, None]:
        """The operations from the first of the group to the one before the last, in order."""
        found: dict[Operation, None] = {}
        op: Operation | None = self.ops[0]
        while op is not None and op is not self.ops[-1]:
            found[op] = None
            op = op.next_op
        return found


def _ancestor_in(order: dict[Operation, int], op: Operation) -> Operation:
    """The operation of the block in which an operation is."""
    while op not in order:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _operand_owners(op: Operation) -> set[Operation]:
    return {
        o.owner for inner in op.walk() for o in inner.operands if isinstance(o.owner, Operation)
    }


def _can_move(op: Operation) -> bool:
    """Whether an operation can go before others that it does not depend on.

    A cast declares symbols, which types use.
    """
    return is_pure(op) and not op.regions and not isinstance(op, relax.MatchCastOp)


@dataclass
class GroupOutliner:
    """Functions of groups in a module; equal groups share one."""

    module: ModuleOp
    made: dict[object, str] = field(default_factory=lambda: {})

    def outline(self, group: Group, func: relax.FuncOp, user: relax.FuncOp, suffix: str) -> None:
        """Replace a group by a call of `func`, whose name is final up to a number and `suffix`.

        The group has an `insertion_point`.
        """
        key = tuple(CanonicalForm(func, map_free_vars=True, compare_name=False).program)
        if key not in self.made:
            taken = functions_by_name(self.module)
            name = unique_name(func.sym_name.data, taken, separator="") + suffix
            self.made[key] = unique_name(name, taken, separator="")
            set_name(func, self.made[key])
            self.module.body.block.insert_op_before(func, user)
        _replace(group, self.made[key])


def _replace(group: Group, callee: str) -> None:
    found = group.insertion_point()
    assert found is not None
    before, first = found
    for op in before:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(first))
    new = outlined_call(callee, group.inputs, group.undetermined, group.outputs, group.ops[-1])
    call = new[-1].results[0]
    results: dict[SSAValue, SSAValue] = {group.outputs[0]: call}
    if len(group.outputs) > 1:
        results = {}
        for value in _in_order(group):
            field_op = relax.TupleGetItemOp(call, group.outputs.index(value))
            field_op.result.name_hint = value.name_hint
            results[value] = field_op.result
            new.append(field_op)
    Rewriter.insert_op(new, InsertPoint.before(first))
    for value, result in results.items():
        value.replace_all_uses_with(result)
    for op in reversed(group.ops):
        Rewriter.erase_op(op, safe_erase=False)
    for op in group.copies:
        if all(r.first_use is None for r in op.results):
            Rewriter.erase_op(op)


def _in_order(group: Group) -> list[SSAValue]:
    """The outputs in the order of the operations."""
    return [r for op in group.ops for r in op.results if r in group.outputs]
