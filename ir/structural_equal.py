"""Equality and hash of programs up to the names of their values, parameters, loops and symbols.

The counterparts are TVM's ``tvm.ir.structural_equal``, ``assert_structural_equal`` and
``structural_hash``.
"""

from __future__ import annotations

import hashlib

from xdsl.ir import Operation

from ..lowering.canonical_form import CanonicalForm, Token


def structural_equal(
    a: Operation, b: Operation, map_free_vars: bool = False, compare_name: bool = True
) -> bool:
    """Whether two operations and all that is in them are the same program.

    Names of functions and blocks and all attributes count; names of values, parameters, loops, axes
    and symbols do not. Values from outside have to be the same ones, or with `map_free_vars` to
    correspond. Without `compare_name`, the names of `a` and `b` themselves do not count.
    """
    if a is b:
        return True
    lhs, rhs = (CanonicalForm(op, map_free_vars, compare_name) for op in (a, b))
    return lhs.program == rhs.program


def assert_structural_equal(a: Operation, b: Operation, map_free_vars: bool = False) -> None:
    """Raise ValueError with the first difference unless the operations are the same program."""
    lhs, rhs = CanonicalForm(a, map_free_vars), CanonicalForm(b, map_free_vars)
    for x, y in zip(lhs.tokens, rhs.tokens, strict=False):
        if (x.op, x.facts) != (y.op, y.facts):
            raise ValueError(_difference(lhs, rhs, x, y))
    count, other = len(lhs.tokens), len(rhs.tokens)
    if count != other:
        longer = lhs.tokens[other] if count > other else rhs.tokens[count]
        present, absent = f"'{longer.op}'", "the end of the program"
        expected, got = (present, absent) if count > other else (absent, present)
        raise ValueError(f"expected {expected} in {_place(longer)}, got {got}")


def structural_hash(op: Operation, compare_name: bool = True) -> int:
    """A number of 64 bits that structurally equal operations share; the same in every process."""
    # Which values come from outside does not enter: their identity is that of this process.
    form = CanonicalForm(op, map_free_vars=True, compare_name=compare_name)
    digest = hashlib.blake2b(digest_size=8)
    for token in form.program:
        digest.update(repr(token).encode())
    return int.from_bytes(digest.digest(), "little")


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
