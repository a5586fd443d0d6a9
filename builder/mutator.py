"""Rewriters of graph functions: a new function is built through a value map, the old one stays.

::

    @relax.expr_functor.mutator
    class Rewriter(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            return call if call.op != ADD else relax.op.multiply(*call.args)

    new = Rewriter().visit_expr(mod["main"])
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from xdsl.ir import Operation, Region

from ..dialects import relax
from ..dialects.diagnostics import Diagnostic
from ..dialects.relax.type_relations import common_type, says_less
from ..ir.blocks import (
    Binding,
    BindingBlock,
    DataflowBlock,
    If,
    MatchCast,
    SeqExpr,
    VarBinding,
)
from ..ir.call_parts import Arguments, with_operands
from ..ir.calls import Call
from ..ir.expr import DataflowVar, Expr, Var, expression, view
from ..ir.function import Function, LocalFunction
from ..ir.module import IRModule
from ..ir.operators import to_value
from ..ir.transform import PassContext, pass_decorator, pass_of
from .block_builder import BlockBuilder, inside_of
from .finish import finish
from .scope import FunctionScope, OldName
from .visitor import Functor, method_name
from .visitor import PyExprVisitor as PyExprVisitor


class PyExprMutator(Functor):
    """Rewrites functions: each method returns what stands for what it visited.

    `builder_` is a `BlockBuilder`, in which the new function is built: what a method emits comes
    before the binding that is visited. What methods return is checked; ValueError and Diagnostic
    name the function and the binding.
    """

    def __init__(self, mod: IRModule | None = None):
        self.builder_ = BlockBuilder(mod)

    def visit_expr_post_order(self, expr: Any) -> Any:
        """The same kind of expression, detached, of its visited parts; its type is inferred."""
        if not isinstance(expr, Expr) or isinstance(expr, Var | If | LocalFunction):
            return getattr(PyExprMutator, method_name(expr))(self, expr)
        op = expr.borrowed.owner
        if not isinstance(op, Operation) or not op.operands:
            return expr
        parts = [self.visit_expr(view(o)) for o in op.operands]
        return expression(with_operands(op, [to_value(p) for p in parts]))

    def visit_call_(self, op: Call) -> Any:
        """The call on visited arguments."""
        return self.visit_expr_post_order(op)

    visit_tuple_ = visit_tuple_getitem_ = visit_call_

    def visit_var_(self, op: Var) -> Any:
        """The variable that stands for this one in the new function."""
        new = self.get_var_remap(op)
        return op if new is None else new

    visit_dataflow_var_ = visit_var_

    def visit_leaf(self, op: Any) -> Any:
        """What is made of nothing else stays."""
        return op

    visit_constant_ = visit_global_var_ = visit_extern_func_ = visit_leaf
    visit_shape_expr_ = visit_prim_value_ = visit_op_ = visit_leaf
    visit_string_imm_ = visit_var_def_ = visit_dataflow_var_def_ = visit_leaf

    def visit_arguments_(self, op: Arguments) -> Any:
        """The arguments of a call in destination-passing style."""
        return Arguments(self.visit_expr(a) for a in op)

    def visit_if_(self, op: If) -> Any:
        """The choice between the rewritten branches."""
        old = op.borrowed.owner
        assert isinstance(old, relax.IfOp)
        scope = self.builder_.scope
        visited = self.visit_expr(op.cond)
        condition = scope.resolve(to_value(visited))
        regions = [self._branch(SeqExpr(block)) for block in old.branches]
        types = [r.block.last_op.operands[0].type for r in regions if r.block.last_op is not None]
        type_ = old.result.type
        if not all(says_less(type_, t) for t in types):
            type_ = common_type(*types)
            if type_ is None:
                raise ValueError(f"expected branches of one type, got {types[0]} and {types[1]}")
        return expression(relax.IfOp(condition, regions[0], regions[1], type_))

    def _branch(self, body: SeqExpr) -> Region:
        scope = self.builder_.scope
        scope.begin_branch()
        result = self.visit_expr(body)
        return scope.end_branch(to_value(result))

    def visit_local_function_(self, op: LocalFunction) -> Any:
        """The function inside of another one, with its body rewritten."""
        old, scope = op.borrowed.owner, self.builder_.scope
        assert isinstance(old, relax.LocalFuncOp)
        block = scope.begin_branch([p.type for p in old.params])
        for param, arg in zip(old.params, block.args, strict=True):
            arg.name_hint = param.name_hint
            scope.remap[param] = arg
        type_ = old.result.type
        own = relax.OwnFuncOp(type_)
        if any(isinstance(o, relax.OwnFuncOp) for o in old.body.block.ops):
            block.add_op(own)
            scope.remap[old.result] = own.result
        result = self.visit_expr(op.body)
        scope.remap.pop(old.result, None)
        region = scope.end_branch(to_value(result), relax.func.ReturnOp)
        name, impure = old.func_name.data, type_.impure
        return expression(
            relax.LocalFuncOp(name, old.names, type_.result, region, impure, old.attrs)
        )

    def visit_function_(self, op: Function) -> Function:
        """The function with its parameters and body rewritten."""
        source = op.op
        assert isinstance(source, relax.FuncOp)
        params = [self._param(p) for p in op.params]
        scope = FunctionScope(op.name, params, source)
        scope.remap |= {p.borrowed: new.borrowed for p, new in zip(op.params, params, strict=True)}
        with self.builder_.building(scope), _blaming(lambda: f"in '{op.name}'"):
            output = self.visit_expr(op.body)
            attrs = None if source.attrs is None else source.attrs.data
            is_private, is_pure = source.private is not None, source.impure is None
            func = finish(scope, to_value(output), None, attrs, is_private, is_pure)
        return Function(func)

    def visit_seqexpr_(self, op: SeqExpr) -> Any:
        """The blocks, then the result, which stands for the whole."""
        for block in op.blocks:
            self.visit_binding_block(block)
        return self.visit_expr(op.body)

    def visit_binding_block_(self, block: BindingBlock) -> Any:
        """The bindings, emitted where the builder stands."""
        for binding in block.bindings:
            self.visit_binding(binding)
        return block

    def visit_dataflow_block_(self, block: DataflowBlock) -> Any:
        """The bindings, in a new dataflow block."""
        self.builder_.begin_dataflow_block()
        for binding in block.bindings:
            self.visit_binding(binding)
        self.builder_.scope.order_outputs(block.outputs)
        return self.builder_.end_block() or block

    def visit_binding(self, binding: Binding) -> Any:
        """Visit a binding; errors name it."""
        scope = self.builder_.scope
        owner = binding.var.borrowed.owner
        outer, scope.visited = scope.visited, owner if isinstance(owner, Operation) else None
        with _blaming(lambda: f"at '{binding.untyped().splitlines()[0]}'"):
            result = super().visit_binding(binding)
        scope.visited = outer
        return result

    def visit_var_binding_(self, binding: VarBinding) -> None:
        """Emit the rewritten value, which stands for the variable from here on."""
        self._emit_for(binding.var, self.visit_expr(binding.value))

    def visit_match_cast_(self, binding: MatchCast) -> None:
        """Emit the cast of the rewritten value."""
        value = self.visit_expr(binding.value)
        cast = relax.MatchCastOp(to_value(value), binding.struct_info.type)
        self._emit_for(binding.var, expression(cast))

    def _emit_for(self, var: Var, value: Any) -> None:
        is_output = self.builder_.current_block_is_dataflow() and not isinstance(var, DataflowVar)
        emit = self.builder_.emit_output if is_output else self.builder_.emit
        self.set_var_remap(var, emit(value, OldName(var.borrowed.name_hint or "")))

    def _param(self, param: Var) -> Var:
        """The new parameter for an old one, which `visit_var_def_` may have made."""
        var = self.visit_var_def(param)
        return type(var)(var.name_hint, var.struct_info) if var == param else var

    def set_var_remap(self, vid: Var, var: Expr) -> None:
        """Let an expression stand for a variable of the old function."""
        self.builder_.scope.stand_in(vid, var)

    def get_var_remap(self, vid: Var) -> Any:
        """What stands for a variable of the old function, `None` before it was visited."""
        if self.builder_.is_outside:
            return None
        new = self.builder_.scope.remap.get(vid.borrowed)
        return None if new is None else view(new)

    def lookup_binding(self, var: Any) -> Any:
        """What a variable is bound to in the new function; `None` for parameters."""
        new = self.get_var_remap(var) if isinstance(var, Var) else None
        return self.builder_.lookup_binding(var if new is None else new)


@contextmanager
def _blaming(place: Callable[[], str]) -> Generator[None]:
    """Errors in the IR that arise inside say where; the innermost binding has been named."""
    try:
        yield
    except Diagnostic as error:
        raise Diagnostic(f"{place()}: {error.message}") from error
    except ValueError as error:
        raise ValueError(f"{place()}: {error}") from error


Class = TypeVar("Class", bound=type)


def mutator(cls: Class) -> Class:
    """Class decorator of subclasses of `PyExprMutator`; raises TypeError for other classes."""
    return _derived(cls, PyExprMutator)


def visitor(cls: Class) -> Class:
    """Class decorator of subclasses of `PyExprVisitor`; raises TypeError for other classes."""
    return _derived(cls, PyExprVisitor)


def _derived(cls: Class, base: type) -> Class:
    if not issubclass(cls, base):
        raise TypeError(f"expected a subclass of {base.__name__}, got {cls.__name__}")
    cls._cls = cls  # pyright: ignore[reportAttributeAccessIssue]  # what TVM's decorators wrap
    return cls


Transform: TypeAlias = "Callable[[DataflowBlock, IRModule, PassContext], DataflowBlock]"


class _BlockRewriter(PyExprMutator):
    """Rebuilds functions; dataflow blocks as a function of blocks says."""

    def __init__(self, transform: Transform, mod: IRModule, ctx: PassContext):
        super().__init__()
        self._transform = transform
        self._mod = mod
        self._ctx = ctx

    def visit_dataflow_block_(self, block: DataflowBlock) -> Any:
        with inside_of(self.builder_):
            new = self._transform(block, self._mod, self._ctx)
        return super().visit_dataflow_block_(block) if new == block else new


def _lifted(transform: Transform) -> Callable[[IRModule, PassContext], IRModule]:
    def on_module(mod: IRModule, ctx: PassContext) -> IRModule:
        for var, func in mod.items():
            if isinstance(func, Function):
                mod[var] = _BlockRewriter(transform, mod, ctx).visit_expr(func)
        return mod

    return on_module


dataflowblock_pass = pass_decorator(
    lambda d, info: pass_of(d, info, "transform_dataflowblock", _lifted),
    "Decorator of a function ``(block, mod, ctx)``, or a class: a pass on each dataflow block.\n\n"
    "It returns the block as it is, or what the `visit_binding_block` of a mutator makes of it.",
)
