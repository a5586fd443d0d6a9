"""Symbols that casts declare, replaced by the dims that they match."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Block, Operation

from ...dialects import relax
from ...dialects.int_expr import IntLike, Sym
from ...dialects.relax.symbols import determined_symbols, paired_dims
from ..substitute import set_type, substitute_own_symbols, substituted
from .refresh_types import TypeRefresher


class CastResolver(TypeRefresher):
    """Substitutes the symbols of casts in program order; those of a branch are scoped to it."""

    def __init__(self, func: relax.FuncOp, functions: Mapping[str, Operation]):
        super().__init__(func, functions)
        self.read: set[str] = set()
        """Symbols whose values are those of tensors."""
        self.values: dict[str, IntLike] = {}

    def op(self, op: Operation) -> None:
        if self.values:
            substitute_own_symbols(op, self.values)
        if isinstance(op, relax.MatchCastOp):
            self.cast(op)
        else:
            self.other(op)

    def other(self, op: Operation) -> None:
        """Infer the types of what is no cast."""
        super().op(op)

    def branch(self, block: Block) -> None:
        values, read = dict(self.values), set(self.read)
        super().branch(block)
        self.values, self.read = values, read

    def cast(self, op: relax.MatchCastOp) -> None:
        """Let the symbols that a cast declares be the dims of its operand."""
        wanted = op.result.type
        symbols = determined_symbols([wanted])
        if isinstance(op.value.owner, relax.TensorToShapeOp):
            self.read.update(symbols)
        own = {
            atom.name: value
            for dim, value in reversed(list(paired_dims(wanted, op.value.type)))
            if isinstance(atom := dim.as_atom, Sym)
            and atom.name not in self.declared
            and atom.name not in self.read
        }
        self.read.update(s for s in symbols if s not in own)  # later casts compare with these
        self.values |= own
        set_type(op.result, substituted(wanted, own))
