"""`R.loop`: a function of the module for every iteration."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute, SSAValue, TypeAttribute

from ...dialects import relax
from ...dialects.int_expr import IntExpr, Sym
from ...dialects.relax.symbols import paired_dims
from ...dialects.relax.type_relations import forget_symbols
from ...lowering.substitute import substituted
from ...te.arithmetic import dim_expr
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
        given = dict(zip(NAMES, node.args, strict=False))
        given |= {k.arg or "**": k.value for k in node.keywords}
        if len(node.args) > len(NAMES) or set(given) - set(NAMES) or "func" not in given:
            shown = ", ".join(set(given) - set(NAMES)) or f"{len(node.args)} arguments"
            raise self.function.error(node, f"expected arguments {', '.join(NAMES)}, got {shown}")
        name, _ = self.dps.callee(node, given["func"])
        carried, scanned, others = (
            self._values(given.get(key)) for key in ("carried", "scanned", "given")
        )
        is_while = "is_while" in given and bool(self.function.exprs.eval(given["is_while"]))
        trips = self._trips(given.get("trips"), scanned)
        type_ = self._result(node, name, (carried, scanned, others), trips)
        op = relax.LoopOp(name, trips, carried, scanned, others, type_, is_while)
        return self.function.emit(op, node)

    def _values(self, node: ast.expr | None) -> list[SSAValue]:
        if node is None:
            return []
        return [self.function.value(n) for n in self.function.exprs.elements(node)]

    def _trips(self, node: ast.expr | None, scanned: Sequence[SSAValue]) -> IntExpr | None:
        if node is not None:
            found = self.function.exprs.eval(node)
            return None if found is None else dim_expr(found)
        type_ = scanned[0].type if scanned else None
        dims = type_.dims if isinstance(type_, relax.TensorType) else None
        return dims[0] if dims else None

    def _result(
        self,
        node: ast.Call,
        name: str,
        groups: Sequence[Sequence[SSAValue]],
        trips: IntExpr | None,
    ) -> TupleType:
        """The carried types, then the outputs of the function with an axis for iterations."""
        signature = self.function.signature_of(name)
        if signature is None:
            raise self.function.error(node, f"expected a graph function '{name}' of the module")
        params, result = signature
        carried, scanned, given = groups
        if not isinstance(result, TupleType) or len(result.types.data) < len(carried):
            raise self.function.error(
                node, f"expected '{name}' to return a tuple of carried tensors and outputs"
            )
        known: dict[str, IntExpr] = {}
        slices = [_row(v.type) for v in scanned]
        types = [*(v.type for v in carried), *slices, *(v.type for v in given)]
        for param, type_ in zip(params[1:], types, strict=False):
            for dim, actual in paired_dims(param, type_):
                if isinstance(atom := dim.as_atom, Sym):
                    known.setdefault(atom.name, actual)
        outputs = [
            _stacked(substituted(forget_symbols(t, known.keys()), known), trips)
            for t in result.types.data[len(carried) :]
        ]
        fields = [cast(TypeAttribute, v.type) for v in carried]
        return TupleType(ArrayAttr([*fields, *outputs]))


def _row(type_: Attribute) -> Attribute:
    if not isinstance(type_, relax.TensorType) or not type_.dims:
        return type_
    return relax.TensorType.of(type_.dims[1:], type_.known_element)


def _stacked(type_: Attribute, trips: IntExpr | None) -> TypeAttribute:
    assert isinstance(type_, relax.TensorType)
    if type_.dims is None or trips is None:
        return relax.TensorType.of(None, type_.known_element)
    return relax.TensorType.of([trips, *type_.dims], type_.known_element)
