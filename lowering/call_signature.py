"""What the shapes of a call say about the callee's symbols: calls are unified with callees here.

Calling ``linear0(x: (1, m), w: (n, m), b: (n,), z: (1, n))`` with shapes ``(1, 784)``, ``(128,
784)``, ``(128,)`` and ``(1, 128)`` gives ``{m: 784, n: 128}``. The tensors of a function's own
parameters determine its symbols likewise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import IndexType, TupleType
from xdsl.ir import Attribute

from ..dialects import relax
from ..dialects.diagnostics import Diagnostic
from ..dialects.int_expr import Atom, IntExpr, Sym
from ..dialects.relax import TensorType
from ..dialects.relax.symbols import determined_symbols
from ..dialects.relax.types import python_shape, shape_text, tensors_in
from ..dialects.tir import BufferType, PrimFuncOp
from .equations import Equation, always_differ
from .functions import count_text


class Number(NamedTuple):
    """A number as unification compares it: like the only dim of a shape, but it may be negative."""

    dims: tuple[IntExpr, ...] | None
    rank: int = 1
    dtype: str | None = None


TensorLike: TypeAlias = "BufferType | TensorType | Number"


@dataclass(frozen=True, slots=True)
class Formal:
    """What a callee says about an argument or result; `subject` names it: ``argument 'x'``."""

    subject: str
    type: TensorLike


@dataclass(frozen=True)
class Unification:
    """The callee's symbols in terms of the caller's, and equations that only run time can decide.

    `symbols` lacks those that are determined by arguments of unknown shape alone. An equation that
    is undecided here must be checked when the call is lowered; conversion to `rt` turns it into a
    check of the caller's arguments.
    """

    symbols: dict[str, IntExpr] = field(default_factory=lambda: {})
    undecided: list[Equation] = field(default_factory=lambda: [])


def unify(
    where: str,
    formals: Sequence[Formal],
    actuals: Sequence[TensorLike],
    given: Mapping[str, IntExpr] | None = None,
) -> Unification:
    """The callee's symbols for arguments of these types; `given` holds its index parameters.

    `where` opens each message, as in ``call of 'linear0'``. Raises Diagnostic with one
    line for another dtype or rank, for dims that are provably different from what the callee
    expects, and for a symbol with two values. Dims that may or may not be equal are accepted and
    listed as `undecided`.
    """
    unifier = _Unifier(where, dict(given or {}))
    pairs = list(zip(formals, actuals, strict=True))
    for formal, actual in pairs:
        unifier.check_kind(formal, actual)
    for formal, actual in pairs:
        unifier.bind_symbols(formal, actual)
    for formal, actual in pairs:
        unifier.compare_dims(formal, actual)
        unifier.compare_layout(formal, actual)
    return Unification(unifier.symbols, unifier.undecided)


def buffer_formals(names: Sequence[str], types: Sequence[Attribute]) -> list[Formal]:
    """The formals of a callee on memory: its buffer parameters, without the index parameters."""
    pairs = zip(names, types, strict=True)
    return [Formal(f"argument '{n}'", t) for n, t in pairs if isinstance(t, BufferType)]


def index_values(
    func: PrimFuncOp,
    values: Sequence[IntExpr],
    among_arguments: Mapping[str, IntExpr | None] | None = None,
) -> dict[str, IntExpr]:
    """What a call says about the symbols that are index parameters of the callee.

    `values` are a call's `vars`, for the parameters that have no scalar among the arguments.
    Raises Diagnostic for another number of values.
    """
    given = among_arguments or {}
    names = [
        n
        for n, p in zip(func.names, func.params, strict=True)
        if isinstance(p.type, IndexType) and n not in given
    ]
    if len(names) != len(values):
        listed = f" ({', '.join(names)})" if names else ""
        raise Diagnostic(
            f"'{func.sym_name.data}' expects {count_text(len(names), 'index value')}{listed}, "
            f"got {len(values)}"
        )
    known = {n: value for n, value in given.items() if value is not None}
    return known | dict(zip(names, values, strict=True))


def unify_types(
    where: str, subjects: Sequence[str], expected: Sequence[Attribute], got: Sequence[Attribute]
) -> Unification:
    """The callee's symbols for values of these types of the graph, tuples field by field.

    Raises Diagnostic with one line where they do not fit.
    """
    formals: list[Formal] = []
    actuals: list[TensorLike] = []
    for subject, formal, actual in zip(subjects, expected, got, strict=True):
        _pair_types(where, subject, formal, actual, formals, actuals)
    return unify(where, formals, actuals)


def _pair_types(
    where: str,
    subject: str,
    formal: Attribute,
    actual: Attribute,
    formals: list[Formal],
    actuals: list[TensorLike],
) -> None:
    given, wanted = _sizes(actual), _sizes(formal)
    if given is not None and wanted is not None and _same_kind(formal, actual):
        formals.append(Formal(subject, wanted))
        actuals.append(given)
    elif (
        isinstance(formal, TupleType)
        and isinstance(actual, TupleType)
        and len(formal.types.data) == len(actual.types.data)
    ):
        for i, (f, a) in enumerate(zip(formal.types.data, actual.types.data, strict=True)):
            _pair_types(where, f"field {i} of {subject}", f, a, formals, actuals)
    elif formal != actual:
        raise Diagnostic(f"{where}: expected {subject} to have type {formal}, got {actual}")


def _same_kind(formal: Attribute, actual: Attribute) -> bool:
    if isinstance(formal, relax.PrimType) and isinstance(actual, relax.PrimType):
        return formal.element_type == actual.element_type
    return type(formal) is type(actual)


def _sizes(type_: Attribute) -> TensorLike | None:
    """What takes part in unification: tensors, and sizes as the dims of one."""
    match type_:
        case TensorType():
            return type_
        case relax.ShapeType():
            return TensorType.of(type_.dims, None, type_.rank)
        case relax.PrimType():
            return Number(None if type_.expr is None else (type_.expr,))
        case _:
            return None


class _Unifier:
    def __init__(self, where: str, given: dict[str, IntExpr]):
        self.where = where
        self.symbols = given
        self.sources = {name: f"index value '{name}'" for name in given}
        self.undecided: list[Equation] = []

    def fail(self, message: str) -> Diagnostic:
        return Diagnostic(f"{self.where}: {message}")

    def check_kind(self, formal: Formal, actual: TensorLike) -> None:
        expected, got = formal.type.dtype, actual.dtype
        if expected is not None and got is not None and expected != got:
            raise self.fail(f"expected {formal.subject} to have dtype {expected}, got {got}")
        rank = formal.type.rank
        if rank is not None and actual.rank is not None and rank != actual.rank:
            raise self.fail(
                f"expected {formal.subject} to have rank {rank}, got {actual.rank} "
                f"(shape {_shape_text(actual)})"
            )

    def bind_symbols(self, formal: Formal, actual: TensorLike) -> None:
        for expected, got in _dim_pairs(formal.type, actual):
            if not isinstance(atom := expected.as_atom, Sym):
                continue
            if (got.constant or 0) < 0:
                raise self.fail(f"expected {formal.subject} to be at least 0, got {got}")
            known = self.symbols.setdefault(atom.name, got)
            source = self.sources.setdefault(atom.name, formal.subject)
            if always_differ(known, got):
                raise self.fail(
                    f"expected symbol '{atom.name}' to be {known} as in {source}, "
                    f"got {got} in {formal.subject}"
                )
            self._require(formal, known, got)

    def compare_dims(self, formal: Formal, actual: TensorLike) -> None:
        for dim, got in _dim_pairs(formal.type, actual):
            if isinstance(dim.as_atom, Sym) or (expected := self._known(dim)) is None:
                continue
            if always_differ(expected, got):
                raise self.fail(
                    f"expected {formal.subject} to have shape "
                    f"{self._tuple_text(formal.type.dims or ())}, "
                    f"got {_shape_text(actual)}"
                )
            self._require(formal, expected, got)

    def compare_layout(self, formal: Formal, actual: TensorLike) -> None:
        """A callee for other strides or another offset than the memory has cannot run on it."""
        if not isinstance(formal.type, BufferType) or actual.dims is None:
            return
        memory = actual if isinstance(actual, BufferType) else _dense(formal.type, actual.dims)
        if formal.type.is_dense and memory.is_dense:
            return
        wanted, strides = formal.type.element_strides(), memory.element_strides()
        start, offset = formal.type.offset.data, memory.offset.data
        for dim, got in [*zip(wanted, strides, strict=True), (start, offset)]:
            if (expected := self._known(dim)) is None:
                continue
            if always_differ(expected, got):
                raise self.fail(
                    f"expected {formal.subject} to have strides {self._tuple_text(wanted)} and "
                    f"offset {start}, got {python_shape(strides)} and {offset}"
                )
            self._require(formal, expected, got)

    def _tuple_text(self, exprs: Sequence[IntExpr]) -> str:
        known = [self._known(e) for e in exprs]
        return python_shape([k if k is not None else e for k, e in zip(known, exprs, strict=True)])

    def _known(self, expr: IntExpr) -> IntExpr | None:
        """The expression in terms of the caller; `None` if it has an undetermined symbol."""
        if expr.symbols() - self.symbols.keys():
            return None
        mapping: dict[Atom, IntExpr] = {Sym(name): value for name, value in self.symbols.items()}
        return expr.substitute(mapping)

    def _require(self, formal: Formal, expected: IntExpr, got: IntExpr) -> None:
        equation = Equation(formal.subject, expected, got)
        if expected != got and equation not in self.undecided:
            self.undecided.append(equation)


def _dim_pairs(formal: TensorLike, actual: TensorLike) -> list[tuple[IntExpr, IntExpr]]:
    if formal.dims is None or actual.dims is None:
        return []
    return list(zip(formal.dims, actual.dims, strict=True))


def _shape_text(type_: TensorLike) -> str:
    return shape_text(type_) if isinstance(type_, TensorType) else python_shape(type_.dims or ())


def _dense(like: BufferType, dims: Sequence[IntExpr]) -> BufferType:
    return BufferType.of(dims, like.element_type)


def extra_symbols(func: relax.FuncOp) -> list[str]:
    """The symbols of a function that only shapes and numbers among its parameters determine."""
    tensors = [t for p in func.params for t in tensors_in(p.type)]
    by_memory = set(determined_symbols(tensors))
    return [s for s in func.declared_symbols() if s not in by_memory]


def leaf_names(name: str, type_: Attribute) -> list[str]:
    """Names of the tensors of a parameter: its own, or ``t.0``, ``t.1.0`` in a tuple."""
    if isinstance(type_, TupleType):
        fields: Sequence[Attribute] = type_.types.data
        return [n for i, field in enumerate(fields) for n in leaf_names(f"{name}.{i}", field)]
    return [name] if tensors_in(type_) else []
