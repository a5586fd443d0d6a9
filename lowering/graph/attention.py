"""`use-attention`: compute attention that is written as matmuls and a softmax in one kernel.

::

    %1 = relax.matmul %q, %k : [b, h, n, d], [b, h, d, m] -> [b, h, n, m]
    %2 = relax.multiply %1, 0.125
    %3 = relax.where %mask, %2, -inf
    %4 = relax.nn.softmax %3
    %5 = relax.matmul %4, %v : [b, h, n, m], [b, h, m, d] -> [b, h, n, d]

⇒

    %5 = relax.nn.attention %q, %k, %v {scale = 0.125, causal_mask = "TopLeft"} : … with heads last

Factors of the operands and of the products become the scale. A mask is an additive bias; one that
is known to be causal becomes an attribute, and one of zeros goes away. A query that sees no key
gives NaN in this form, and zeros in the other, so masks that may hide all keys are not rewritten.
Exporters of ONNX replace the NaN by 0; then NaN of an input are no longer replaced, as in the model
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.int_expr import ONE, IntExpr
from ...dialects.relax.operators.activation import SoftmaxOp
from ...dialects.relax.operators.attention import AttentionOp
from ...dialects.relax.operators.linear_algebra import MatmulOp
from ...dialects.relax.operators.selection import WhereOp
from ...dialects.relax.operators.unary import IsNanOp
from ..functions import graph_functions
from .attention_scores import (
    Mask,
    causal_mask,
    hides_no_query,
    is_used_once,
    scalar_of,
    scores_of,
)
from .graph_builder import GraphBuilder, dims_of, replace_result
from .written import touches, written_values

HEADS_LAST = [0, 2, 1, 3]
"""From (batch, heads, positions, size) to (batch, positions, heads, size), and back."""


@dataclass(frozen=True)
class UseAttentionPass(ModulePass):
    """Compute attention that is written as matmuls and a softmax in one kernel."""

    name = "use-attention"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        for func in graph_functions(op):
            for inner in list(func.walk()):
                if touches(inner, written):
                    continue
                if isinstance(inner, MatmulOp):
                    _replace(inner)
                elif isinstance(inner, AttentionOp):
                    _simplify_bias(inner)


@dataclass(frozen=True)
class _Weights:
    """The weights of values: a softmax, or 0 where that is NaN."""

    softmax: SoftmaxOp
    has_zeros: bool


def _weights_of(value: SSAValue) -> _Weights | None:
    """The weights that a value is, if nothing else uses them."""
    op = value.owner
    if isinstance(op, SoftmaxOp):
        is_last = op.attribute_values()["axis"] in (-1, len(dims_of(op.data) or ()) - 1)
        return _Weights(op, False) if is_last and is_used_once(value) else None
    if not isinstance(op, WhereOp) or not isinstance(test := op.condition.owner, IsNanOp):
        return None
    softmax = op.x2.owner
    users = {use.operation for use in op.x2.uses}
    if test.x is not op.x2 or scalar_of(op.x1) != 0 or users != {op, test}:
        return None
    if not isinstance(softmax, SoftmaxOp) or not is_used_once(value):
        return None
    return _Weights(softmax, True) if is_used_once(op.condition) else None


def _replace(op: MatmulOp) -> None:
    """Replace the product of weights and values, if the weights are those of attention."""
    weights = _weights_of(op.lhs)
    scores = None if weights is None else scores_of(weights.softmax.data)
    if weights is None or scores is None or op.attribute_values()["transpose_rhs"]:
        return
    query, key, value = (dims_of(v) for v in (scores.query, scores.key, op.rhs))
    if query is None or key is None or value is None or len(query) not in (3, 4):
        return
    products = (*query[:-1], value[-2])
    if not query[:-2] == key[:-2] == value[:-2] or dims_of(op.lhs) != products:
        return  # batches are repeated
    if len({_dtype(v) for v in (scores.query, scores.key, op.rhs, op.result)}) != 1:
        return
    causal, masks = _masks(scores.masks, products)
    if not weights.has_zeros and not all(hides_no_query(mask) for mask in masks):
        return
    build = _Builder(op)
    found = build(
        "nn.attention",
        build.permuted(scores.query, HEADS_LAST),
        build.permuted(scores.key, HEADS_LAST if scores.is_transposed else [0, 3, 1, 2]),
        build.permuted(op.rhs, HEADS_LAST),
        *build.bias(masks, _dtype(op.result)),
        scale=scores.scale,
        causal_mask=causal,
    )
    found = build("permute_dims", found, axes=HEADS_LAST)
    if len(query) == 3:
        found = build("reshape", found, shape=dims_of(op.result))
    replace_result(op, found)


def _simplify_bias(op: AttentionOp) -> None:
    """Turn the bias of an attention into an attribute, or leave it out, if that says as much."""
    attributes = op.attribute_values()
    if op.bias is None or attributes["causal_mask"] is not None:
        return
    query, key = dims_of(op.query), dims_of(op.key)
    if query is None or key is None:
        return
    causal, masks = _masks((Mask(op.bias),), [query[1], key[1]])
    if not masks:
        build = GraphBuilder(op)
        operands = (op.query, op.key, op.value)
        found = build("nn.attention", *operands, **{**attributes, "causal_mask": causal})
        replace_result(op, found)


class _Builder(GraphBuilder):
    """Builds operands of rank 4, with a dim for a single head where there are three."""

    def permuted(self, value: SSAValue, axes: list[int]) -> SSAValue:
        """A permutation of the four dims."""
        return self("permute_dims", self._with_head(value), axes=axes)

    def bias(self, masks: list[Mask], dtype: str) -> list[SSAValue]:
        """The sum of masks, if there are any."""
        found: list[SSAValue] = []
        for mask in masks:
            bias = mask.tensor
            if mask.hidden is not None:
                arms = [self.constant(number, dtype) for number in (mask.hidden, 0)]
                bias = self("where", bias, *(arms if mask.hides else arms[::-1]))
            found = [self("add", *found, bias) if found else bias]
        return [self._with_head(bias) for bias in found]

    def _with_head(self, value: SSAValue) -> SSAValue:
        dims = dims_of(value)
        if dims is None or len(dims) != 3:
            return value
        return self("reshape", value, shape=[dims[0], ONE, *dims[1:]])


def _masks(masks: Sequence[Mask], products: Sequence[IntExpr]) -> tuple[str | None, list[Mask]]:
    """The kind of the first causal mask, and the other masks without those of zeros."""
    causal, rest = None, list[Mask]()
    for mask in masks:
        numbers = mask.numbers()
        kind = None if causal is not None else causal_mask(mask, *products[-2:])
        if kind is not None:
            causal = kind
        elif numbers is None or numbers.any():
            rest.append(mask)
    return causal, rest


def _dtype(value: SSAValue) -> str:
    assert isinstance(value.type, relax.TensorType) and value.type.dtype is not None
    return value.type.dtype
