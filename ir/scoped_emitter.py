"""The variables and buffers of statements, and the values that they stand for in a kernel."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, SSAValue

from ..dialects import tir
from ..dialects.diagnostics import BuilderError
from ..dialects.int_expr import IntExpr, Sym
from ..dialects.parameters import value_hint
from ..lowering.scalar_builder import ssa_type
from ..te.arithmetic import PrimExpr
from ..te.emit import Emitter
from ..te.expr import Index, ValueVar, Var
from .buffers import Buffer


class _Buffers(dict[Any, SSAValue]):
    """The values of buffers; one that is none yet is asked for."""

    def __init__(self, emitter: ScopedEmitter):
        super().__init__()
        self.emitter = emitter

    def __missing__(self, buffer: Any) -> SSAValue:
        return self.emitter.missing(buffer)


class ScopedEmitter(Emitter):
    """Emits into the first block of a kernel, and blocks in it whose arguments have names.

    If it `is_open`, variables and buffers that are not defined become parameters.
    """

    def __init__(self, block: Block, is_open: bool):
        super().__init__(block)
        self.entry, self.is_open = block, is_open
        self.buffers = _Buffers(self)

    def try_index(self, expr: PrimExpr) -> IntExpr | None:
        if self.is_open and isinstance(expr, Var) and expr not in self.meanings:
            self.parameter(expr)
        return super().try_index(expr)

    def missing(self, buffer: Buffer) -> SSAValue:
        """A buffer that is not defined; raises BuilderError for one of a kernel."""
        if not self.is_open:
            raise BuilderError(
                f"expected '{buffer.name}' to be a parameter or an allocated buffer of the function"
            )
        return self.parameter(buffer)

    def parameter(self, param: Any) -> SSAValue:
        """Add a parameter; raises TypeError for what is neither a buffer nor a variable."""
        arg = self.entry.insert_arg(_type_of(param), len(self.entry.args))
        arg.name_hint = value_hint(param.name)
        if isinstance(param, Buffer):
            self.buffers[param] = arg
        elif not isinstance(param, Index):
            self.define(param, arg)
        return arg

    @contextmanager
    def naming(self, variables: Sequence[Any], block: Block) -> Generator[None]:
        """Emit into a block, of whose arguments these are the names."""
        outer, self.symbols = self.symbols, dict(self.symbols)
        for variable, arg in zip(variables, block.args, strict=True):
            arg.name_hint = value_hint(getattr(variable, "name", ""))
            self.name(variable, self.values.expr(arg))
        with self.inside(block):
            yield
        self.symbols = outer

    def name(self, variable: Any, value: IntExpr) -> None:
        """Let a variable be an index; raises TypeError for another expression."""
        if isinstance(variable, Index) and isinstance(atom := variable.expr.as_atom, Sym):
            self.symbols[atom] = value
        elif isinstance(variable, Var):
            self.meanings[variable] = value
        else:
            raise TypeError(f"expected a variable, got {variable!r}")


def _type_of(param: Any) -> Attribute:
    if isinstance(param, Buffer):
        return param.type
    if isinstance(param, Index) and isinstance(param.expr.as_atom, Sym):
        return IndexType()
    if isinstance(param, ValueVar):
        return param.ssa.type
    if isinstance(param, Var):
        return tir.HandleType.of() if param.dtype == "handle" else ssa_type(param.dtype)
    raise TypeError(f"expected parameters to be buffers or variables, got {param!r}")
