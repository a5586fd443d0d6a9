"""Sparse weights of an exported program, such as the adjacency matrix of a graph, become dense."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from .registry import overload_name

MOST_ELEMENTS = 1 << 28
"""Weights that have more elements as dense tensors stay sparse, and are refused."""

_CONVERSIONS = ("to_sparse", "_to_sparse", "to_dense", "_to_dense", "coalesce", "_coalesce")
_PRODUCTS: dict[str, Any] = {"aten._sparse_mm.default": torch.ops.aten.mm.default}


def is_sparse(value: Any) -> bool:
    """Whether a value is a tensor of another layout than the dense one."""
    return isinstance(value, torch.Tensor) and value.layout is not torch.strided


def with_dense_weights(program: ExportedProgram) -> ExportedProgram:
    """The program with dense weights instead of sparse ones; the given one does not change.

    Conversions of layouts disappear, and products are those of dense matrices. Sparse inputs and
    results stay.
    """
    pairs = zip(_placeholders(program.graph), program.graph_signature.input_specs, strict=True)
    found = {n.name for n, s in pairs if s.kind is not InputKind.USER_INPUT and _may_be_dense(n)}
    if not found:
        return program
    graph = deepcopy(program.graph)
    for node in list(graph.nodes):
        if node.name in found:
            node.meta["val"] = _dense_like(node.meta["val"])
        elif _converts(node) and not is_sparse(node.args[0].meta["val"]):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        node.target = _PRODUCTS.get(overload_name(node.target), node.target)
    anything: Any = program  # its method for a changed graph is not public
    with warnings.catch_warnings():  # PyTorch calls deprecated functions
        warnings.simplefilter("ignore", FutureWarning)
        return anything._update(
            fx.GraphModule(program.graph_module, graph),
            program.graph_signature,
            state_dict=_dense(program.state_dict),
            constants=_dense(program.constants),
        )


def _placeholders(graph: fx.Graph) -> list[fx.Node]:
    return [n for n in graph.nodes if n.op == "placeholder"]


def _may_be_dense(node: fx.Node) -> bool:
    value: Any = node.meta.get("val")
    return is_sparse(value) and value.numel() <= MOST_ELEMENTS


def _converts(node: fx.Node) -> bool:
    """Whether a node converts the layout of a tensor, and is no result of the program."""
    _, _, name = overload_name(node.target).partition("aten.")
    is_result = any(user.op == "output" for user in node.users)
    return name.split(".")[0].removesuffix("_csr") in _CONVERSIONS and not is_result


def _dense_like(value: Any) -> Any:
    with value.fake_mode:
        return torch.empty(value.shape, dtype=value.dtype)


def _dense(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v.detach().to_dense() if is_sparse(v) else v for k, v in values.items()}
