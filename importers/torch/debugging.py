"""What PyTorch knows of the nodes of an exported program: their values, and their modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import fx
from torch.export import ExportedProgram
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...debugging.operations import Computes, Label, computing
from ...dialects import relax
from ...lowering.functions import functions_by_name
from .exported_program import input_values
from .graph import GraphImport


def node_values(program: ExportedProgram, inputs: Sequence[Any]) -> dict[str, Any]:
    """The values of nodes, by name, computed by PyTorch; none of uninitialized memory.

    `inputs` are the leaves of the arguments.
    """
    found: dict[str, Any] = {}

    class Recorder(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            if not _is_initialized(n):
                return value
            if n.op == "call_function" and (tensors := _tensors(value)):
                found[n.name] = tuple(t.detach().clone() for t in tensors)
            return value

    with torch.no_grad():
        Recorder(program.graph_module).run(*input_values(program, inputs))
    return found


def _is_initialized(node: fx.Node) -> bool:
    """Whether a node computes its result, and does not only allocate it as ``empty_like`` does."""
    name = getattr(node.target, "_opname", "")
    return not name.startswith(("empty", "new_empty"))


def _tensors(value: object) -> list[torch.Tensor]:
    """A tensor, or those of a tuple; none where something else is in it."""
    leaves = cast("Sequence[object]", value if isinstance(value, list | tuple) else [value])
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return tensors if len(tensors) == len(leaves) else []


def labels(imported: GraphImport, module: ModuleOp) -> list[Label]:
    """The nodes, and the modules, that the operations of an imported graph come from."""
    func = functions_by_name(module)[imported.name]
    assert isinstance(func, relax.FuncOp)
    return [_label(imported, op) for op in computing(func)]


def _label(imported: GraphImport, op: Computes) -> Label:
    node = imported.origins.get(op)
    if node is None:  # a number among the outputs as a tensor
        return Label("output", "", False)
    stack: dict[str, tuple[str, Any]] = node.meta.get("nn_module_stack") or {}
    module = [path for path, _ in stack.values()][-1] if stack else ""
    is_value = _operation(imported.values.get(node)) is op
    return Label(node.name, module.removeprefix("L['self']").removeprefix("."), is_value)


def _operation(value: Any) -> Operation | None:
    """The operation that computes a value, or the fields of it in order."""
    if isinstance(value, tuple):
        fields = cast("tuple[Any, ...]", value)
        return _operation(fields[0]) if fields else None
    if not isinstance(value, SSAValue) or not isinstance(value.owner, Operation):
        return None
    match value.owner:
        case relax.MatchCastOp(value=source):
            return _operation(source)
        case relax.TupleGetItemOp() as item:
            return _operation(item.tuple_value) if item.index.data == 0 else None
        case owner:
            return owner
