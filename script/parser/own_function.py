"""Local functions as values in their own bodies, where they call themselves."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ..errors import Source


class OwnFunction:
    """The local function that is being read; `around` are the symbols outside of it."""

    def __init__(
        self,
        source: Source,
        node: ast.FunctionDef,
        entry: Block,
        params: Sequence[Attribute],
        result: Attribute | None,
        pure: bool,
        around: AbstractSet[str],
    ):
        self.source = source
        self.node = node
        self.entry = entry
        self.type = None if result is None else relax.FuncType.of(params, result, not pure)
        self.around = around
        self.op: relax.OwnFuncOp | None = None

    @property
    def value(self) -> SSAValue:
        """The function as its annotations say; raises ScriptError without one of the result."""
        if self.op is None:
            if self.type is None:
                name = self.node.name
                message = f"expected '{name}', which calls itself, to have a return annotation"
                raise self.source.error(self.node, message)
            self.op = relax.OwnFuncOp(self.type)
            self.op.location = self.source.location(self.node)
            Rewriter.insert_op(self.op, InsertPoint.at_start(self.entry))
        return self.op.result
