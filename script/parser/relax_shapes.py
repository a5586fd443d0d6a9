"""Shapes and numbers as values of graph functions, and `R.match_cast`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import relax
from ...dialects.int_expr import IntExpr, sym
from ...dialects.relax.operators.reshaping import product
from ...dialects.relax.symbols import determined_symbols
from ...ir.operators import prim_op
from ...lowering.functions import unique_name
from ...lowering.graph.lower_prims import number_tensor
from ...te.arithmetic import Binary, dim_expr
from ...te.expr import Imm, PrimExpr
from .relax_reader import RelaxReader

_COMPARED = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
OLD_NAMES = {"sinfo": "struct_info", "ty": "struct_info"}


class ShapeCallParser:
    """Reads calls whose values are known from types."""

    def __init__(self, function: RelaxReader):
        self.function = function
        self.named: dict[tuple[SSAValue, Block], tuple[IntExpr, ...]] = {}
        """The symbols of shapes that only the running program knows, in each block."""

    def match_cast(self, node: ast.Call) -> SSAValue:
        """``R.match_cast(x, R.Tensor((n, m), "float32"))``."""
        value, annotation = self._arguments(node, ("value", "struct_info"))
        operand = self.function.value(value)
        type_ = self.function.annotations.type(annotation)
        self.function.declared.update(determined_symbols([type_]))
        return self.function.emit(relax.MatchCastOp(operand, type_), node)

    def shape_of(self, node: ast.Call) -> SSAValue:
        """``R.shape_of(x)``."""
        (value,) = self._arguments(node, ("expr",))
        return self.function.emit(relax.ShapeOfOp(self.function.value(value)), node)

    def prim_to_tensor(self, node: ast.Call) -> SSAValue:
        """``R.prim_to_tensor(x)``."""
        (value,) = self._arguments(node, ("expr",))
        return self.function.emit(relax.PrimToTensorOp(self.function.value(value)), node)

    def tensor_to_prim(self, node: ast.Call) -> SSAValue:
        """``R.tensor_to_prim(t)``."""
        (value,) = self._arguments(node, ("expr",))
        return self.function.emit(relax.TensorToPrimOp(self.function.value(value)), node)

    def tensor_to_shape(self, node: ast.Call) -> SSAValue:
        """``R.tensor_to_shape(t, at_most=[n])``, or without limits."""
        has_limits = len(node.args) + len(node.keywords) > 1
        value, *limits = self._arguments(node, ("expr", "at_most") if has_limits else ("expr",))
        operand = self.function.value(value)
        dims = self.function.annotations.dims(limits[0]) if limits else None
        return self.function.emit(relax.TensorToShapeOp(operand, dims), node)

    def named_dims(self, shape: SSAValue, node: ast.AST) -> tuple[IntExpr, ...]:
        """The dims of a shape that only the running program knows, as new symbols.

        Raises ScriptError for a shape of unknown rank.
        """
        function, type_ = self.function, shape.type
        assert isinstance(type_, relax.ShapeType)
        if type_.rank is None:
            raise function.error(node, f"expected a shape of known rank, got {type_}")
        if (shape, function.block) not in self.named:
            stem = shape.name_hint or "dim"
            dims: list[IntExpr] = []
            for i in range(type_.rank):
                name = unique_name(f"{stem}_{i}", function.declared)
                function.declared.add(name)
                dims.append(sym(name))
            function.emit(relax.MatchCastOp(shape, relax.ShapeType.of(dims)), node)
            self.named[shape, function.block] = tuple(dims)
        return self.named[shape, function.block]

    def of_unknown_rank(
        self, name: str, operands: Sequence[SSAValue], shape: SSAValue
    ) -> relax.CallPurePackedOp | None:
        """The call of the runtime for an operator on a shape of unknown rank, if it has one."""
        assert isinstance(shape.type, relax.ShapeType)
        if shape.type.rank is not None:
            return None
        match name:
            case "relax.reshape":
                data = operands[0].type
                known = data.known_element if isinstance(data, relax.TensorType) else None
                type_ = relax.TensorType.of(None, known)
                return relax.CallPurePackedOp("vm.builtin.reshape", [operands[0], shape], type_)
            case "relax.shape_to_tensor":
                type_ = relax.TensorType.of(None, i64, 1)
                return relax.CallPurePackedOp("relax.run.shape_to_tensor", [shape], type_)
            case _:
                return None

    def with_elements(self, value: SSAValue, dims: Sequence[IntExpr], node: ast.AST) -> SSAValue:
        """A tensor for a reshape to these dims, whose number of elements is checked."""
        type_ = value.type
        if not isinstance(type_, relax.TensorType) or type_.dims is None:
            return value
        whole, wanted = product(type_.dims), product(dims)
        if whole == wanted:
            return value
        flat = self.function.emit(
            relax.OPERATORS["relax.reshape"].of([value], {"shape": (whole,)}), node
        )
        cast_ = relax.MatchCastOp(flat, relax.TensorType.of([wanted], type_.known_element))
        return self.function.emit(cast_, node)

    def shape(self, node: ast.Call) -> SSAValue:
        """``R.shape([n, 4])``."""
        (dims,) = self._arguments(node, ("values",))
        return self.function.emit(relax.ShapeOp(self.function.annotations.dims(dims)), node)

    def prim_value(self, node: ast.Call) -> SSAValue:
        """``R.prim_value(n + 1)``: a number, an integer over symbols, or a comparison of two."""
        (value,) = self._arguments(node, ("value",))
        return self.number(value)

    def number(self, value: ast.expr, dtype: str | None = None) -> SSAValue:
        """A number, an integer over symbols, or a comparison of two, as a value of the graph.

        A number has the `dtype`, or as `prim_op` says.
        """
        found = self.function.exprs.eval(value)
        if isinstance(found, bool | int | float | Imm):
            op = prim_op(found, dtype, lambda op: self.function.emit(op, value))
            return self.function.emit(op, value)
        if isinstance(getattr(found, "type", None), relax.PrimType):
            return found
        if isinstance(found, Binary) and found.op in _COMPARED:
            return self._comparison(value, found)
        if not isinstance(found, PrimExpr):
            message = f"expected a number or an integer over symbols, got '{ast.unparse(value)}'"
            raise self.function.error(value, message)
        return self.function.emit(relax.PrimValueOp(dim_expr(found)), value)

    def _comparison(self, node: ast.expr, found: Binary) -> SSAValue:
        def emitted(op: Operation) -> SSAValue:
            return self.function.emit(op, node)

        sides = [relax.PrimValueOp(dim_expr(e)).result for e in (found.lhs, found.rhs)]
        operands = [number_tensor(s, emitted) for s in sides]
        test = relax.OPERATORS[f"relax.{_COMPARED[found.op]}"].of(operands)
        return emitted(relax.TensorToPrimOp(emitted(test)))

    def _arguments(self, node: ast.Call, names: Sequence[str]) -> list[ast.expr]:
        given = dict(zip(names, node.args, strict=False))
        given |= {OLD_NAMES.get(k.arg or "", k.arg or "**"): k.value for k in node.keywords}
        if set(given) != set(names) or len(node.args) > len(names):
            listed, count = ", ".join(names), len(node.args) + len(node.keywords)
            raise self.function.error(node, f"expected arguments {listed}, got {count}")
        return [given[n] for n in names]
