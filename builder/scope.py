"""A function while it is built: expressions are emitted into its blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects import relax
from ..dialects.diagnostics import BuilderError
from ..dialects.parameters import value_name
from ..dialects.relax.closure import is_pure
from ..ir.call_parts import with_operands
from ..ir.detached import FreeVariable, OpenDataflow, attach, known_as
from ..ir.expr import Expr, Var, expression
from ..lowering.graph.values import canonical
from .module import Names

COPIED = (relax.ConstantOp, relax.PrimValueOp, relax.ShapeOp, relax.StringOp)
"""Operations without operands that stand where they are needed, in as many places as that takes."""


class OldName(str):
    """The name of a value in the function that is rewritten, which what stands for it keeps."""


class FunctionScope:
    """A function that is being built.

    `remap` says what stands for values of the function that this one is rewritten from, `source`.
    """

    def __init__(self, name: str, params: Sequence[Var] | None, source: relax.FuncOp | None = None):
        self.name = name
        self.params = None if params is None else checked_params(name, params)
        self.source = source
        self.body = Block()
        self.blocks: list[Block] = [self.body]
        self.visited: Operation | None = None
        self.remap: dict[SSAValue, SSAValue] = {}
        self.is_finished = False
        self._held: list[Expr] = []
        self._names = Names([*(p.name_hint for p in self.params or ()), *_hints(source)])
        self._invented: set[SSAValue] = set()
        self._implicit: set[SSAValue] = set()
        self.variables: dict[SSAValue, None] = {}

    @property
    def block(self) -> Block:
        """The innermost open block."""
        return self.blocks[-1]

    @property
    def in_dataflow(self) -> bool:
        """Whether a dataflow block is open."""
        return isinstance(self.block, OpenDataflow)

    def emit(self, value: SSAValue, name_hint: str = "") -> SSAValue:
        """Bring a value into the function, with what it is computed from; it gets a name.

        What is in the function already keeps its name. Raises ValueError with one line for a value
        of another function.
        """
        self.require_open()
        known = self._known(value)
        resolved = self._import(value, name_hint) if known is None else known
        if name_hint and resolved in self._invented:
            self._rename(resolved, name_hint)
        return resolved

    def again(self, value: SSAValue) -> SSAValue:
        """An expression that was emitted into another function, on the variables it was made of."""
        value = canonical(value)
        if self.source is not None or self._known(value) is not None:
            return value
        owner = value.owner
        if isinstance(owner, Block):
            return known_as(value)
        if owner.parent is None or owner.regions or not is_pure(owner):
            return value
        new = expression(with_operands(owner, [self.again(o) for o in owner.operands]))
        self._held.append(new)
        self.remap[value] = new.borrowed
        return new.borrowed

    def stand_in(self, old: Expr, new: Expr) -> None:
        """Let an expression stand for a value of the function that is rewritten."""
        self._held.append(new)
        self.remap[old.borrowed] = new.borrowed

    def resolve(self, value: SSAValue) -> SSAValue:
        """What stands for a value here; detached operations are emitted, each once."""
        known = self._known(value)
        return self._import(value, None) if known is None else known

    def _import(self, value: SSAValue, name_hint: str | None) -> SSAValue:
        root = canonical(value)
        work = [(root, False)]
        while work:
            current, operands_done = work.pop()
            if self._known(current) is not None:
                continue
            found = canonical(self.remap.get(current, current))
            op = self._importable(found)
            if operands_done:
                new = self._append(op, current, name_hint if current is root else "")
                if current is not root:
                    self._implicit.add(new)
            else:
                work.append((current, True))
                work += [(canonical(o), False) for o in reversed(op.operands)]
        found = self._known(root)
        assert found is not None
        return found

    def _known(self, value: SSAValue) -> SSAValue | None:
        """The value that stands for one already, if there is one and it is seen here."""
        value = canonical(value)
        value = canonical(self.remap.get(value, value))
        owner = value.owner
        if isinstance(owner, FreeVariable):
            self.variables[value] = None
            return value
        if isinstance(owner, Block):
            return value if owner in self.blocks else None
        return None if owner.parent is None else self._seen(value, owner)

    def _seen(self, value: SSAValue, owner: Operation) -> SSAValue | None:
        if owner.parent in self.blocks:
            return value
        dataflow = owner.parent_op()
        if isinstance(dataflow, relax.DataflowOp) and dataflow.parent in self.blocks:
            if isinstance(owner, COPIED):
                return None
            for inner, outer in zip(dataflow.output.values, dataflow.outputs, strict=True):
                if inner is value:
                    return outer
            if value in self._implicit or self.source is not None:
                return with_output(dataflow, value)
            raise BuilderError(
                f"expected a variable that its dataflow block outputs, got "
                f"'{value.name_hint}' in '{self.name}': use emit_output"
            )
        return None

    def _importable(self, value: SSAValue) -> Operation:
        """The operation of a value that is detached, or that may be repeated here."""
        owner = value.owner
        if isinstance(owner, Operation):
            if owner.parent is None or isinstance(owner, COPIED):
                return owner
            if self._may_repeat(owner):
                return owner
        other = _function_of(owner)
        name = value.name_hint or "a value"
        where = "" if other is None else f" of '{other.sym_name.data}'"
        raise BuilderError(f"expected a value of '{self.name}', got '{name}'{where}")

    def _may_repeat(self, op: Operation) -> bool:
        """Whether an operation of the function that is rewritten may be emitted here as it is."""
        if self.source is None or _function_of(op) is not self.source:
            return False
        return op is self.visited or (not op.regions and is_pure(op))

    def _append(self, op: Operation, value: SSAValue, name_hint: str | None) -> SSAValue:
        operands = [self.resolve(o) for o in op.operands]
        wanted = name_hint or op.results[0].name_hint or ""
        if op.parent is not None:
            op = with_operands(op, operands)
            self.remap[value] = op.results[0]
        for index, operand in enumerate(operands):
            if op.operands[index] is not operand:
                op.operands[index] = operand
        attach(op, self.block)
        # A tuple that a function or branch ends with is written there, without a name.
        is_inlined = name_hint is None and isinstance(op, relax.TupleOp)
        if wanted or not (is_inlined or isinstance(op, relax.ConstantOp)):
            self._name(op.results[0], name_hint or wanted)
        return op.results[0]

    def _name(self, value: SSAValue, wanted: str) -> None:
        if isinstance(wanted, OldName):
            value.name_hint = value_name(wanted) if wanted else None
            return
        stem = value_name(wanted) if wanted else "lv" if self.in_dataflow else "gv"
        value.name_hint = self._names.fresh(stem)
        if not wanted:
            self._invented.add(value)

    def _rename(self, value: SSAValue, wanted: str) -> None:
        self._invented.discard(value)
        self._names.free(value.name_hint or "")
        self._name(value, wanted)

    def begin_dataflow(self) -> None:
        """Open a dataflow block."""
        self.require_open()
        if self.in_dataflow:
            raise BuilderError(f"expected dataflow blocks of '{self.name}' not to be nested")
        self.blocks.append(OpenDataflow())

    def output(self, value: SSAValue, name_hint: str = "") -> SSAValue:
        """Let a value be seen outside of the open dataflow block."""
        block = self.block
        if not isinstance(block, OpenDataflow):
            raise BuilderError(f"expected emit_output inside a dataflow block of '{self.name}'")
        resolved = self.emit(value, name_hint)
        owner = resolved.owner
        if not isinstance(owner, Operation) or owner.parent is not block:
            return resolved  # seen outside already
        if resolved not in block.outputs:
            block.outputs.append(resolved)
        if resolved in self._invented:
            self._rename(resolved, "gv")
        return resolved

    def order_outputs(self, first: Sequence[SSAValue]) -> None:
        """Let the open dataflow block output these values first, in this order."""
        block = self.block
        assert isinstance(block, OpenDataflow)
        old = {canonical(self.remap.get(canonical(v), v)): None for v in first}
        block.outputs = [
            *(v for v in old if v in block.outputs),
            *(v for v in block.outputs if v not in old),
        ]

    def end_dataflow(self) -> relax.DataflowOp | None:
        """Close the dataflow block; an empty one leaves nothing."""
        block = self.block
        assert isinstance(block, OpenDataflow)
        self.blocks.pop()
        if block.is_empty:
            return None
        block.add_op(relax.OutputOp(block.outputs))
        op = relax.DataflowOp(Region(block), [v.type for v in block.outputs])
        for inner, outer in zip(block.outputs, op.outputs, strict=True):
            outer.name_hint = inner.name_hint
        self.block.add_op(op)
        return op

    def abandon_block(self) -> None:
        """Leave the open dataflow block out, because of an error inside of it."""
        if self.in_dataflow:
            self.blocks.pop()

    def begin_branch(self, params: Sequence[Attribute] = ()) -> Block:
        """Open the block of a branch, or of a function with these parameters."""
        self.blocks.append(Block(arg_types=params))
        return self.block

    def end_branch(
        self, value: SSAValue, terminator: Callable[[SSAValue], Operation] = relax.YieldOp
    ) -> Region:
        """Close the block of a branch or function, which ends with a value."""
        block = self.block
        block.add_op(terminator(self.resolve(value)))
        self.blocks.pop()
        return Region(block)

    def require_open(self) -> None:
        if self.is_finished:
            raise BuilderError(f"expected nothing after emit_func_output of '{self.name}'")


def _function_of(owner: Operation | Block) -> relax.FuncOp | None:
    op = owner if isinstance(owner, Operation) else owner.parent_op()
    while op is not None and not isinstance(op, relax.FuncOp):
        op = op.parent_op()
    return op


def with_output(op: relax.DataflowOp, value: SSAValue) -> SSAValue:
    """Let a closed dataflow block output one more value; what it is outside."""
    values = [*op.output.values, value]
    Rewriter.replace_op(op.output, relax.OutputOp(values))
    new = relax.DataflowOp(op.detach_region(op.body), [v.type for v in values])
    new.outputs[-1].name_hint = value.name_hint
    Rewriter.replace_op(op, new, new.outputs[:-1])
    return new.outputs[-1]


def _hints(func: relax.FuncOp | None) -> list[str]:
    """The names of the values of a function."""
    if func is None:
        return []
    return [r.name_hint for op in func.walk() for r in op.results if r.name_hint is not None]


def checked_params(function: str, params: Sequence[Any]) -> list[Var]:
    """The parameters of a function; raises ValueError for what is no variable, or comes twice."""
    for param in params:
        if not isinstance(param, Var) or not isinstance(param.borrowed.owner, FreeVariable):
            shown = param.name_hint if isinstance(param, Var) else repr(param)
            raise BuilderError(
                f"expected the parameters of '{function}' to be variables made by relax.Var, "
                f"got {shown}"
            )
    for position, param in enumerate(params):
        if param in params[:position]:
            raise BuilderError(
                f"expected distinct parameters of '{function}', got '{param.name_hint}' twice"
            )
    return list(params)
