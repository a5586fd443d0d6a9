"""Visitors of graph functions, with one method for each kind of expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.blocks import (
    Binding,
    BindingBlock,
    DataflowBlock,
    If,
    MatchCast,
    SeqExpr,
    VarBinding,
)
from ..ir.call_parts import Arguments
from ..ir.callees import ExternFunc, GlobalVar
from ..ir.calls import Call
from ..ir.expr import (
    Constant,
    DataflowVar,
    Expr,
    Tuple,
    TupleGetItem,
    Var,
)
from ..ir.function import Function, LocalFunction
from ..ir.op import Op
from ..ir.shapes import PrimValue, ShapeExpr
from ..ir.strings import StringImm

_METHODS: dict[type[Any], str] = {
    Arguments: "visit_arguments_",
    BindingBlock: "visit_binding_block_",
    Call: "visit_call_",
    Constant: "visit_constant_",
    DataflowBlock: "visit_dataflow_block_",
    DataflowVar: "visit_dataflow_var_",
    ExternFunc: "visit_extern_func_",
    Function: "visit_function_",
    GlobalVar: "visit_global_var_",
    If: "visit_if_",
    LocalFunction: "visit_local_function_",
    MatchCast: "visit_match_cast_",
    Op: "visit_op_",
    PrimValue: "visit_prim_value_",
    SeqExpr: "visit_seqexpr_",
    ShapeExpr: "visit_shape_expr_",
    StringImm: "visit_string_imm_",
    Tuple: "visit_tuple_",
    TupleGetItem: "visit_tuple_getitem_",
    Var: "visit_var_",
    VarBinding: "visit_var_binding_",
}
_OLD_METHODS = {
    "visit_seqexpr_": "visit_seq_expr_",
    "visit_tuple_getitem_": "visit_tuple_get_item_",
}


class Functor:
    """Finds the method for a kind of expression, block or binding."""

    def visit_expr(self, expr: Any) -> Any:
        """Visit an expression or function."""
        return self._method(expr)(expr)

    def visit_binding_block(self, block: BindingBlock) -> Any:
        """Visit a block of bindings."""
        return self._method(block)(block)

    def visit_binding(self, binding: Binding) -> Any:
        """Visit a binding."""
        return self._method(binding)(binding)

    def visit_var_def(self, var: Var) -> Any:
        """Visit a variable where it is defined."""
        kind = "dataflow_var" if isinstance(var, DataflowVar) else "var"
        return getattr(self, f"visit_{kind}_def_")(var)

    def _method(self, visited: Any) -> Callable[[Any], Any]:
        name = method_name(visited)
        return getattr(self, _OLD_METHODS.get(name, name), None) or getattr(self, name)


def method_name(visited: Any) -> str:
    """The method for an expression, block or binding; TypeError for anything else."""
    for kind in type(visited).__mro__:
        if kind in _METHODS:
            return _METHODS[kind]
    raise TypeError(f"expected an expression of the graph, got {type(visited).__name__}")


class PyExprVisitor(Functor):
    """Visits all that a function is made of, in order; subclasses override what concerns them."""

    def visit_function_(self, op: Function) -> None:
        """Parameters, then the body."""
        for param in op.params:
            self.visit_var_def(param)
        self.visit_expr(op.body)

    def visit_seqexpr_(self, op: SeqExpr) -> None:
        """The blocks, then the result."""
        for block in op.blocks:
            self.visit_binding_block(block)
        self.visit_expr(op.body)

    def visit_binding_block_(self, block: BindingBlock) -> None:
        """The bindings."""
        for binding in block.bindings:
            self.visit_binding(binding)

    visit_dataflow_block_ = visit_binding_block_

    def visit_var_binding_(self, binding: VarBinding) -> None:
        """The value, then the variable."""
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    def visit_match_cast_(self, binding: MatchCast) -> None:
        """The value, then the variable."""
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    def visit_leaf(self, op: Any) -> None:
        """What is made of nothing else."""

    visit_var_ = visit_dataflow_var_ = visit_constant_ = visit_global_var_ = visit_leaf
    visit_extern_func_ = visit_shape_expr_ = visit_prim_value_ = visit_op_ = visit_leaf
    visit_string_imm_ = visit_var_def_ = visit_dataflow_var_def_ = visit_leaf

    def visit_call_(self, op: Call) -> None:
        """What is called, then the arguments."""
        if isinstance(op.op, GlobalVar | ExternFunc | Op):
            self.visit_expr(op.op)
        for arg in op.args:
            if isinstance(arg, Expr | Arguments | GlobalVar | ExternFunc):
                self.visit_expr(arg)

    def visit_arguments_(self, op: Arguments) -> None:
        """The arguments of a call in destination-passing style."""
        for arg in op:
            self.visit_expr(arg)

    def visit_tuple_(self, op: Tuple) -> None:
        """The fields."""
        for field in op.fields:
            self.visit_expr(field)

    def visit_tuple_getitem_(self, op: TupleGetItem) -> None:
        """The tuple."""
        self.visit_expr(op.tuple_value)

    def visit_if_(self, op: If) -> None:
        """The condition, then the branches."""
        self.visit_expr(op.cond)
        self.visit_expr(op.true_branch)
        self.visit_expr(op.false_branch)

    visit_local_function_ = visit_function_
