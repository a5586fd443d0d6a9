"""Pass views to calls as buffers of their own."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.ir import Attribute, SSAValue

from ...dialects import loops, tir
from ...dialects.int_expr import ZERO
from ..scope import Scope, View


@contextmanager
def opened_views(scope: Scope, operands: Sequence[SSAValue]) -> Generator[None]:
    """Replace views among the operands by buffers, within a context."""
    views = scope.views
    opened = {v: _memory(scope, v.type, views[v]) for v in operands if v in views}
    scope.views = {v: view for v, view in views.items() if v not in opened}
    scope.data |= opened
    yield
    scope.views = views


def _memory(scope: Scope, type_: Attribute, view: View) -> SSAValue:
    """The memory of a view, from its first element on, as a buffer of this type."""
    source = view.buffer.type
    assert isinstance(source, tir.BufferType) and isinstance(type_, tir.BufferType)
    first = source.linear_index(view.place([ZERO] * view.rank)) - source.offset.data
    offset = tir.ApplyOp(first, scope.values.list)
    memory = loops.ViewOp(view.buffer, offset.result, type_)
    scope.emit(offset)
    scope.emit(memory)
    return memory.result
