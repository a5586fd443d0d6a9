"""`R.loop`: a function of the module for every iteration."""

from __future__ import annotations

import ast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import SSAValue

from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ...lowering.loop_types import LoopOperands, loop_type
from ...te.arithmetic import dim_expr
from ...te.expr import PrimExpr
from .relax_dps import DPSCallParser
from .relax_reader import RelaxReader

NAMES = ("func", "carried", "scanned", "given", "trips", "is_while")


class LoopParser:
    """Reads loops of one function."""

    def __init__(self, function: RelaxReader, dps: DPSCallParser):
        self.function = function
        self.dps = dps

    def loop(self, node: ast.Call) -> SSAValue:
        """``R.loop(cls.step, (h,), scanned=(x,), given=(w,), trips=n)``.

        Without trips these are the elements along the first axis of the first scanned tensor.
        """
        given = self._arguments(node)
        name, _ = self.dps.callee(node, given.get("func"))
        groups = (self._values(given.get(key)) for key in ("carried", "scanned", "given"))
        operands = LoopOperands(*groups)
        is_while = self._is_while(given.get("is_while"))
        trips = self._trips(given.get("trips"))
        trips = operands.trips() if trips is None else trips
        signature = self.function.signature_of(name)
        if signature is None:
            raise self.function.error(node, f"expected a graph function '{name}' of the module")
        type_ = loop_type(name, *signature, operands, trips, is_while)
        op = relax.LoopOp(
            name, trips, operands.carried, operands.scanned, operands.given, type_, is_while
        )
        return self.function.emit(op, node)

    def _arguments(self, node: ast.Call) -> dict[str, ast.expr]:
        if len(node.args) > len(NAMES):
            raise self.function.error(
                node, f"expected at most {len(NAMES)} arguments, got {len(node.args)}"
            )
        given: dict[str, ast.expr] = dict(zip(NAMES, node.args, strict=False))
        for keyword in node.keywords:
            name = keyword.arg or "**"
            if name not in NAMES:
                raise self.function.error(
                    keyword, f"expected arguments {', '.join(NAMES)}, got {name}"
                )
            if name in given:
                raise self.function.error(keyword, f"expected '{name}' once, got it twice")
            given[name] = keyword.value
        return given

    def _values(self, node: ast.expr | None) -> list[SSAValue]:
        """The values of a tuple or list, of a variable that is a tuple its fields."""
        if node is None:
            return []
        if isinstance(node, ast.Tuple | ast.List):
            return [self.function.value(n) for n in node.elts]
        value = self.function.value(node)
        if not isinstance(value.type, TupleType):
            return [value]
        count = len(value.type.types.data)
        return [self.function.field(value, i, node) for i in range(count)]

    def _is_while(self, node: ast.expr | None) -> bool:
        found = False if node is None else self.function.exprs.eval(node)
        if node is not None and not isinstance(found, bool):
            raise self.function.error(
                node, f"expected True or False for is_while, got {ast.unparse(node)}"
            )
        return found

    def _trips(self, node: ast.expr | None) -> IntExpr | None:
        """An integer over symbols, or a number of the graph; `None` leaves it open."""
        found = None if node is None else self.function.exprs.eval(node)
        if node is None or found is None:
            return None
        type_ = getattr(found, "type", None)
        if isinstance(type_, relax.PrimType) and type_.expr is not None:
            return type_.expr
        if not isinstance(found, PrimExpr | int) or isinstance(found, bool):
            raise self.function.error(
                node, f"expected an integer over symbols as trips, got {ast.unparse(node)}"
            )
        return dim_expr(found)
