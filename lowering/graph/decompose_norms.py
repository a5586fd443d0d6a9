"""`decompose-ops-for-training`: normalizations become operators that have gradients.

::

    %1 = relax.nn.layer_norm %x, %gamma, %beta : …

⇒

    %2 = relax.mean %x : …                                  with the axes, which keep dims of 1
    %3 = relax.subtract %x, %2 : …
    %4 = relax.variance %x : …
    %1 = (%3 / sqrt(%4 + epsilon)) * %gamma + %beta

A batch normalization in training takes mean and variance from its data, and gives the moving ones
of the next step: ``(1 - momentum) * moving_mean + momentum * mean``. In inference it takes the
moving ones (`decompose-ops-for-inference` with `norms`). What is in float16 or bfloat16 is computed
in float32. Layer normalizations of other axes than the last ones are kept. TVM's
``DecomposeOpsForTraining``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.relax.operators.batch_norm import BatchNormOp
from ...dialects.relax.operators.conversion import accumulator
from ...dialects.relax.operators.normalization import LayerNormOp
from ..functions import graph_function, graph_functions
from .graph_builder import GraphBuilder, dtype_of, replace_result
from .written import touches, written_values


def decompose_norms(module: ModuleOp, func_name: str | None, training: bool) -> None:
    """Decompose the normalizations of graph functions, or of the one of this name, in place.

    Layer normalizations are only decomposed for training. Raises Diagnostic for an unknown name.
    """
    written = written_values(module)
    for func in chosen_functions(module, func_name):
        for op in list(func.walk()):
            if not isinstance(op, BatchNormOp | LayerNormOp) or touches(op, written):
                continue
            type_ = op.data.type
            assert isinstance(type_, relax.TensorType)
            if type_.rank is None or None in map(dtype_of, op.operands):
                continue
            if isinstance(op, BatchNormOp):
                _decompose_batch_norm(op, type_.rank, training)
            elif training:
                _decompose_layer_norm(op, type_.rank)


def _cast(build: GraphBuilder, value: SSAValue, dtype: str | None) -> SSAValue:
    return value if dtype_of(value) == dtype else build("astype", value, dtype=dtype)


def _wide(build: GraphBuilder, value: SSAValue) -> SSAValue:
    """A value in the dtype that it is summed in."""
    return _cast(build, value, accumulator(dtype_of(value) or ""))


def chosen_functions(module: ModuleOp, name: str | None) -> list[relax.FuncOp]:
    """The graph function of a name, or all of them; raises Diagnostic for an unknown name."""
    return graph_functions(module) if name is None else [graph_function(module, name)]


def _decompose_batch_norm(op: BatchNormOp, rank: int, training: bool) -> None:
    build, attributes = GraphBuilder(op), op.attribute_values()
    others = [axis for axis in range(rank) if axis != attributes["axis"] % rank]
    mean, variance, data = op.moving_mean, op.moving_var, _wide(build, op.data)
    if training:
        mean = build("mean", data, axis=others)
        variance = build("variance", data, axis=others)

    def spread(value: SSAValue) -> SSAValue:
        return build("expand_dims", _wide(build, value), axis=others)

    centred = build("subtract", data, spread(mean))
    result = _divided(build, centred, spread(variance), attributes["epsilon"])
    if attributes["scale"]:
        result = build("multiply", result, spread(op.gamma))
    if attributes["center"]:
        result = build("add", result, spread(op.beta))
    result = _cast(build, result, dtype_of(op.data))
    fields = [result, mean, variance]
    if training:
        inner = build.inserted(relax.TupleOp(fields))
        normalized = build.inserted(relax.TupleGetItemOp(inner, 0))
        momentum = attributes["momentum"]
        moved = [
            _moved(build, old, new, momentum)
            for old, new in ((op.moving_mean, mean), (op.moving_var, variance))
        ]
        fields = [normalized, *moved]
    whole = relax.TupleOp(fields)
    whole.location = op.location
    whole.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, whole)


def _divided(
    build: GraphBuilder, centred: SSAValue, variance: SSAValue, epsilon: float
) -> SSAValue:
    deviation = build("sqrt", build("add", variance, _number(build, epsilon, variance)))
    return build("divide", centred, deviation)


def _moved(build: GraphBuilder, old: SSAValue, new: SSAValue, momentum: float) -> SSAValue:
    own = _wide(build, old)
    kept = build("multiply", _number(build, 1 - momentum, own), own)
    moved = build("add", kept, build("multiply", _number(build, momentum, new), new))
    return _cast(build, moved, dtype_of(old))


def _number(build: GraphBuilder, value: float, like: SSAValue) -> SSAValue:
    assert isinstance(like.type, relax.TensorType) and like.type.dtype is not None
    return build.constant(value, like.type.dtype)


def _decompose_layer_norm(op: LayerNormOp, rank: int) -> None:
    attributes = op.attribute_values()
    axes: tuple[int, ...] = attributes["axes"]
    if [axis % rank for axis in axes] != list(range(rank - len(axes), rank)):
        return
    build = GraphBuilder(op)
    data = _wide(build, op.data)
    mean = build("mean", data, axis=axes, keepdims=True)
    centred = build("subtract", data, mean)
    variance = build("variance", data, axis=axes, keepdims=True)
    result = _divided(build, centred, variance, attributes["epsilon"])
    if attributes["scale"]:
        result = build("multiply", result, _wide(build, op.gamma))
    if attributes["center"]:
        result = build("add", result, _wide(build, op.beta))
    replace_result(op, _cast(build, result, dtype_of(op.data)))


@dataclass(frozen=True)
class DecomposeOpsForTrainingPass(ModulePass):
    """Decompose normalizations into operators that have gradients, by default in all functions."""

    name = "decompose-ops-for-training"
    func_name: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        decompose_norms(op, self.func_name, training=True)
