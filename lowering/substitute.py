"""Symbols of a function replaced by other expressions, in every type and attribute of the function.

``!relax.tensor<[1, n], f32>`` with ``{n: 128}`` ⇒ ``!relax.tensor<[1, 128], f32>``
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects.int_expr import Atom, IntExpr, IntLike, Sym
from ..dialects.sym import ExprAttr


def substitute_symbols(op: Operation, mapping: Mapping[str, IntLike]) -> None:
    """Replace symbols by name, all at once, in `op` and everything inside of it, in place.

    Works for functions of every stage. Values whose type changes are replaced, so that references
    to them from outside of the IR go stale. Names of index parameters are not touched.
    """
    if not mapping:
        return
    substitution = _substitution(mapping)
    for inner in op.walk():
        substitution.apply_to(inner)


def substitute_own_symbols(op: Operation, mapping: Mapping[str, IntLike]) -> None:
    """As `substitute_symbols`, for the operation without the operations inside of it."""
    _substitution(mapping).apply_to(op)


def substituted(type_: Attribute, mapping: Mapping[str, IntLike]) -> Attribute:
    """A type or another attribute with symbols replaced by name, all at once."""
    return _substitution(mapping).apply(type_)


def _substitution(mapping: Mapping[str, IntLike]) -> _Substitution:
    return _Substitution({Sym(name): IntExpr.of(value) for name, value in mapping.items()})


def set_type(value: SSAValue, type_: Attribute) -> SSAValue:
    """The value with this type: itself if it has it, otherwise the one that replaced it."""
    return value if value.type == type_ else Rewriter.replace_value_with_new_type(value, type_)


_NESTED: tuple[type[Attribute], ...] = (ArrayAttr, DictionaryAttr, ParametrizedAttribute)
"""Attributes that hold other attributes."""


class _Substitution:
    def __init__(self, mapping: Mapping[Atom, IntExpr]):
        self.mapping = mapping
        self.known: dict[Attribute, Attribute] = {}

    def apply(self, attribute: Attribute) -> Attribute:
        if isinstance(attribute, ExprAttr):
            return ExprAttr.of(attribute.data.substitute(self.mapping))
        # Other data is not even hashed: a constant's hash reads its whole array.
        if not isinstance(attribute, _NESTED):
            return attribute
        result = self.known.get(attribute)
        if result is None:
            result = self.known[attribute] = self._rebuild(attribute)
        return result

    def apply_to(self, op: Operation) -> None:
        for attributes in (op.properties, op.attributes):
            for key, attribute in attributes.items():
                attributes[key] = self.apply(attribute)
        values = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
        for value in values:
            set_type(value, self.apply(value.type))

    def _rebuild(self, attribute: Attribute) -> Attribute:
        match attribute:
            case ArrayAttr(data=items):
                return ArrayAttr([self.apply(i) for i in cast(Sequence[Attribute], items)])
            case DictionaryAttr(data=entries):
                return DictionaryAttr({k: self.apply(v) for k, v in entries.items()})
            case ParametrizedAttribute():
                return type(attribute).new([self.apply(p) for p in attribute.parameters])
            case _:
                return attribute
