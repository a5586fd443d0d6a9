"""`fuse-ops-by-pattern`: outline operations that match a pattern as functions.

With the pattern ``linear=relax.add(relax.matmul(_, _), _)``

::

    %0 = relax.matmul %x, %w : …
    %1 = relax.add %0, %b : …

⇒

::

    %1 = relax.call @fused_relax_matmul_relax_add(%x, %w, %b) : …

    relax.func private @fused_relax_matmul_relax_add(%x: …, %w: …, %b: …) -> … attributes
      {Composite = "linear", Primitive = true} { … }

An inner value with uses outside of the match becomes another result, so that nothing is computed
twice. A match that needs a value that depends on it is skipped. TVM's ``FuseOpsByPattern``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ...dialects import relax
from ...dialects.relax.closure import is_pure
from ..functions import graph_functions
from .composite import COMPOSITE, annotate_codegen, codegen_of, composite_codegen
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
from .groups import Group, GroupOutliner
from .outlined import outlined_function

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


@dataclass(frozen=True)
class FusionPattern:
    """A pattern under a name; `check` may refuse a match, `attributes` are for its function."""

    name: str
    pattern: Pattern
    check: Callable[[Matches], bool] | None = None
    attributes: Callable[[Matches], Mapping[str, Attribute]] = lambda found: {}


def fuse_ops_by_pattern(
    module: ModuleOp,
    patterns: Sequence[FusionPattern],
    bind_constants: bool = True,
    annotate: bool = False,
    entry_functions: Sequence[str] | None = None,
) -> None:
    """Put matches of patterns into private functions; patterns that come first are tried first.

    Constants go into the function with `bind_constants`, else they are arguments. With `annotate`,
    a function for a code generator is around each match. Only functions named `entry_functions`
    are changed, by default all.
    """
    outliner = GroupOutliner(module)
    for func in graph_functions(module):
        skipped = entry_functions is not None and func.sym_name.data not in entry_functions
        if skipped or is_primitive(func) or codegen_of(func) is not None:
            continue
        for pattern in patterns:
            for block in [b for op in func.walk() for r in op.regions for b in r.blocks]:
                for found, ops in _matches(pattern, block):
                    group = Group(
                        ops, lambda op: bind_constants and isinstance(op, relax.ConstantOp)
                    )
                    if _is_function(group):
                        attributes = pattern.attributes(found)
                        made = _function(group, {**attributes, COMPOSITE: StringAttr(pattern.name)})
                        outliner.outline(group, made, func, suffix="")
    if annotate:
        annotate_codegen(module)


def _matches(pattern: FusionPattern, block: Block) -> list[tuple[Matches, list[Operation]]]:
    """The matches in a block in order, with their operations, of which none is in two.

    The last ones come first: a match is as large as it can be.
    """
    matches: list[tuple[Matches, list[Operation]]] = []
    taken: set[Operation] = set()
    parent = block.parent_op()
    if parent is None or composite_codegen(parent) is not None:
        return []
    for root in reversed(list(block.ops)):
        found = None
        if len(root.results) == 1 and not root.regions:
            found = pattern.pattern.match_value(root.results[0])
        ops = [] if found is None else _operations(found, root)
        accepted = pattern.check is None or (found is not None and pattern.check(found))
        if found is None or not ops or not accepted or taken & {*ops}:
            continue
        if _is_function(Group(ops, lambda op: False)):
            taken |= {*ops}
            matches.append((found, ops))
    return matches[::-1]


def _is_function(group: Group) -> bool:
    """Whether there is a place where operations can be in one function, and it has a result."""
    return bool(group.outputs) and group.insertion_point() is not None


def _operations(found: Matches, root: Operation) -> list[Operation]:
    """The operations of a match in order; none if they cannot be outlined."""
    operations = {v.owner for p, v in found.items() if p.is_operation}
    inside = [op for op in operations if isinstance(op, Operation) and not op.regions]
    if root not in operations or len(inside) != len(operations):
        return []
    if not all(op.parent is root.parent and is_pure(op) for op in inside):
        return []
    return _upwards(root, operations)[::-1]


def _upwards(root: Operation, operations: set[Any]) -> list[Operation]:
    """The operations, from the last one up."""
    found: list[Operation] = []
    op: Operation | None = root
    while op is not None and len(found) < len(operations):
        if op in operations:
            found.append(op)
        op = op.prev_op
    return found


def _function(group: Group, attributes: Mapping[str, Attribute]) -> relax.FuncOp:
    """A function of the operations: ``fused_relax_matmul_relax_add``, after those on tensors."""

    def copy(block: Block, values: dict[SSAValue, SSAValue]) -> list[SSAValue]:
        block.add_ops([op.clone(values) for op in (*group.copies, *group.ops)])
        return [values[v] for v in group.outputs]

    named = [op for op in group.ops if not isinstance(op, relax.TupleOp | relax.TupleGetItemOp)]
    name = "_".join(["fused", *(op.name.replace(".", "_") for op in named)])
    attrs = {**attributes, PRIMITIVE: IntegerAttr.from_bool(True)}
    return outlined_function(name, group.inputs, group.undetermined, copy, attrs, output_name=None)


@dataclass(frozen=True)
class FuseOpsByPatternPass(ModulePass):
    """Put operations that match one of the patterns, each ``name=pattern``, into functions."""

    name = "fuse-ops-by-pattern"
    patterns: tuple[str, ...]
    bind_constants: bool = True
    annotate_codegen: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns = [_parsed(p) for p in self.patterns]
        fuse_ops_by_pattern(op, patterns, self.bind_constants, self.annotate_codegen)


def _parsed(text: str) -> FusionPattern:
    name, equals, pattern = text.partition("=")
    if not equals:
        raise PassFailedException(f"expected name=pattern, got '{text}'")
    try:
        return FusionPattern(name.strip(), parse_pattern(pattern))
    except ValueError as error:
        raise PassFailedException(str(error)) from None
