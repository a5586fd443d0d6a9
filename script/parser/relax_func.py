"""`@R.function`: a Python function definition becomes a `relax.func`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects import relax
from ...dialects.parameters import value_hint
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.type_relations import forget_symbols, says_less
from ...dialects.relax.types import tensors_in
from ...te.arithmetic import Index, dim_expr, symbol
from ...te.attributes import dictionary
from ..printer.metadata import KEY
from .annotations import names_in, parameters_of
from .buffers import describe_statement
from .own_function import OwnFunction
from .prim_func import is_symbol
from .relax_control import RETURN, ControlParser
from .relax_reader import (
    EXTERNAL,
    ExternName,
    Options,
    RelaxReader,
    Signature,
)
from .relax_values import ValueParser
from .scope import FunctionName, ModuleName, Scope
from .script_calls import META


class RelaxFuncParser(RelaxReader):
    """Parses one graph function; every expression becomes operations in order."""

    def __init__(
        self,
        scope: Scope,
        node: ast.FunctionDef,
        signature_of: Signature,
        options_of: Options,
        constants: Sequence[relax.TensorData] = (),
    ):
        super().__init__(scope, node, signature_of, options_of, constants)
        self.control = ControlParser(self)
        self.values = ValueParser(self)

    def value(self, node: ast.expr) -> SSAValue:
        return self.values.value(node)

    def signature(self) -> tuple[list[Attribute], Attribute | None]:
        """Parameter types and, where it is annotated, the result type."""
        types: list[Attribute] = []
        returns = self.node.returns
        given = parameters_of(self.scope.source, self.node)
        later = [a for _, a in given] + ([returns] if returns is not None else [])
        for position, (parameter, annotation) in enumerate(given):
            type_ = self.annotations.type(annotation)
            if isinstance(type_, relax.PrimType) and type_.expr is None:
                later_names = names_in(self.scope.source, later[position + 1 :])
                type_ = self._number_type(parameter, type_, parameter.arg in later_names)
            types.append(type_)
        # A tuple without fields says nothing of its own.
        is_known = returns is not None and self.exprs.path(returns) != "R.Tuple"
        return types, self.annotations.type(returns) if is_known and returns is not None else None

    def _number_type(
        self, parameter: ast.arg, type_: relax.PrimType, is_dim: bool
    ) -> relax.PrimType:
        """The type of a number: that of a symbol of its name if later annotations use it."""
        name = parameter.arg
        if isinstance(self.scope.frames[-1].get(name), Index):
            raise self.error(parameter, f"expected '{name}' before the shapes that use it")
        if not is_dim:
            return type_
        if type_.dtype != "int64":
            message = f"expected '{name}', which is a dim, to be int64, got {type_.dtype}"
            raise self.error(parameter, message)
        self.scope.bind(name, symbol(name))
        return relax.PrimType.of(type_.element_type, dim_expr(symbol(name)))

    def parse(self, pure: bool = True, private: bool = False) -> relax.FuncOp:
        """The function as an operation, not yet verified."""
        type_, names = self._body()
        if private and "global_symbol" in self.attrs:
            raise self.error(self.node, "expected a private function without 'global_symbol'")
        attrs = DictionaryAttr(self.attrs) if self.attrs else None
        region = Region(self.block)
        func = relax.FuncOp(self.node.name, names, type_, region, not pure, private, attrs)
        func.location = self.scope.source.location(self.node)
        return func

    def parse_local(self, outer: RelaxFuncParser, pure: bool) -> relax.LocalFuncOp:
        """The function as a value of the function around it, whose variables it may use."""
        self.declared = set(outer.declared)
        type_, names = self._body(pure)
        attrs = DictionaryAttr(self.attrs) if self.attrs else None
        region = Region(self.block)
        return relax.LocalFuncOp(self.node.name, names, type_, region, not pure, attrs)

    def _body(self, pure: bool | None = None) -> tuple[Attribute, list[str]]:
        """Read all of it; the type that callers see of the result, and the parameters' names.

        A local function, which is `pure` or is not, may call itself.
        """
        with self.scope.nested():
            types, result = self.signature()
            self.block = Block(arg_types=types)
            own = OwnFunction(
                self.scope.source, self.node, self.block, types, result, bool(pure), self.declared
            )
            if pure is not None:
                self.scope.bind(self.node.name, own)
            self.declared = self.declared.union(determined_symbols(types))
            known = set(self.declared)
            for parameter, arg in zip(self.node.args.args, self.block.args, strict=True):
                arg.name_hint = value_hint(parameter.arg)
                self.scope.bind(parameter.arg, arg)
            for statement in self.node.body:
                self.statement(statement)
            value = self._returned(result, own.op is not None)
            self.add(relax.func.ReturnOp(value), self.node)
        names = [a.arg for a in self.node.args.args]
        if own.op is not None:
            return own.op.result.type.result, names
        return forget_symbols(value.type, known), names

    def _returned(self, annotated: Attribute | None, is_required: bool) -> SSAValue:
        value = self.returned
        if value is None:
            raise self.error(self.node, f"expected '{self.node.name}' to return a value")
        if annotated is not None and not says_less(annotated, value.type):
            assert self.node.returns is not None
            is_known = all(t.is_known for t in tensors_in(annotated))
            if is_known and self._is_refined(annotated, value.type):
                return self.emit(relax.MatchCastOp(value, annotated), self.node.returns)
            message = f"expected '{self.node.name}' to return {annotated}, got {value.type}"
            if is_required:
                raise self.error(self.node.returns, message)
            self.scope.source.warn(self.node.returns, message)
        return value

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        if self.returned is not None:
            raise self.error(node, "expected nothing after 'return'")
        if self.outputs is not None:
            raise self.error(node, "expected R.output to be last in its dataflow block")
        handler = getattr(self, f"_stmt_{type(node).__name__}", None)
        if handler is None:
            raise self.error(node, f"expected a statement of Relax, got {describe_statement(node)}")
        with self.scope.source.reporting(node):
            handler(node)

    def _stmt_Pass(self, node: ast.Pass) -> None:
        pass

    def _stmt_Nonlocal(self, node: ast.Nonlocal) -> None:
        """A name of the program around, which Python then knows that the function sees."""

    _stmt_Global = _stmt_Nonlocal

    def _stmt_Return(self, node: ast.Return) -> None:
        if node.value is None:
            raise self.error(node, "expected 'return' with a value")
        value = self.value(node.value)
        if self.in_dataflow:
            self.outputs = [(RETURN, value)]
        else:
            self.returned = value

    def _stmt_With(self, node: ast.With) -> None:
        self.control.dataflow(node)

    def _stmt_Expr(self, node: ast.Expr) -> None:
        call = node.value
        path = self.path(call)
        if isinstance(call, ast.Constant):
            return
        if isinstance(call, ast.Call) and path == "R.output":
            self.control.output(call)
        elif isinstance(call, ast.Call) and path == "R.func_attr" and len(call.args) == 1:
            tensors = [relax.DataAttr(data) for data in self.constants]
            with self.scope.nested() as frame:
                frame["metadata"] = {KEY: tensors}
                self.attrs |= dictionary(self.exprs.eval(call.args[0])).data
        else:
            self._unused(call)

    def _unused(self, node: ast.expr) -> None:
        """A call for its effects: what only computes a value is bound to a variable."""
        value = self.value(node)
        if isinstance(value.owner, relax.OperatorOp | relax.CallTIROp | relax.CallDPSPackedOp):
            raise self.error(node, f"expected a variable for the value of '{ast.unparse(node)}'")

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
        if is_symbol(self.exprs, node.value):
            self._check_symbol(node, annotated)
            self._declare(node.target.id, node.value)
            return
        value = self._number(annotated, node.value)
        if self._is_refined(annotated, value.type):
            value = self.emit(relax.MatchCastOp(value, annotated), node)
        if not says_less(annotated, value.type):
            raise self.error(
                node, f"expected '{node.target.id}' to be {annotated}, got {value.type}"
            )
        self.name_value(node.target.id, value)

    def _check_symbol(self, node: ast.AnnAssign, annotated: Attribute) -> None:
        """Raise ScriptError unless the annotation of ``n: R.Prim("int64") = T.int64()`` fits."""
        if not isinstance(annotated, relax.PrimType) or annotated.dtype != "int64":
            raise self.error(node, f"expected a symbol to be an int64 scalar, got {annotated}")

    def _number(self, annotated: Attribute, node: ast.expr) -> SSAValue:
        """A value, a literal as a scalar where the annotation says so."""
        if isinstance(annotated, relax.PrimType) and self.is_number(node):
            return self.values.calls.number(node, annotated.dtype)
        return self.value(node)

    def _is_refined(self, annotated: Attribute, type_: Attribute) -> bool:
        """Whether an annotation says more of a value than is known, with known symbols."""
        is_more = says_less(type_, annotated) and not says_less(annotated, type_)
        return is_more and set(determined_symbols([annotated])) <= self.declared

    def _stmt_If(self, node: ast.If) -> None:
        self.control.choice(node)

    def _stmt_FunctionDef(self, node: ast.FunctionDef) -> None:
        options = self.options_of(node)
        if options is None:
            raise self.error(node, "expected a function with @R.function")
        inner = RelaxFuncParser(
            self.scope, node, self.signature_of, self.options_of, self.constants
        )
        op = inner.parse_local(self, options.get("pure", True))
        self.add(op, node)
        self.name_value(node.name, op.result)

    def _unpack(self, target: ast.Tuple, node: ast.expr) -> None:
        names = [n.id for n in target.elts if isinstance(n, ast.Name)]
        if len(names) != len(target.elts):
            raise self.error(target, "expected names on the left")
        if isinstance(node, ast.Tuple) and all(map(self._is_constant, node.elts)):
            self._check_count(target, len(node.elts))
            for name, element in zip(target.elts, node.elts, strict=True):
                assert isinstance(name, ast.Name)
                self._bind(name, element)
            return
        value = self.value(node)
        fields = getattr(value.type, "types", None)
        self._check_count(target, 1 if fields is None else len(fields.data))
        for i, name in enumerate(names):
            self.name_value(name, self.field(value, i, node))

    def _is_constant(self, node: ast.expr) -> bool:
        """Whether an expression is a new symbol or a Python value: ``I.meta_var(16)``."""
        return is_symbol(self.exprs, node) or self.path(node) in META

    def _check_count(self, target: ast.Tuple, count: int) -> None:
        if len(target.elts) != count:
            raise self.error(target, f"expected {count} names, got {len(target.elts)}")

    def _declare(self, name: str, node: ast.expr) -> None:
        """``n = T.int64()``."""
        path = self.path(node)
        if path == "T.int32":
            raise self.error(node, f"expected T.int64() for a symbol of shapes, got {path}()")
        self.scope.bind(name, symbol(name))

    def _bind(self, target: ast.Name, node: ast.expr) -> None:
        if is_symbol(self.exprs, node):
            self._declare(target.id, node)
        elif isinstance(node, ast.Call) and self.path(node) in META:
            self.scope.bind(target.id, self.exprs.eval(node))
        elif self.is_module_name(node):
            self.scope.bind(target.id, ModuleName())
        elif isinstance(node, ast.Attribute) and self.is_module_name(node.value):
            self.scope.bind(target.id, FunctionName(node.attr))
        elif isinstance(node, ast.Call) and self.path(node) in EXTERNAL and len(node.args) == 1:
            self.scope.bind(target.id, ExternName(self.exprs.text(node.args[0])))
        else:
            self.name_value(target.id, self.values.value(node))
