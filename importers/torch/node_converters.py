"""Converters in the form of TVM's importers, which get a node of the graph and the importer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from torch import fx
from xdsl.ir import Operation

from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ...ir.expr import view
from ...ir.operators import to_value
from ...te.arithmetic import index_value
from ..emitter import Value, is_tensor
from .context import Context
from .registry import Converter


class NodeImporter:
    """What a converter of TVM's form uses of the importer.

    `env` has the values of the node's arguments by their nodes: expressions of Relax, and sizes.
    """

    def __init__(self, context: Context, env: Mapping[fx.Node, Any]):
        self.env = env
        self.block_builder = NodeBuilder(context)


class NodeBuilder:
    """Binds expressions in the function that is imported."""

    def __init__(self, context: Context):
        self._context = context

    def emit(self, expr: Any, name_hint: str = "") -> Any:
        """Bind an expression, and what it is made of; returns the variable."""
        value = to_value(expr)
        self._insert(value)
        if name_hint:
            value.name_hint = name_hint
        return view(value)

    def _insert(self, value: Value) -> None:
        op = value.owner
        if isinstance(op, Operation) and op.parent is None:
            for operand in op.operands:
                self._insert(operand)
            self._context.insert(op)


def by_overload(given: Mapping[str, Converter] | None) -> dict[str, Converter]:
    """Converters by overload; one by a name such as "add.Tensor" has TVM's form."""
    found: dict[str, Converter] = {}
    for name, converter in (given or {}).items():
        has_namespace = name.count(".") != 1
        found[name if has_namespace else f"aten.{name}"] = (
            converter if has_namespace else _of_node(converter)
        )
    return found


def _of_node(converter: Converter) -> Converter:
    def convert(ctx: Context, *args: Any, **kwargs: Any) -> Any:
        node = ctx.node
        assert node is not None
        env: dict[fx.Node, Any] = {}
        _add_values(env, list(node.args), list(args))
        for name, value in kwargs.items():
            _add_values(env, node.kwargs[name], value)
        importer = NodeImporter(ctx, env)
        value = to_value(importer.block_builder.emit(converter(node, importer)))
        return value if isinstance(value.type, relax.TensorType) else ctx.fields(value)

    return convert


def _add_values(env: dict[fx.Node, Any], argument: Any, value: Any) -> None:
    """Add the values of the nodes in an argument."""
    if isinstance(argument, fx.Node):
        env[argument] = _shown(value)
    elif isinstance(argument, list | tuple):
        for inner, own in zip(cast("list[Any]", argument), value, strict=True):
            _add_values(env, inner, own)


def _shown(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_shown(v) for v in cast("tuple[Any, ...]", value))
    if isinstance(value, IntExpr):
        return index_value(value)
    return view(value) if is_tensor(value) else value
