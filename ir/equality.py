"""Equality and hash of programs up to the names of their values, parameters, loops and symbols.

The counterparts are TVM's ``tvm.ir.structural_equal``, ``assert_structural_equal`` and
``structural_hash``. Programs are modules, functions and xDSL operations. Types, expressions and
statements, which TVM's functions take too, are compared by what they are written as, with the names
in them and the types of what statements do not define, and sequences by items.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..lowering.canonical_form import CanonicalForm, Token
from ..lowering.functions import functions_by_name
from ..te.arithmetic import PrimExpr, is_same
from .function import Function
from .statements import Statement
from .struct_info import StructInfo


def structural_equal(
    a: Any, b: Any, map_free_vars: bool = False, *, compare_name: bool = True
) -> bool:
    """Whether two programs are the same, or two types, expressions or sequences of them.

    Names of functions and blocks and all attributes count; the order of functions, and names of
    values, parameters, loops, axes and symbols do not. Values from outside have to be the same
    ones, or with `map_free_vars` to correspond. Without `compare_name`, the names of `a` and `b`
    themselves do not count.
    """
    if a is b:
        return True
    lhs, rhs = _operation(a), _operation(b)
    if lhs is None or rhs is None:
        return lhs is rhs and _same_parts(a, b, map_free_vars)
    forms = [CanonicalForm(op, map_free_vars, compare_name) for op in (lhs, rhs)]
    return forms[0].program == forms[1].program


def assert_structural_equal(a: Any, b: Any, map_free_vars: bool = False) -> None:
    """Raise ValueError with the first difference unless `structural_equal` holds."""
    ours, theirs = _operation(a), _operation(b)
    if ours is None or theirs is None:
        if not structural_equal(a, b, map_free_vars):
            raise ValueError(f"expected {_shown(a)}, got {_shown(b)}")
        return
    lhs, rhs = CanonicalForm(ours, map_free_vars), CanonicalForm(theirs, map_free_vars)
    for x, y in zip(lhs.tokens, rhs.tokens, strict=False):
        if (x.op, x.facts) != (y.op, y.facts):
            raise ValueError(_difference(lhs, rhs, x, y))
    count, other = len(lhs.tokens), len(rhs.tokens)
    if count != other:
        longer = lhs.tokens[other] if count > other else rhs.tokens[count]
        present, absent = f"'{longer.op}'", "the end of the program"
        expected, got = (present, absent) if count > other else (absent, present)
        raise ValueError(f"expected {expected} in {_place(longer)}, got {got}")


def structural_hash(program: Any, map_free_vars: bool = False, *, compare_name: bool = True) -> int:
    """A number of 64 bits that structurally equal programs share; the same in every process.

    Which values come from outside does not enter, with `map_free_vars` or without: their identity
    is that of this process. Raises TypeError for what is no program.
    """
    op = _operation(program)
    if op is None:
        raise TypeError(f"expected a module, function or operation, got {_shown(program)}")
    form = CanonicalForm(op, map_free_vars=True, compare_name=compare_name)
    digest = hashlib.blake2b(digest_size=8)
    for token in form.program:
        digest.update(repr(token).encode())
    return int.from_bytes(digest.digest(), "little")


def _operation(program: Any) -> Operation | None:
    """The operation that a program is or shows; `None` for types, expressions and the rest."""
    if isinstance(program, Statement):
        return None  # values in it come from operations outside of its own
    if isinstance(program, Function):
        return program.definition
    op = program if isinstance(program, Operation) else getattr(program, "op", None)
    return _by_name(op) if isinstance(op, ModuleOp) else op if isinstance(op, Operation) else None


def _by_name(module: ModuleOp) -> ModuleOp:
    """A module with its functions in the order of their names, which is all that they have."""
    named = functions_by_name(module)
    if [*named.values()] != [*module.ops] or [*named] == sorted(named):
        return module
    return ModuleOp([named[name].clone() for name in sorted(named)], dict(module.attributes))


def _same_parts(a: Any, b: Any, map_free_vars: bool) -> bool:
    if isinstance(a, PrimExpr) and isinstance(b, PrimExpr):
        return is_same(a, b)
    if isinstance(a, Statement) and isinstance(b, Statement):
        same = a.shown is b.shown and a.script() == b.script()
        return same and a.outside() == b.outside()
    if isinstance(a, StructInfo) or isinstance(b, StructInfo):
        return bool(a == b)
    x, y = (getattr(v, "borrowed", None) for v in (a, b))
    if isinstance(x, SSAValue) and isinstance(y, SSAValue):
        return _same_values(cast("SSAValue", x), cast("SSAValue", y), map_free_vars)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        ours, theirs = cast("Mapping[Any, Any]", a), cast("Mapping[Any, Any]", b)
        return ours.keys() == theirs.keys() and all(
            structural_equal(ours[k], theirs[k], map_free_vars) for k in ours
        )
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        pair = cast("Sequence[Any]", a), cast("Sequence[Any]", b)
        return len(pair[0]) == len(pair[1]) and all(
            structural_equal(x, y, map_free_vars) for x, y in zip(*pair, strict=True)
        )
    return bool(type(a) is type(b) and a == b)  # pyright: ignore[reportUnknownArgumentType]


def _same_values(a: SSAValue, b: SSAValue, map_free_vars: bool) -> bool:
    """Whether values are the same one, or the same expression over the same values."""
    if a is b:
        return True
    if not isinstance(a.owner, Operation) or not isinstance(b.owner, Operation):
        return map_free_vars and a.type == b.type
    return structural_equal(a.owner, b.owner, map_free_vars=True) and all(
        _same_values(x, y, map_free_vars)
        for x, y in zip(a.owner.operands, b.owner.operands, strict=True)
    )


def _shown(value: Any) -> str:
    return " ".join(str(value).split())


def _place(token: Token) -> str:
    return " / ".join(token.path) or "the module"


def _difference(lhs: CanonicalForm, rhs: CanonicalForm, x: Token, y: Token) -> str:
    if x.op != y.op:
        return f"expected '{x.op}' in {_place(x)}, got '{y.op}'"
    ours, theirs = dict(x.facts), dict(y.facts)
    for name in [*ours, *theirs]:
        if ours.get(name) != theirs.get(name):
            expected = lhs.show(ours[name]) if name in ours else "none"
            got = rhs.show(theirs[name]) if name in theirs else "none"
            return f"expected {name} of '{x.op}' in {_place(x)} to be {expected}, got {got}"
    raise AssertionError("the tokens are equal")
