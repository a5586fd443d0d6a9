"""Patterns of graph values: the operators, types and attributes of expressions.

``is_op("relax.add")(is_op("relax.matmul")(wildcard(), wildcard()), is_const())`` matches the value
of an addition of a constant to a matmul. A pattern that occurs several times must match the same
value each time. The counterpart is TVM's ``relax.dpl``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, TypeAlias

from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.int_expr import Atom, IntExpr, Sym
from ...dialects.relax.type_relations import says_less, without_dims
from ...dialects.sym import exprs_of
from .values import canonical

Matches: TypeAlias = "dict[Pattern, SSAValue]"
"""The value that each part of a pattern has matched."""


class Pattern(ABC):
    """A pattern of values; patterns are compared by identity."""

    is_operation = False
    """Whether it matches an operation that becomes part of a fused function."""

    def match_value(self, value: SSAValue, found: Matches | None = None) -> Matches | None:
        """The values by part of the pattern if it matches a value, else `None`."""
        known, value = found or {}, canonical(value)
        if self in known:
            return known if known[self] is value else None
        inner = self.match_parts(value, known)
        return None if inner is None else {**inner, self: value}

    @abstractmethod
    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        """`found` with the values of the parts; `None` if the pattern does not match."""

    @abstractmethod
    def copy(self) -> Pattern:
        """The same pattern with another identity, as all of its parts."""

    def where(self, accepts: Callable[[SSAValue], bool]) -> Pattern:
        """The pattern, restricted to values that `accepts` accepts."""
        return Constrained(self, accepts)


class Wildcard(Pattern):
    """Any value."""

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        return found

    def copy(self) -> Pattern:
        return Wildcard()


class Parameter(Pattern):
    """A parameter of the function, of this name if one is given."""

    def __init__(self, name: str = ""):
        self.name = name

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        if not isinstance(value, BlockArgument):
            return None
        func = value.owner.parent_op()
        known = func.names[value.index] if isinstance(func, relax.FuncOp) else value.name_hint
        return found if not self.name or known == self.name else None

    def copy(self) -> Pattern:
        return Parameter(self.name)


class Constant(Pattern):
    """A constant."""

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        return found if isinstance(value.owner, relax.ConstantOp) else None

    def copy(self) -> Pattern:
        return Constant()


class Applied(Pattern):
    """The result of an operation that `accepts` accepts; `None` for the arguments means any.

    With `in_any_order` the operands of a commutative operation may be swapped.
    """

    is_operation = True

    def __init__(
        self,
        accepts: Callable[[Operation], bool],
        args: Sequence[Pattern] | None,
        in_any_order: bool = False,
    ):
        self.accepts = accepts
        self.args = None if args is None else tuple(args)
        self.in_any_order = in_any_order

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        op = value.owner
        if not isinstance(op, Operation) or not self.accepts(op):
            return None
        if self.args is None:
            return found
        if isinstance(op, relax.OperatorOp) and op.operand_names() == (op.variadic_operand(),):
            return self._match_list(op, found)
        extra = self.args[len(op.operands) :]
        if len(extra) > _attribute_count(op) or not all(isinstance(p, Wildcard) for p in extra):
            return None
        first = match_all(self.args[: len(op.operands)], op.operands, found)
        if first is None and self.in_any_order and op.name in COMMUTATIVE and not extra:
            return match_all(self.args[::-1], op.operands, found)
        return first

    def _match_list(self, op: Operation, found: Matches) -> Matches | None:
        """The operands of an operator that takes a list, which is a tuple in TVM."""
        args = self.args or ()
        if len(args) == 1 and len(op.operands) != 1 and isinstance(args[0], Wildcard):
            return found
        if len(args) == 1 and isinstance(args[0], Applied) and args[0].accepts is is_tuple:
            args = args[0].args
            return found if args is None else match_all(args, op.operands, found)
        return match_all(args, op.operands, found)

    def copy(self) -> Pattern:
        args = None if self.args is None else [a.copy() for a in self.args]
        return Applied(self.accepts, args, self.in_any_order)


def _attribute_count(op: Operation) -> int:
    """How many attributes are operands in TVM: shapes of operators, and variables of kernels."""
    if isinstance(op, relax.OperatorOp):
        return len(op.attribute_names())
    given = op.tir_vars if isinstance(op, relax.CallTIROp) else None
    return 0 if given is None else len(exprs_of(given))


def match_all(
    patterns: Sequence[Pattern], values: Iterable[SSAValue], found: Matches
) -> Matches | None:
    """The matches of patterns with values, one by one; `None` unless all match."""
    given, result = list(values), found
    if len(given) != len(patterns):
        return None
    for pattern, value in zip(patterns, given, strict=True):
        inner = pattern.match_value(value, result)
        if inner is None:
            return None
        result = inner
    return result


class Either(Pattern):
    """A value that one of two patterns matches; the first one is tried first."""

    def __init__(self, lhs: Pattern, rhs: Pattern):
        self.lhs = lhs
        self.rhs = rhs

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        first = self.lhs.match_value(value, found)
        return self.rhs.match_value(value, found) if first is None else first

    def copy(self) -> Pattern:
        return Either(self.lhs.copy(), self.rhs.copy())


class Both(Pattern):
    """A value that two patterns match."""

    def __init__(self, lhs: Pattern, rhs: Pattern):
        self.lhs = lhs
        self.rhs = rhs

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        return match_all((self.lhs, self.rhs), (value, value), found)

    def copy(self) -> Pattern:
        return Both(self.lhs.copy(), self.rhs.copy())


class Neither(Pattern):
    """A value that a pattern does not match."""

    def __init__(self, inner: Pattern):
        self.inner = inner

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        return found if self.inner.match_value(value, found) is None else None

    def copy(self) -> Pattern:
        return Neither(self.inner.copy())


class Constrained(Pattern):
    """A value that a pattern matches and a function accepts."""

    def __init__(self, inner: Pattern, accepts: Callable[[SSAValue], bool]):
        self.inner = inner
        self.accepts = accepts

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        return self.inner.match_value(value, found) if self.accepts(value) else None

    def copy(self) -> Pattern:
        return Constrained(self.inner.copy(), self.accepts)


class Typed(Pattern):
    """A value that a pattern matches and whose type says what `wanted` says, or more.

    A symbol of `wanted` stands for any dim, the same one in all of the patterns that match
    together.
    """

    def __init__(self, inner: Pattern, wanted: Attribute):
        self.inner = inner
        self.wanted = wanted

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        symbols: dict[Atom, IntExpr] = {}
        others = [(p, v) for p, v in found.items() if isinstance(p, Typed)]
        for pattern, other in [*others, (self, value)]:
            if not _fits(pattern.wanted, other.type, symbols):
                return None
        return self.inner.match_value(value, found)

    def copy(self) -> Pattern:
        return Typed(self.inner.copy(), self.wanted)


def _fits(wanted: Attribute, type_: Attribute, symbols: dict[Atom, IntExpr]) -> bool:
    """Whether a type says what another one says, where symbols have values; finds new ones."""
    match wanted, type_:
        case (relax.TensorType(dims=dims), relax.TensorType(dims=given)) | (
            relax.ShapeType(dims=dims),
            relax.ShapeType(dims=given),
        ) if dims is not None and given is not None:
            if len(dims) != len(given):
                return False
            for dim, size in zip(dims, given, strict=True):
                if isinstance(atom := dim.as_atom, Sym):
                    symbols.setdefault(atom, size)
            if any(d.substitute(symbols) != size for d, size in zip(dims, given, strict=True)):
                return False
            return says_less(without_dims(wanted), type_)
        case _:
            return says_less(wanted, type_)


class Unordered(Pattern):
    """A tuple of values that patterns match in some order."""

    is_operation = True

    def __init__(self, fields: Sequence[Pattern]):
        self.fields = tuple(fields)

    def match_parts(self, value: SSAValue, found: Matches) -> Matches | None:
        op = value.owner
        if not isinstance(op, relax.TupleOp) or len(op.fields) != len(self.fields):
            return None
        orders = permutations(self.fields)
        matches = (match_all(order, op.fields, found) for order in orders)
        return next((m for m in matches if m is not None), None)

    def copy(self) -> Pattern:
        return Unordered([f.copy() for f in self.fields])


COMMUTATIVE = ("relax.add", "relax.multiply")
"""Operators whose operands patterns match in any order, as in TVM."""


def is_tuple(op: Operation) -> bool:
    """Whether an operation makes a tuple."""
    return isinstance(op, relax.TupleOp)


def operator_named(*names: str) -> Callable[[Operation], bool]:
    """Whether an operation is one of these operators or calls, such as "relax.add"."""
    return lambda op: op.name in names


def is_internal(name: str) -> Callable[[SSAValue], bool]:
    """Whether a value is seen by its dataflow block alone, and has this name if one is given."""

    def accepts(value: SSAValue) -> bool:
        block = value.owner.parent_op()
        inside = isinstance(block, relax.DataflowOp) and value not in block.output.values
        inside = inside or getattr(value.owner, "is_dataflow", False)
        return inside and name in ("", value.name_hint)

    return accepts


def call_of(kind: type[Operation], callee: str | None) -> Callable[[Operation], bool]:
    """Whether an operation calls a function, of this name if one is given."""

    def accepts(op: Operation) -> bool:
        return isinstance(op, kind) and callee in (None, getattr(op, "callee_name", None))

    return accepts


def field_number(index: int | None) -> Callable[[Operation], bool]:
    """Whether an operation takes a field of a tuple, that of this number if one is given."""

    def accepts(op: Operation) -> bool:
        return isinstance(op, relax.TupleGetItemOp) and index in (None, op.index.data)

    return accepts


def dtype_is(dtype: str) -> Callable[[SSAValue], bool]:
    """Whether a value is a tensor of a dtype."""
    element_type(dtype)
    return lambda value: isinstance(value.type, relax.TensorType) and value.type.dtype == dtype


def shape_is(dims: Sequence[IntExpr]) -> Callable[[SSAValue], bool]:
    """Whether a value is a tensor of a shape."""
    return lambda value: isinstance(value.type, relax.TensorType) and value.type.dims == tuple(dims)


def attributes_are(wanted: Mapping[str, Any]) -> Callable[[SSAValue], bool]:
    """Whether a value comes from an operator with these attributes, among others."""

    def accepts(value: SSAValue) -> bool:
        op = value.owner
        if not isinstance(op, relax.OperatorOp):
            return False
        given = op.attribute_values()
        return all(k in given and _plain(given[k]) == _plain(v) for k, v in wanted.items())

    return accepts


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
