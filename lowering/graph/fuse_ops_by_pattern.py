"""`fuse-ops-by-pattern`: outline operations that match a pattern as functions.

With the pattern ``linear=relax.add(relax.matmul(_, _), _)``

::

    %0 = relax.matmul %x, %w : …
    %1 = relax.add %0, %b : …

⇒

::

    %1 = relax.call @fused_relax_matmul_relax_add(%x, %w, %b) : …

    relax.func private @fused_relax_matmul_relax_add(%x: …, %w: …, %b: …) -> … attributes
      {Composite = "linear", Primitive = 1} { … }

A match is skipped if an inner value has uses outside of it, so that nothing is computed twice.
TVM's ``FuseOpsByPattern``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from ...dialects import relax
from ...dialects.relax.closure import is_pure
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.types import type_symbols
from ..canonical_form import CanonicalForm
from ..functions import functions_by_name, graph_functions, unique_name
from .dataflow_pattern import (
    Applied,
    Constant,
    Either,
    Matches,
    Parameter,
    Pattern,
    Wildcard,
    operator_named,
)
from .fuse_ops import PRIMITIVE, is_primitive
from .outlined import outlined_call, outlined_function

_LEAVES: dict[str, type[Pattern]] = {"_": Wildcard, "const": Constant, "param": Parameter}


def parse_pattern(text: str) -> Pattern:
    """The pattern of a text; raises ValueError with one line for anything else."""
    try:
        return _pattern(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"expected a pattern such as relax.add(_, const), got '{text}'") from None


def _pattern(node: ast.expr) -> Pattern:
    match node:
        case ast.Name(id=name) if name in _LEAVES:
            return _LEAVES[name]()
        case ast.Call(func=func, args=args, keywords=[]):
            name = ast.unparse(func)
            if name not in relax.OPERATORS:
                raise ValueError(f"expected an operator of the graph, got '{name}'")
            return Applied(operator_named(name), [_pattern(a) for a in args])
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Either(_pattern(left), _pattern(right))
        case _:
            shown = ast.unparse(node)
            raise ValueError(f"expected a pattern such as relax.add(_, const), got '{shown}'")


COMPOSITE = "Composite"
"""The attribute of a function that holds a match: the name of the pattern."""


@dataclass(frozen=True)
class FusionPattern:
    """A pattern under a name; `check` may refuse a match."""

    name: str
    pattern: Pattern
    check: Callable[[Matches], bool] | None = None


def fuse_ops_by_pattern(
    module: ModuleOp, patterns: Sequence[FusionPattern], bind_constants: bool = True
) -> None:
    """Put matches of patterns into private functions; patterns that come first are tried first.

    Constants go into the function with `bind_constants`, else they are arguments.
    """
    fuser = _Fuser(module, bind_constants)
    for func in graph_functions(module):
        if is_primitive(func):
            continue
        for pattern in patterns:
            for block in [b for op in func.walk() for r in op.regions for b in r.blocks]:
                fuser.fuse(pattern, block, func)


@dataclass
class _Fuser:
    module: ModuleOp
    bind_constants: bool
    made: dict[Any, str] = field(default_factory=lambda: {})

    def fuse(self, pattern: FusionPattern, block: Block, user: relax.FuncOp) -> None:
        """Replace the matches of one pattern in a block, the last ones first."""
        for op in reversed(list(block.ops)):
            # A match that comes later has taken operations away.
            group = [] if op.parent is None else _group(pattern, op)
            if group:
                self._replace(group, pattern.name, user)

    def _replace(self, group: Sequence[Operation], name: str, user: relax.FuncOp) -> None:
        contents = _Contents(group, self.bind_constants)
        func = contents.function(name)
        key = tuple(CanonicalForm(func, map_free_vars=True, compare_name=False).program)
        if key not in self.made:
            unique = unique_name(_name(group), functions_by_name(self.module))
            func.sym_name = StringAttr(unique)
            self.made[key] = unique
            self.module.body.block.insert_op_before(func, user)
        last = group[-1]
        new = outlined_call(self.made[key], contents.inputs, contents.undetermined, last)
        Rewriter.replace_op(last, new)
        for op in reversed(group[:-1]):
            Rewriter.erase_op(op)
        for constant in contents.constants:
            if constant.result.first_use is None:
                Rewriter.erase_op(constant)


def _group(pattern: FusionPattern, root: Operation) -> list[Operation]:
    """The operations of a match, in order; none if it cannot be outlined."""
    if len(root.results) != 1 or root.regions:
        return []
    found = pattern.pattern.match_value(root.results[0])
    if found is None or (pattern.check is not None and not pattern.check(found)):
        return []
    operations = {v.owner for p, v in found.items() if p.is_operation}
    inside = [op for op in operations if isinstance(op, Operation) and not op.regions]
    if root not in operations or len(inside) != len(operations):
        return []
    if not all(op.parent is root.parent and is_pure(op) for op in inside):
        return []
    if any(u.operation not in operations for op in inside if op is not root for u in _uses(op)):
        return []
    return _upwards(root, operations)[::-1]


def _uses(op: Operation) -> list[Any]:
    return [use for result in op.results for use in result.uses]


def _upwards(root: Operation, operations: set[Any]) -> list[Operation]:
    """The operations, from the last one up."""
    found: list[Operation] = []
    op: Operation | None = root
    while op is not None and len(found) < len(operations):
        if op in operations:
            found.append(op)
        op = op.prev_op
    return found


class _Contents:
    """Operations in order, and the values and symbols that they capture."""

    def __init__(self, group: Sequence[Operation], bind_constants: bool):
        made: set[SSAValue] = {r for op in group for r in op.results}
        used = dict.fromkeys(o for op in group for o in op.operands if o not in made)
        self.group = group
        self.constants = [
            o.owner for o in used if bind_constants and isinstance(o.owner, relax.ConstantOp)
        ]
        inside: set[object] = set(self.constants)
        self.inputs = [o for o in used if o.owner not in inside]
        determined = set(determined_symbols(v.type for v in self.inputs))
        needed = {s for a in self._attributes() for s in type_symbols(a)}
        self.undetermined = sorted(needed - determined)

    def _attributes(self) -> list[Attribute]:
        types = [v.type for v in self.inputs]
        inner = [a for op in self.group for a in (*op.result_types, *op.properties.values())]
        return [*types, *inner]

    def function(self, composite: str) -> relax.FuncOp:
        """A function of the operations, not yet named."""
        attrs = {COMPOSITE: StringAttr(composite), PRIMITIVE: IntegerAttr(1, i64)}
        return outlined_function(
            "fused", self.inputs, self.undetermined, self._copy, attrs, output_name=None
        )

    def _copy(self, block: Block, values: dict[SSAValue, SSAValue]) -> SSAValue:
        block.add_ops([op.clone(values) for op in (*self.constants, *self.group)])
        last = block.last_op
        assert last is not None
        return last.results[0]


def _name(group: Sequence[Operation]) -> str:
    """``fused_relax_matmul_relax_add``."""
    return "_".join(["fused", *(op.name.replace(".", "_") for op in group)])


@dataclass(frozen=True)
class FuseOpsByPatternPass(ModulePass):
    """Put operations that match one of the patterns, each ``name=pattern``, into functions."""

    name = "fuse-ops-by-pattern"
    patterns: tuple[str, ...]
    bind_constants: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fuse_ops_by_pattern(op, [_parsed(p) for p in self.patterns], self.bind_constants)


def _parsed(text: str) -> FusionPattern:
    name, equals, pattern = text.partition("=")
    if not equals:
        raise PassFailedException(f"expected name=pattern, got '{text}'")
    try:
        return FusionPattern(name.strip(), parse_pattern(pattern))
    except ValueError as error:
        raise PassFailedException(str(error)) from None
