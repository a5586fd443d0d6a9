"""`@R.function`: a Python function definition becomes a `relax.func`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import relax
from ...dialects.relax.types import tensors_in
from ...ir.attributes import to_attribute
from ...te.expr import symbol
from ...te.tensor import dim_expr
from ..errors import ScriptError
from ..namespace import ScriptName
from .annotations import AnnotationParser
from .expressions import ExprParser
from .prim_func import SYMBOL_DTYPES
from .relax_calls import CallParser, ModuleName
from .scope import Scope

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "relax.add",
    ast.Sub: "relax.subtract",
    ast.Mult: "relax.multiply",
    ast.Div: "relax.divide",
    ast.MatMult: "relax.matmul",
}

Signature = Callable[[str], "tuple[Sequence[Attribute], Attribute] | None"]


class RelaxFuncParser:
    """Parses one graph function; every expression becomes operations in order."""

    def __init__(
        self,
        scope: Scope,
        node: ast.FunctionDef,
        signature_of: Signature,
        constants: Sequence[relax.TensorData] = (),
    ):
        self.scope = scope
        self.node = node
        self.exprs = ExprParser(scope)
        self.annotations = AnnotationParser(self.exprs)
        self.signature_of = signature_of
        self.constants = constants
        self.calls = CallParser(self)
        self.block = Block()
        self.outputs: list[tuple[str, SSAValue]] | None = None
        self.in_dataflow = False
        self.attrs: dict[str, Attribute] = {}
        self.returned: SSAValue | None = None

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.scope.source.error(node, message)

    def signature(self) -> tuple[list[Attribute], Attribute | None]:
        """Parameter types and, where it is annotated, the result type."""
        types: list[Attribute] = []
        for parameter in self.node.args.args:
            if parameter.annotation is None:
                raise self.error(
                    parameter,
                    f"expected an annotation for parameter '{parameter.arg}', such as R.Tensor",
                )
            types.append(self.annotations.type(parameter.annotation))
        result = None if self.node.returns is None else self.annotations.type(self.node.returns)
        return types, result

    def parse(self, pure: bool = True, private: bool = False) -> relax.FuncOp:
        """The function as an operation, not yet verified."""
        with self.scope.nested():
            types, result = self.signature()
            self.block = Block(arg_types=types)
            for parameter, arg in zip(self.node.args.args, self.block.args, strict=True):
                arg.name_hint = parameter.arg
                self.scope.bind(parameter.arg, arg)
            for statement in self.node.body:
                self.statement(statement)
            value = self._returned(result)
            self.add(relax.func.ReturnOp(value), self.node)
        names = [a.arg for a in self.node.args.args]
        attrs = DictionaryAttr(self.attrs) if self.attrs else None
        return relax.FuncOp(
            self.node.name, names, value.type, Region(self.block), not pure, private, attrs
        )

    def _returned(self, annotated: Attribute | None) -> SSAValue:
        value = self.returned
        if value is None:
            raise self.error(self.node, f"expected '{self.node.name}' to return a value")
        if (
            annotated is not None
            and annotated != value.type
            and not _refines(value.type, annotated)
        ):
            assert self.node.returns is not None
            raise self.error(
                self.node.returns,
                f"expected '{self.node.name}' to return {annotated}, got {value.type}",
            )
        return value

    def add(self, op: Operation, node: ast.AST) -> Operation:
        """Append an operation that comes from a node."""
        op.location = FileLineColLoc(
            StringAttr(self.scope.source.filename),
            IntAttr(getattr(node, "lineno", 1)),
            IntAttr(getattr(node, "col_offset", 0) + 1),
        )
        self.block.add_op(op)
        return op

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        if self.returned is not None:
            raise self.error(node, "expected nothing after 'return'")
        if self.outputs is not None:
            raise self.error(node, "expected R.output to be last in its dataflow block")
        handler = getattr(self, f"_stmt_{type(node).__name__}", None)
        if handler is None:
            raise self.error(
                node, f"expected a statement of Relax, got '{type(node).__name__.lower()}'"
            )
        handler(node)

    def _stmt_Pass(self, node: ast.Pass) -> None:
        pass

    def _stmt_Return(self, node: ast.Return) -> None:
        if node.value is None or self.in_dataflow:
            raise self.error(node, "expected 'return' with a value, outside of dataflow blocks")
        self.returned = self.value(node.value)

    def _stmt_With(self, node: ast.With) -> None:
        call = node.items[0].context_expr
        if self.calls.path(call) != "R.dataflow" or self.in_dataflow:
            raise self.error(node, "expected 'with R.dataflow():', not nested")
        outer, inner = self.block, Block()
        self.block, self.in_dataflow = inner, True
        with self.scope.nested():
            for statement in node.body:
                self.statement(statement)
        outputs = self.outputs
        if outputs is None:
            raise self.error(node, "expected the dataflow block to end with R.output(…)")
        self.add(relax.func.OutputOp([v for _, v in outputs]), node)
        self.block, self.in_dataflow, self.outputs = outer, False, None
        op = relax.DataflowOp(Region(inner), [v.type for _, v in outputs])
        self.add(op, node)
        for (name, _), result in zip(outputs, op.outputs, strict=True):
            result.name_hint = name
            self.scope.bind(name, result)

    def _stmt_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        path = self.calls.path(node.value)
        if path == "R.output":
            self._output(node.value)
        elif path == "R.func_attr":
            assert isinstance(node.value, ast.Call)
            values = self.exprs.eval(node.value.args[0])
            self.attrs |= {k: to_attribute(v) for k, v in values.items()}
        else:
            self.value(node.value)

    def _output(self, call: ast.expr) -> None:
        assert isinstance(call, ast.Call)
        if not self.in_dataflow:
            raise self.error(call, "expected R.output inside a dataflow block")
        outputs: list[tuple[str, SSAValue]] = []
        for arg in call.args:
            if not isinstance(arg, ast.Name):
                raise self.error(arg, "expected the name of a variable of the dataflow block")
            outputs.append((arg.id, self.value(arg)))
        self.outputs = outputs

    def _stmt_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Name):
            self._bind(target, node.value)
        elif len(node.targets) == 1 and isinstance(target, ast.Tuple):
            self._unpack(target, node.value)
        else:
            raise self.error(node, "expected one variable on the left")

    def _stmt_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name) or node.value is None:
            raise self.error(node, "expected 'name: annotation = value'")
        annotated = self.annotations.type(node.annotation)
        value = self.value(node.value)
        if value.type != annotated and not _refines(value.type, annotated):
            raise self.error(
                node, f"expected '{node.target.id}' to be {annotated}, got {value.type}"
            )
        self._name(node.target.id, value)

    def _unpack(self, target: ast.Tuple, node: ast.expr) -> None:
        names = [n.id for n in target.elts if isinstance(n, ast.Name)]
        if (
            isinstance(node, ast.Tuple)
            and len(names) == len(node.elts)
            and all(map(self._is_symbol, node.elts))
        ):
            for name in names:
                self.scope.bind(name, symbol(name))
            return
        value = self.value(node)
        for i, name in enumerate(names):
            self._name(name, self.field(value, i, node))

    def _is_symbol(self, node: ast.expr) -> bool:
        path = self.calls.path(node)
        return path.startswith("T.") and path[2:] in SYMBOL_DTYPES

    def _bind(self, target: ast.Name, node: ast.expr) -> None:
        if self._is_symbol(node):
            self.scope.bind(target.id, symbol(target.id))
        elif isinstance(node, ast.Name) and self.calls.is_module_name(node):
            self.scope.bind(target.id, ModuleName())
        else:
            self._name(target.id, self.value(node))

    def _name(self, name: str, value: SSAValue) -> None:
        if value.name_hint is None:
            value.name_hint = name
        self.scope.bind(name, value)

    def field(self, value: SSAValue, index: int, node: ast.AST) -> SSAValue:
        """A field of a tuple value."""
        try:
            op = relax.TupleGetItemOp(value, index)
        except Exception as error:
            raise self.error(node, str(error)) from None
        return self.add(op, node).results[0]

    def value(self, node: ast.expr) -> SSAValue:
        """The value of an expression of the graph."""
        if isinstance(node, ast.Tuple):
            return self.add(relax.TupleOp([self.value(n) for n in node.elts]), node).results[0]
        if isinstance(node, ast.Call):
            return self.calls.call(node)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            operands = self._pair(node.left, node.right)
            return self.calls.operator(node, _OPERATORS[type(node.op)], operands, {})
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        found = self.exprs.eval(node)
        if isinstance(found, SSAValue):
            return found
        raise self.error(node, f"expected a value of the graph, got '{ast.unparse(node)}'")

    def _pair(self, left: ast.expr, right: ast.expr) -> list[SSAValue]:
        """Two operands of which one may be a number, which takes the other's dtype."""
        if isinstance(left, ast.Constant):
            other = self.value(right)
            return [self._scalar(left, other), other]
        first = self.value(left)
        return [
            first,
            self._scalar(right, first) if isinstance(right, ast.Constant) else self.value(right),
        ]

    def _scalar(self, node: ast.Constant, like: SSAValue) -> SSAValue:
        tensors = tensors_in(like.type)
        dtype = (tensors[0].dtype if tensors else None) or "float32"
        return self.constant(relax.TensorData.of(np.asarray(node.value, dtype)), node)

    def constant(self, data: relax.TensorData, node: ast.AST) -> SSAValue:
        """A constant tensor."""
        return self.add(relax.ConstantOp(data), node).results[0]

    def _subscript(self, node: ast.Subscript) -> SSAValue:
        if isinstance(node.value, ast.Subscript) and self._is_metadata(node.value):
            index = self.exprs.eval(node.slice)
            if not isinstance(index, int) or not 0 <= index < len(self.constants):
                raise self.error(
                    node,
                    f"expected one of {len(self.constants)} constants of the metadata, got {index}",
                )
            return self.constant(self.constants[index], node)
        index = self.exprs.eval(node.slice)
        if not isinstance(index, int):
            raise self.error(node.slice, "expected a field number")
        return self.field(self.value(node.value), index, node)

    def _is_metadata(self, node: ast.Subscript) -> bool:
        base = self.exprs.eval(node.value)
        return isinstance(base, ScriptName) and base.path == "metadata"

    def dims(self, node: ast.expr) -> list[Any]:
        """A shape in the function's body."""
        return [dim_expr(d) for d in self.exprs.shape(node)]


def _refines(actual: Attribute, annotated: Attribute) -> bool:
    """Whether the annotation only says less than what is known."""
    pairs = list(zip(tensors_in(actual), tensors_in(annotated), strict=False))
    if not pairs or len(tensors_in(actual)) != len(tensors_in(annotated)):
        return False
    return all(
        (b.dims is None and b.rank in (None, a.rank) or a.dims == b.dims)
        and b.dtype in (None, a.dtype)
        for a, b in pairs
    )
