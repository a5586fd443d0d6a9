"""A program as a sequence of facts that does not depend on how its values and symbols are called.

Two programs are structurally equal when their sequences are. Values and symbols are numbered by the
place of their definition, functions of a module are sorted by name, constants count by content.
Scalars of TensorIR are facts of the statement that uses them: where such an operation stands
between two effects, and how often an expression is written, makes no difference.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, SSAValue

from ..dialects.attributes import RECOMPUTED
from ..dialects.int_expr import Arg, Atom, IntExpr, IntLike, Sym, render
from ..dialects.nesting import enclosing
from ..dialects.relax import ConstantOp, DataAttr, FuncOp, OperatorOp, TensorType
from ..dialects.relax.operators.attributes import OutDType
from ..dialects.sym import ExprAttr
from ..dialects.tir import (
    ApplyOp,
    BlockOp,
    BoundAttr,
    ForOp,
    LoadOp,
    MatchBufferOp,
    PrimFuncOp,
    StoreOp,
)
from ..dialects.tir.scalar_ops import is_expression, yielded

Fact: TypeAlias = "IntExpr | str | int | tuple[Fact, ...]"

NAMES_ONLY = frozenset({"param_names", "buffer_name", "func_name"})
"""Properties that say how something is called and no more."""

HINTS = frozenset({RECOMPUTED})
"""Attributes that say nothing of what a program computes."""

LINKAGE = frozenset({"global_symbol", "private", "sym_name"})
"""Properties and ``attrs`` of a function that say what calls it, and not what it does."""


class Token(NamedTuple):
    """One operation: its place, what it is, and its named facts."""

    path: tuple[str, ...]
    op: str
    facts: tuple[tuple[str, Fact], ...]


class CanonicalForm:
    """The tokens of one operation and of everything in it, with or without its linkage.

    Without `compare_blocks`, names of blocks do not count: code does not depend on them.
    """

    def __init__(
        self,
        root: Operation,
        map_free_vars: bool,
        compare_name: bool = True,
        compare_blocks: bool = True,
    ):
        self.tokens: list[Token] = []
        self.value_names: list[str] = []
        self.symbol_names: list[str] = []
        self._map_free_vars = map_free_vars
        self._unnamed = None if compare_name else root
        self._ignored = HINTS | (NAMES_ONLY if compare_blocks else NAMES_ONLY | {"block_name"})
        self._numbers: dict[SSAValue, int] = {}
        self._interned: dict[tuple[Fact, ...], int] = {}
        self._symbols: dict[str, int] = {}
        self._moments: dict[Operation, int] = {}
        self._texts: dict[Attribute, str] = {}
        self._clock = 0
        self._path: tuple[str, ...] = ()
        self._in_prim_func = _is_in_prim_func(root)
        self._inside = set(root.walk())
        self._statement(root)

    @property
    def program(self) -> list[tuple[str, tuple[tuple[str, Fact], ...]]]:
        """All that is compared: operations and their facts, not their places."""
        return [(t.op, t.facts) for t in self.tokens]

    def show(self, fact: Fact) -> str:
        """The fact with the program's own names."""
        if isinstance(fact, tuple):
            return f"({', '.join(map(self.show, fact))})"
        return render(fact, self._name_of) if isinstance(fact, IntExpr) else str(fact)

    def _name_of(self, atom: Sym | Arg) -> str:
        if isinstance(atom, Arg):
            return self.value_names[atom.index]
        return self.symbol_names[int(atom.name[1:])] if atom.name[0] == "$" else atom.name

    def _block(self, block: Block) -> None:
        for argument in block.args:
            self._define(argument)
        for op in block.ops:
            if self._is_expression(op):
                self._moments.update((inner, self._clock) for inner in op.walk())
            else:
                self._statement(op)
                self._clock += 1

    def _is_expression(self, op: Operation) -> bool:
        is_scalar = self._in_prim_func and is_expression(op)
        return op in self._inside and (is_scalar or isinstance(op, ConstantOp))

    def _statement(self, op: Operation) -> None:
        if isinstance(op, ModuleOp):
            self._module(op)
            return
        outer, self._path = self._path, (*self._path, _label(op))
        if isinstance(op, PrimFuncOp | FuncOp):
            self._function(op)
        else:
            self._operation(op)
        self._path = outer

    def _module(self, op: ModuleOp) -> None:
        self._emit(op, self._attributes(op, ()))
        for function in sorted(op.ops, key=_function_name):
            self._statement(function)

    def _function(self, op: PrimFuncOp | FuncOp) -> None:
        symbols, in_prim_func = self._symbols, self._in_prim_func
        self._in_prim_func = isinstance(op, PrimFuncOp)
        self._symbols = {}
        matched = op.matched_symbols() if isinstance(op, PrimFuncOp) else []
        for name in (*op.declared_symbols(), *matched):
            self._new_symbol(name)
        self._operation(op)
        self._symbols, self._in_prim_func = symbols, in_prim_func

    def _operation(self, op: Operation) -> None:
        if isinstance(op, BlockOp):
            for axis_var in op.axis_vars:
                self._define(axis_var)
        numbering = _numbering(op)
        operands = [
            self._value(o)
            for o in op.operands
            if numbering is None or not isinstance(o.type, IndexType)
        ]
        arguments = [a for r in op.regions for b in r.blocks for a in b.args]
        self._emit(
            op,
            (
                *self._attributes(op, numbering or ()),
                ("operands", tuple(operands)),
                ("result types", tuple(self._attribute(r.type, ()) for r in op.results)),
                ("argument types", tuple(self._attribute(a.type, ()) for a in arguments)),
            ),
        )
        for region in op.regions:
            self._clock += 1  # a load in a loop differs from a load before the loop
            for block in region.blocks:
                self._block(block)
            self.tokens.append(Token(self._path, f"the end of {op.name}", ()))
        for result in op.results:
            self._define(result)

    def _emit(self, op: Operation, facts: tuple[tuple[str, Fact], ...]) -> None:
        self.tokens.append(Token(self._path, op.name, facts))

    def _define(self, value: SSAValue) -> int:
        if value not in self._numbers:
            self._numbers[value] = self._new_number(value.name_hint)
        return self._numbers[value]

    def _new_number(self, name: str | None) -> int:
        number = len(self.value_names)
        self.value_names.append(f"%{name or number}")
        return number

    def _new_symbol(self, name: str) -> int:
        number = self._symbols[name] = len(self.symbol_names)
        self.symbol_names.append(name)
        return number

    def _value(self, value: SSAValue) -> IntExpr:
        """A value as a fact: its number, or for index arithmetic what it computes."""
        if value in self._numbers:
            return IntExpr.of(Arg(self._numbers[value]))
        owner = value.owner
        if not isinstance(owner, Operation) or not self._is_expression(owner):
            return IntExpr.of(Arg(self._free(value)))
        if isinstance(owner, ApplyOp):
            return self._expr(owner.expr.data, owner.operands)
        if isinstance(owner, arith.ConstantOp) and isinstance(value.type, IndexType):
            return IntExpr.of(cast("IntegerAttr[IndexType]", owner.value).value.data)
        number = self._numbers[value] = self._expression(owner, value)
        return IntExpr.of(Arg(number))

    def _expression(self, op: Operation, value: SSAValue) -> int:
        """The number of a scalar, which the same computation on the same memory shares."""
        numbering = _numbering(op)
        operands = op.operands if numbering is None else op.operands[:1]
        facts: tuple[tuple[str, Fact], ...] = (
            *self._attributes(op, numbering or ()),
            ("operands", tuple(self._value(o) for o in operands)),
            ("branches", tuple(self._value(v) for v in yielded(op))),
            ("result type", self._attribute(value.type, ())),
        )
        moment = self._moments.get(op, 0) if isinstance(op, LoadOp) else -1
        key = (op.name, moment, facts)
        if key not in self._interned:
            since = self._clock - moment if isinstance(op, LoadOp) else 0
            self._emit(op, (*facts, ("number of statements before the use", since)))
            self._interned[key] = self._new_number(value.name_hint)
        return self._interned[key]

    def _free(self, value: SSAValue) -> int:
        facts: tuple[tuple[str, Fact], ...] = (
            ("identity", 0 if self._map_free_vars else id(value)),
            ("type", self._attribute(value.type, ())),
        )
        self.tokens.append(Token(self._path, "a value from outside", facts))
        return self._define(value)

    def _expr(self, expr: IntExpr, numbering: Sequence[SSAValue]) -> IntExpr:
        mapping: dict[Atom, IntLike] = {
            Arg(i): self._value(numbering[i]) for i in sorted(expr.args())
        }
        for name in sorted(expr.symbols()):
            if name not in self._symbols and self._map_free_vars:
                self._new_symbol(name)
            if name in self._symbols:
                mapping[Sym(name)] = Sym(f"${self._symbols[name]}")
        return expr.substitute(mapping)

    def _attributes(
        self, op: Operation, numbering: Sequence[SSAValue]
    ) -> tuple[tuple[str, Fact], ...]:
        entries: dict[str, Attribute] = {**_result_dtypes(op), **op.attributes, **op.properties}
        ignored = self._ignored | ({"operandSegmentSizes"} if numbering else set[str]())
        if op is self._unnamed:
            ignored |= LINKAGE
            if isinstance(attrs := entries.pop("attrs", None), DictionaryAttr):
                entries |= {f"attrs.{k}": v for k, v in attrs.data.items() if k not in LINKAGE}
        return tuple(
            (f"'{k}'", self._attribute(entries[k], numbering))
            for k in sorted(entries.keys() - ignored)
        )

    def _attribute(self, attribute: Attribute, numbering: Sequence[SSAValue]) -> Fact:
        match attribute:
            case ExprAttr(data=expr):
                return self._expr(expr, numbering)
            case StringAttr(data=text):
                return f'"{text}"'
            case BoundAttr():
                sides = (self._expr(e.data, numbering) for e in (attribute.lhs, attribute.rhs))
                return (attribute.name, *_sides(*sides))
            case DataAttr(data=data):
                return (data.dtype, data.shape, data.digest)
            case FloatAttr():
                number: FloatAttr[AnyFloat] = attribute
                bits = struct.pack("<d", number.value.data).hex()
                return (f"{number.value.data}", bits, str(number.type))
            case IntegerAttr():
                integer = cast("IntegerAttr[IndexType]", attribute)
                return f"{integer.value.data} : {integer.type}"
            case ArrayAttr(data=items):
                return tuple(
                    self._attribute(a, numbering) for a in cast("Sequence[Attribute]", items)
                )
            case DictionaryAttr(data=entries):
                return tuple((k, self._attribute(v, numbering)) for k, v in sorted(entries.items()))
            case ParametrizedAttribute() if attribute.parameters:
                return (
                    attribute.name,
                    *(self._attribute(p, numbering) for p in attribute.parameters),
                )
            case _:
                if attribute not in self._texts:
                    self._texts[attribute] = str(attribute)
                return self._texts[attribute]


def _sides(lhs: IntExpr, rhs: IntExpr) -> tuple[IntExpr, IntExpr]:
    """Both sides of a comparison with positive terms: ``i < n`` for ``i - n < 0``."""
    difference = rhs - lhs
    above = IntExpr.from_terms({m: c for m, c in difference.terms if c > 0})
    return above - difference, above


def _is_in_prim_func(op: Operation) -> bool:
    return isinstance(op, PrimFuncOp) or enclosing(op, PrimFuncOp) is not None


def _numbering(op: Operation) -> Sequence[SSAValue] | None:
    """What ``arg(i)`` in the operation's expressions stands for; `None` if it has none."""
    if isinstance(op, BlockOp):
        return op.numbering()
    return op.operands_ if isinstance(op, ForOp | LoadOp | MatchBufferOp | StoreOp) else None


def _result_dtypes(op: Operation) -> dict[str, Attribute]:
    """The dtypes of results that an operator has where none is stated."""
    if not isinstance(op, OperatorOp) or not isinstance(op.results[0].type, TensorType):
        return {}
    element = op.results[0].type.element_type
    kinds = op.attribute_kinds().items()
    return {n: element for n, kind in kinds if isinstance(kind, OutDType) and kind.default is None}


def _function_name(op: Operation) -> str:
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else ""


def _label(op: Operation) -> str:
    if isinstance(op, BlockOp):
        return f"block '{op.block_name.data}'"
    name = _function_name(op)
    return f"@{name}" if name else op.name
