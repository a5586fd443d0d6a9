"""Graphs among the attributes of a node, which are run in its block or in one of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.ir import Block

from ..emitter import Emitter
from .context import Context
from .scope import Failed, Scope
from .tensor import Tensor


class Inner(Scope):
    """The scope of a block inside of another: items from around it are bound to its emitter."""

    def __init__(self, parent: Scope, emitter: Emitter):
        super().__init__(parent)
        self.emitter = emitter

    def find(self, name: str) -> Any:
        """The item of a name; raises as `Scope.find`."""
        if name not in self.items:
            self.items[name] = bound(super().find(name), self.emitter)
        return self.items[name]


def bound(item: Any, emitter: Emitter) -> Any:
    """An item for operations that another emitter appends."""
    if isinstance(item, Tensor):
        return item.bound(emitter)
    if isinstance(item, list):
        return [bound(i, emitter) for i in cast("list[Any]", item)]
    return item


def inner_context(ctx: Context) -> Context:
    """A context that appends operations to a new block, which sees the values around it."""
    emitter = Emitter(Block(), ctx.emitter.functions)
    emitter.location = ctx.emitter.location
    importer = replace(ctx.importer, emitter=emitter, random=None, reads_sizes=False)
    return Context(importer, Inner(ctx.scope, emitter), ctx.opset)


def run(ctx: Context, graph: Any, items: Mapping[str, Any]) -> list[Any]:
    """The outputs of a graph, for the items of its inputs."""
    scope = Scope(ctx.scope, dict(items))
    location = ctx.emitter.location
    ctx.importer.run_graph(graph, scope)
    ctx.emitter.location = location
    return [scope.find(output.name) for output in graph.output]


def has_failed(items: Sequence[Any]) -> bool:
    """Whether an item could not be imported."""
    return any(isinstance(item, Failed) for item in items)


def structure(item: Any) -> Any:
    """Whether an item is a tensor, or a sequence of what, or absent."""
    if isinstance(item, list):
        return [structure(i) for i in cast("list[Any]", item)]
    return "tensor" if isinstance(item, Tensor) else None


def leaves(item: Any) -> Iterator[Tensor]:
    """The tensors of an item in order."""
    if isinstance(item, Tensor):
        yield item
    elif isinstance(item, list):
        for inner in cast("list[Any]", item):
            yield from leaves(inner)


def rebuilt(form: Any, tensors: Iterator[Tensor]) -> Any:
    """The item of a structure, from its tensors in order."""
    if isinstance(form, list):
        return [rebuilt(inner, tensors) for inner in cast("list[Any]", form)]
    return None if form is None else next(tensors)
