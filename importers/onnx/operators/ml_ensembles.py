"""Regressors and classifiers of ``ai.onnx.ml`` that are ensembles of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from .ml_scores import ML, best_labels, require_numbers, rows_of_floats, transformed
from .ml_trees import Trees


def _verify(attributes: dict[str, Any], kind: str) -> None:
    """Raise ValueError or Unsupported for attributes that are missing or unknown."""
    for name in attributes:
        if not name.startswith(("nodes_", f"{kind}_", "base_values")):
            raise Unsupported(f"attribute '{name}'")
    for name in ("treeids", "nodeids", "ids"):
        if f"{kind}_{name}" not in attributes:
            raise ValueError(f"expected attribute '{kind}_{name}', got none")
    if _list(attributes, f"{kind}_weights") is None:
        raise ValueError(f"expected attribute '{kind}_weights', got none")


def _trees(attributes: dict[str, Any]) -> Trees:
    """The trees of a node's attributes; `hitrates` of nodes are for optimizers."""
    nodes = {
        name.removeprefix("nodes_"): value
        for name, value in attributes.items()
        if name.startswith("nodes_")
    }
    if (values := nodes.pop("values_as_tensor", None)) is not None:
        nodes["values"] = values.values
    return Trees.of(nodes)


def _list(attributes: dict[str, Any], name: str) -> Any:
    """The numbers of an attribute, which may be a tensor of more bits."""
    tensor = attributes.get(f"{name}_as_tensor")
    return attributes.get(name) if tensor is None else tensor.values


def _scores(
    ctx: Context, x: Tensor, kind: str, attributes: dict[str, Any], count: int, aggregate: str
) -> Tensor:
    """The sums, means, or extrema over the trees of the weights of their leaves, with the base."""
    _verify(attributes, kind)
    trees = _trees(attributes)
    owners, nodes, ids = (attributes[f"{kind}_{name}"] for name in ("treeids", "nodeids", "ids"))
    weights = _list(attributes, f"{kind}_weights")
    table, exists = trees.weights(owners, nodes, ids, weights, count)
    leaves = trees.leaves(ctx, rows_of_floats(ctx, x))
    found = Formula(ctx, ctx.emit("take", ctx.array(table, "float32"), leaves, axis=0))
    match aggregate:
        case "SUM" | "AVERAGE":
            scores = found.apply("sum", axis=[1])
            scores = scores if aggregate == "SUM" else scores / float(len(trees.roots))
        case "MIN" | "MAX":
            is_leaf = trees.children[:, 0] == np.arange(len(exists))
            if not exists[is_leaf].all():
                raise Unsupported(f"'{aggregate}' of leaves without a weight of each target")
            scores = found.apply(aggregate.lower(), axis=[1])
        case _:
            raise ValueError(f"expected an aggregate_function, got '{aggregate}'")
    base = _list(attributes, "base_values")
    if base is None or not len(base):
        return scores.tensor
    if len(base) != count:
        raise ValueError(f"expected {count} base_values, got {len(base)}")
    return (scores + ctx.array(base, "float32")).tensor


@converts("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(
    ctx: Context,
    x: Tensor,
    *,
    aggregate_function: str = "SUM",
    n_targets: int = 1,
    post_transform: str = "NONE",
    **attributes: Any,
) -> Tensor:
    """The values of targets: sums over the leaves of trees."""
    scores = _scores(ctx, x, "target", attributes, n_targets, aggregate_function)
    return transformed(ctx, scores, post_transform)


@converts("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(
    ctx: Context,
    x: Tensor,
    *,
    class_ids: list[int],
    classlabels_int64s: list[int] | None = None,
    classlabels_strings: list[str] | None = None,
    post_transform: str = "NONE",
    **attributes: Any,
) -> tuple[Tensor, Tensor]:
    """The label of the largest score, and the transformed scores of all classes."""
    labels = require_numbers(ctx, classlabels_int64s, classlabels_strings)
    if len(labels) == 2 and len(set(class_ids)) == 1:
        given = {**attributes, "class_ids": [0] * len(class_ids)}
        return _of_one_class(ctx, x, labels, given, post_transform)
    given = {**attributes, "class_ids": class_ids}
    scores = _scores(ctx, x, "class", given, len(labels), "SUM")
    return best_labels(ctx, scores, labels), transformed(ctx, scores, post_transform)


def _of_one_class(
    ctx: Context, x: Tensor, labels: Sequence[int], attributes: dict[str, Any], post_transform: str
) -> tuple[Tensor, Tensor]:
    """The classification into two classes by the score of one.

    Weights that are all positive sum to its probability; others are compared with 0.
    """
    score = Formula(ctx, _scores(ctx, x, "class", attributes, 1, "SUM"))
    are_shares = bool((np.asarray(_list(attributes, "class_weights")) >= 0).all())
    other = -score + 1.0 if are_shares else -score
    chosen = (score > (0.5 if are_shares else 0.0)).to("int64")
    label = ctx.emit("take", ctx.array(labels, "int64"), chosen.tensor, axis=0)
    both = ctx.emit("concat", other.tensor, score.tensor, axis=1)
    if are_shares and post_transform != "NONE":
        raise Unsupported(f"the post_transform '{post_transform}' of probabilities")
    return ctx.tensor(ctx.emitter.flat(label.value)), transformed(ctx, both, post_transform)
