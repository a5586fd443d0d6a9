"""`DataflowBlockRewrite`: changes of one dataflow block, step by step, on a copy.

::

    rewrite = DataflowBlockRewrite(func.body.blocks[0], func)
    relu = rewrite.add(relax.op.nn.relu(x), "relu")
    rewrite.replace_all_uses(y, relu)
    rewrite.remove_unused(y)
    new = rewrite.mutated_root_fn()
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects import relax
from ..dialects.diagnostics import BuilderError
from ..dialects.parameters import value_name
from ..ir.blocks import Binding, DataflowBlock, MatchCast
from ..ir.expr import DataflowVar, Expr, Var, view
from ..ir.function import Function
from ..ir.module import IRModule
from ..ir.operators import to_value
from ..lowering.graph.dead_code import remove_all_unused
from ..lowering.graph.values import canonical
from .dpl_insertion import detached_operations, insert_detached
from .module import Names
from .scope import with_output


class DataflowBlockRewrite:
    """Rewrites a dataflow block of a function; TVM's ``relax.binding_rewrite``.

    Each method changes a new copy: the given function, and functions that `mutated_root_fn` has
    returned, stay. Variables of the given function stand for those of the copy. Raises
    BuilderError for a block that is not of the function.
    """

    def __init__(self, dfb: DataflowBlock, root_fn: Function):
        if dfb.op is None or not root_fn.op.is_ancestor(dfb.op):
            raise BuilderError(f"expected a dataflow block of '{root_fn.name}', got another one")
        self._original = root_fn.op
        self._func = root_fn.op
        self._block: relax.DataflowOp = dfb.op
        self._now: dict[SSAValue, SSAValue] = {}

    def mutated_dfb(self) -> DataflowBlock:
        """The block as it is now."""
        return DataflowBlock(self._block)

    def mutated_root_fn(self) -> Function:
        """The function as it is now."""
        return Function(self._func)

    def mutate_irmodule(self, irmodule: IRModule) -> IRModule:
        """A copy of a module with the new function in the place of the given one."""
        mod = irmodule.clone()
        for var, func in irmodule.items():
            if func.op is self._original:
                mod[var] = self.mutated_root_fn()
                return mod
        raise BuilderError(f"expected a module with '{Function(self._original).name}'")

    def add(self, expr: Expr, name: str | None = None, is_dfvar: bool = False) -> Var:
        """Add a binding at the end of the block, and return its variable.

        The variable is seen outside of the block unless `is_dfvar`. A value of the function is its
        own variable. Raises BuilderError for operands that are not seen in the block.
        """
        self._copy()
        value, output = canonical(to_value(expr)), self._block.output
        made = detached_operations(value.owner)
        for op in made:
            for index, operand in enumerate(op.operands):
                op.operands[index] = self._now.get(canonical(operand), operand)
        insert_detached(made, output)
        value = self._now.get(value, value)
        if made:
            taken = [r.name_hint or "" for op in self._func.walk() for r in op.results]
            stem = name or ("lv" if is_dfvar else "gv")
            value.name_hint = value_name(Names(taken).fresh(stem))
        owner = value.owner
        if not is_dfvar and isinstance(owner, Operation) and owner.parent is output.parent:
            with_output(self._block, value)
            self._block = _holder(owner)
        return view(value)

    def add_binding(self, binding: Binding) -> Var:
        """Add a binding at the end of the block; its variable stands for the value."""
        value = binding.value
        if isinstance(binding, MatchCast):
            value = view(relax.MatchCastOp(to_value(value), binding.struct_info.type).result)
        new = self.add(value, binding.var.name, isinstance(binding.var, DataflowVar))
        self._now[canonical(binding.var.borrowed)] = canonical(new.borrowed)
        return new

    def replace_all_uses(self, old_var: Var, new_var: Var) -> None:
        """Let all that uses a variable of the block use another one, outside of it too.

        Raises ValueError for a variable that the block does not define, and where a use comes
        before the new one.
        """
        self._value_of(old_var)
        self._copy()
        old, new = self._value_of(old_var), self._current(new_var)
        owner = new.owner
        for use in list(old.uses) if old is not new else ():
            if isinstance(owner, Operation) and owner.parent is use.operation.parent:
                if not owner.is_before_in_block(use.operation):
                    raise BuilderError(
                        f"expected '{new.name_hint}' to be defined before the uses of "
                        f"'{old.name_hint}'"
                    )
            use.operation.operands[use.index] = new

    def remove_unused(self, var: Var, allow_undef: bool = False) -> None:
        """Remove the binding of a variable.

        Raises ValueError if it is used, and with `allow_undef` not for one that the block does not
        define.
        """
        if allow_undef and not self._defines(var):
            return
        value = self._value_of(var)
        users = {use.operation for use in value.uses if use.operation is not self._block.output}
        if users:
            raise BuilderError(f"'{var.name}' is used by {len(users)} vars, expected none")
        if any(use.operation is self._block.output for use in value.uses):
            raise BuilderError(f"'{var.name}' is seen outside of the block, expected no use")
        self._copy()
        owner = self._value_of(var).owner
        assert isinstance(owner, Operation)
        Rewriter.erase_op(owner)

    def remove_all_unused(self) -> None:
        """Remove all bindings of the function that nothing depends on, and empty blocks."""
        self._copy()
        assert isinstance(self._func, relax.FuncOp)
        body = self._block.body.block
        remove_all_unused(self._func)
        block = body.parent_op()
        if not isinstance(block, relax.DataflowOp):
            block = relax.DataflowOp(Region(Block([relax.OutputOp([])])), [])
        self._block = block

    def _current(self, var: Var) -> SSAValue:
        """What a variable of the given function is now."""
        value = canonical(var.borrowed)
        return self._now.get(value, value)

    def _defines(self, var: Var) -> bool:
        owner = self._current(var).owner
        return isinstance(owner, Operation) and owner.parent is self._block.body.block

    def _value_of(self, var: Var) -> SSAValue:
        """What a variable of the block is in the copy."""
        if not self._defines(var):
            raise BuilderError(f"Cannot find '{var.name}': expected a variable of the block")
        return self._current(var)

    def _copy(self) -> None:
        """Go on with a copy of the function."""
        if self._block.parent is None:
            raise BuilderError("expected a dataflow block, got one that was removed")
        number = list(self._func.walk()).index(self._block)
        values: dict[SSAValue, SSAValue] = {}
        func = self._func.clone(values)
        self._now = {old: values.get(new, new) for old, new in self._now.items()} | values
        self._func = func
        block = list(func.walk())[number]
        assert isinstance(block, relax.DataflowOp)
        self._block = block


def _holder(op: Operation) -> relax.DataflowOp:
    found = op.parent_op()
    assert isinstance(found, relax.DataflowOp)
    return found
