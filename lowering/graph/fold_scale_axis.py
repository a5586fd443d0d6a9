"""`fold-scale-axis`: scale the weights of a convolution instead of the channels that it reads.

::

    %1 = relax.multiply %x, %s : [1, 96, 56, 56], [1, 96, 1, 1]
    %2 = relax.nn.conv2d %1, %w : …, [24, 96, 1, 1] -> [1, 24, 56, 56]

⇒

    %1 = relax.multiply %w, %s : [24, 96, 1, 1], [1, 96, 1, 1]
    %2 = relax.nn.conv2d %x, %1 : …

Squeeze-and-excitation (Hu et al., 2018) scales channels by factors that are known only at run time.
A 1x1 convolution of a large image has far fewer weights than it reads numbers. An image without
other uses is scaled where it is computed. TVM's ``FoldScaleAxis``, which scales by constants.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.relax.operators.convolution import ForwardConvolutionOp
from ...dialects.relax.operators.elementwise import MultiplyOp
from ...dialects.relax.operators.layouts import has_plain_layouts
from ..functions import graph_functions
from ..sizes import known_bytes
from .graph_builder import GraphBuilder, dims_of, dtype_of, erase_unused
from .written import Written, touches, written_values

LEAST = 2
"""How many times as many numbers as weights are read where scaling these is quicker."""


def _factors(op: ForwardConvolutionOp) -> tuple[SSAValue, SSAValue] | None:
    """An image, of a batch of 1, and factors of its channels, whose product a convolution reads."""
    product = op.data.owner
    if not isinstance(product, MultiplyOp) or not op.data.has_one_use():
        return None
    dims = dims_of(op.data)
    for image, factors in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        if dims is None or dims_of(image) != dims or dims[0].constant != 1:
            continue
        if image.has_one_use():
            return None
        sizes = [d.constant for d in dims_of(factors) or ()]
        if sizes == [1, dims[1].constant, *[1] * len(op.SPATIAL)]:
            return image, factors
    return None


def _is_pointwise(op: ForwardConvolutionOp) -> bool:
    """Whether a convolution of f32 is 1x1, without groups, and with channels and outputs first."""
    attributes, first = op.attribute_values(), f"NC{op.SPATIAL}"
    layouts = op.layouts(attributes)
    weight = dims_of(op.weight)
    return (
        layouts[0] == first
        and attributes["kernel_layout"] == f"OI{op.SPATIAL}"
        and has_plain_layouts(op)
        and attributes["groups"] == 1
        and {dtype_of(op.data), dtype_of(op.weight)} == {"float32"}
        and weight is not None
        and all(d.constant == 1 for d in weight[2:])
    )


def _fold(op: ForwardConvolutionOp, written: Written) -> None:
    found = _factors(op) if _is_pointwise(op) else None
    if found is None or touches(op, written) or any(v in written for v in found):
        return
    image, factors = found
    weights, numbers = known_bytes([op.weight]), known_bytes([op.data])
    if weights is None or numbers is None or numbers < LEAST * weights:
        return
    product = op.data
    op.operands[1] = GraphBuilder(op)("multiply", op.weight, factors)
    op.operands[0] = image
    erase_unused([product])


@dataclass(frozen=True)
class FoldScaleAxisPass(ModulePass):
    """Scale the weights of convolutions instead of what these read."""

    name = "fold-scale-axis"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        for func in graph_functions(op):
            for inner in [o for o in func.walk() if isinstance(o, ForwardConvolutionOp)]:
                _fold(inner, written)
