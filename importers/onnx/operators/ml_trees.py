"""Ensembles of decision trees of ``ai.onnx.ml``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....dialects.int_expr import IntExpr
from ...emitter import Emitter, Value
from ...loops import emit_loop
from ..context import Context
from ..tensor import Tensor

MODES = {
    "BRANCH_LEQ": "less_equal",
    "BRANCH_LT": "less",
    "BRANCH_GTE": "greater_equal",
    "BRANCH_GT": "greater",
    "BRANCH_EQ": "equal",
    "BRANCH_NEQ": "not_equal",
}
"""The operators that compare a feature with the value of a node."""


@dataclass
class Trees:
    """The nodes of all trees by number; the children of a leaf are the leaf itself.

    `children` has the numbers of the nodes where the comparison is false and where it is true.
    """

    features: NDArray[Any]
    values: NDArray[Any]
    modes: NDArray[Any]
    """The places of operators in `operators`."""
    operators: list[str]
    children: NDArray[Any]
    missing_is_true: NDArray[Any]
    roots: NDArray[Any]
    numbers: dict[tuple[int, int], int]
    """The numbers of nodes by tree and by their number in it."""

    @staticmethod
    def of(nodes: dict[str, Any]) -> Trees:
        """The trees of the attributes of an ensemble, by their names without "nodes_".

        Raises ValueError if the nodes are no trees.
        """
        names = (
            "treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
        )  # fmt: skip
        if missing := [name for name in names if name not in nodes]:
            raise ValueError(f"expected attribute 'nodes_{missing[0]}', got none")
        keys: list[tuple[int, int]] = list(zip(nodes["treeids"], nodes["nodeids"], strict=False))
        count, numbers = len(keys), {key: n for n, key in enumerate(keys)}
        if not keys or len(numbers) < count or any(len(nodes[n]) != count for n in names):
            raise ValueError("expected lists of the same length with different nodes of trees")
        modes: NDArray[Any] = np.array(nodes["modes"])
        inner = modes != "LEAF"
        used = sorted({str(mode) for mode in modes[inner]})
        if unknown := [mode for mode in used if mode not in MODES]:
            raise ValueError(f"expected modes among {', '.join(MODES)}, got '{unknown[0]}'")
        children = np.repeat(np.arange(count), 2).reshape(count, 2)
        for column, name in enumerate(("falsenodeids", "truenodeids")):
            for number in np.flatnonzero(inner):
                key = (keys[number][0], nodes[name][number])
                if key not in numbers:
                    raise ValueError(f"expected a node {key[1]} of tree {key[0]}, got none")
                children[number, column] = numbers[key]
        roots = np.setdiff1d(np.arange(count), children[inner])
        owners: set[int] = {keys[r][0] for r in roots}
        if len(owners) != len(roots):
            raise ValueError("expected one root of each tree, got several")
        tracks = nodes.get("missing_value_tracks_true") or [0] * count
        return Trees(
            np.where(inner, nodes["featureids"], 0), np.asarray(nodes["values"]),
            np.array([used.index(m) if m in used else 0 for m in modes]),
            [MODES[m] for m in used], children, (np.array(tracks) != 0) & inner, roots, numbers,
        )  # fmt: skip

    def depth(self) -> int:
        """The number of comparisons from a root to a leaf; ValueError if nodes form a cycle."""
        level, found = self.roots, 0
        while (self.children[level, 0] != level).any():
            inner = level[self.children[level, 0] != level]
            level, found = np.unique(self.children[inner]), found + 1
            if found > len(self.features):
                raise ValueError("expected trees, got nodes that form a cycle")
        return found

    def leaves(self, ctx: Context, x: Tensor) -> Tensor:
        """The leaf that each tree has for each row: ``(rows, trees)`` of int32."""
        most, columns = int(self.features.max()), x.dims[1].constant
        if self.features.min() < 0 or (columns is not None and most >= columns):
            raise ValueError(f"expected features of {columns} columns, got feature {most}")
        trees, depth = IntExpr.of(len(self.roots)), self.depth()
        start = ctx.broadcast(ctx.array(self.roots, "int32"), [x.dims[0], trees])
        if not depth:
            return start
        tables = [self.features, self.children.reshape(-1), self.modes]
        given = [x, *(ctx.array(t, "int32") for t in tables), ctx.array(self.values, x.dtype)]
        given.append(ctx.array(self.missing_is_true, "bool"))

        def step(
            inner: Emitter, _: IntExpr, own: list[Value], rows: list[Value], tables: list[Value]
        ) -> tuple[list[Value], list[Value]]:
            return [self._next(inner, own[0], *tables)], []

        (found,) = emit_loop(
            ctx.emitter, "tree_level", step, [start.value], given=[g.value for g in given],
            trips=IntExpr.of(depth),
        )  # fmt: skip
        return ctx.tensor(found)

    def _next(
        self, emitter: Emitter, node: Value, x: Value, features: Value, children: Value,
        modes: Value, values: Value, missing: Value,
    ) -> Value:  # fmt: skip
        feature = emitter.op("take", features, node, axis=0)
        found = emitter.op("gather_elements", x, feature, axis=1)
        limit, mode = (emitter.op("take", t, node, axis=0) for t in (values, modes))
        holds = emitter.op(self.operators[0], found, limit)
        for index, operator in enumerate(self.operators[1:], 1):
            own = emitter.op("equal", mode, emitter.number(index, "int32"))
            holds = emitter.op("where", own, emitter.op(operator, found, limit), holds)
        if self.missing_is_true.any():
            absent = emitter.op("isnan", found)
            tracks = emitter.op("take", missing, node, axis=0)
            holds = emitter.op("logical_or", holds, emitter.op("logical_and", absent, tracks))
        place = emitter.op("multiply", node, emitter.number(2, "int32"))
        place = emitter.op("add", place, emitter.op("astype", holds, dtype="int32"))
        return emitter.op("take", children, place, axis=0)

    def weights(
        self, trees: Sequence[int], nodes: Sequence[int], ids: Sequence[int],
        weights: Sequence[float], count: int,
    ) -> tuple[NDArray[Any], NDArray[Any]]:  # fmt: skip
        """The weights of targets by node, and whether it has one: ``(nodes, count)``."""
        table = np.zeros((len(self.features), count), "float32")
        exists = np.zeros(table.shape, bool)
        for key, target, weight in zip(zip(trees, nodes, strict=True), ids, weights, strict=True):
            if key not in self.numbers or not 0 <= target < count:
                raise ValueError(f"expected a leaf and a target below {count}, got {key}, {target}")
            table[self.numbers[key], target] += weight
            exists[self.numbers[key], target] = True
        return table, exists
