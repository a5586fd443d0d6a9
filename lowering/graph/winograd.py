"""`use-winograd`: compute 3x3 convolutions of stride 1 with fewer products, where that is quicker.

::

    relax.nn.conv2d %x, %w {padding = array<i64: 1, 1>, out_layout = "NHWC"} : …

⇒

    %1 = relax.nn.winograd_weight %w {tile = 4} : [3, 3, 64, 64] -> [6, 6, 64, 64]
    relax.nn.winograd_conv2d %x, %1 {block = array<i64: 1, 14>, tile = 4, …} : …

Weights are constant, and transformed when the module is loaded. Tiles of 4x4 results take a quarter
of the multiplications, tiles of 2x2 four ninths. Results differ from those of the direct form by
rounding: for 4x4 by up to 3e-6 of the largest one, since channels are summed in blocks of 128.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import relax
from ...dialects.relax.operators.layouts import has_plain_layouts
from ...dialects.relax.operators.plain_convolution import Conv2dOp
from ...dialects.relax.operators.winograd import TAPS
from ...dialects.relax.operators.words import numbers_in_word
from ..functions import graph_functions
from ..schedule.rules.winograd_cost import Blocking, Convolution
from .graph_builder import GraphBuilder, dtype_of, replace_result
from .known_values import is_computed_from_constants
from .written import Written, touches, written_values


def _sizes(op: Conv2dOp, lanes: int, dtype: str) -> Convolution | None:
    """The sizes of a convolution that has the other form; `None` for others."""
    if not has_plain_layouts(op):
        return None
    attributes = op.attribute_values()
    types = (op.data.type, op.weight.type, op.result.type)
    shapes: list[dict[str, int]] = []
    for type_, layout in zip(types, op.layouts(attributes), strict=True):
        if not isinstance(type_, relax.TensorType) or type_.dtype != dtype:
            return None
        dims = zip(layout, type_.dims or (), strict=False)
        shapes.append({letter: d.constant for letter, d in dims if d.constant})
    weight, result = shapes[1:]
    steps = {*attributes["strides"], *attributes["dilation"], attributes["groups"]}
    if steps != {1} or any(weight.get(x) != TAPS for x in "HW") or not {*"HW"} <= {*result}:
        return None
    found = Convolution(weight.get("I", 0), weight.get("O", 0), result["H"], result["W"])
    has_vectors = found.inputs and found.outputs and lanes > 1
    return found if has_vectors and not (found.inputs % lanes or found.outputs % lanes) else None


def blocking_of(
    op: Operation, written: Written, target: Target, rate: float = 1.0, dtype: str = "float32"
) -> Blocking | None:
    """How a convolution of a dtype is computed in float32 with fewer products, if that is quicker.

    `rate` is how many times as quick as in float32 the direct form is.
    """
    if not isinstance(op, Conv2dOp) or touches(op, written):
        return None
    sizes = _sizes(op, target.lanes(32), dtype) if is_computed_from_constants(op.weight) else None
    return None if sizes is None else sizes.blocking(target, rate)


def dot_rate(dtype: str, target: Target) -> int:
    """How many times as quick as in float32 contractions in a shorter float are on a target."""
    has_dots = dtype == "bfloat16" and target.isa.bfdot(target.isa.vector_bits) is not None
    return numbers_in_word(dtype) if has_dots else 1


def in_float32(op: Operation, written: Written, target: Target) -> SSAValue | None:
    """A convolution of bf16 or f16 in float32, if it is quicker with fewer products there."""
    if not isinstance(op, Conv2dOp) or (dtype := dtype_of(op.data)) not in ("bfloat16", "float16"):
        return None
    if blocking_of(op, written, target, dot_rate(dtype, target), dtype) is None:
        return None
    build, name = GraphBuilder(op), op.name.removeprefix("relax.")
    wide = [build("astype", v, dtype="float32") for v in op.operands]
    found = build(name, *wide, **{**op.attribute_values(), "out_dtype": "float32"})
    return build("astype", found, dtype=dtype)


def _replace(op: Conv2dOp, blocking: Blocking) -> None:
    build, attributes = GraphBuilder(op), op.attribute_values()
    data, kernel, out = op.layouts(attributes)
    weight = op.weight
    if kernel != "HWIO":
        weight = build("permute_dims", weight, axes=[kernel.index(letter) for letter in "HWIO"])
    found = build(
        "nn.winograd_conv2d",
        op.data,
        build("nn.winograd_weight", weight, tile=blocking.size),
        padding=attributes["padding"],
        tile=blocking.size,
        block=[blocking.rows, blocking.columns],
        data_layout=data,
        out_layout="NHWC",
    )
    if out != "NHWC":
        found = build("permute_dims", found, axes=["NHWC".index(letter) for letter in out])
    replace_result(op, found)


@dataclass(frozen=True)
class UseWinogradPass(ModulePass):
    """Compute 3x3 convolutions of stride 1 with fewer products, where that is quicker."""

    name = "use-winograd"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written, target = written_values(op), Target(self.target)
        for func in graph_functions(op):
            for inner in list(func.walk()):
                blocking = blocking_of(inner, written, target)
                if isinstance(inner, Conv2dOp) and blocking is not None:
                    _replace(inner, blocking)
