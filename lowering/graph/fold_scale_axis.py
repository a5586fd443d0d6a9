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

from ...dialects.int_expr import ONE
from ...dialects.relax.operators.elementwise import MultiplyOp
from ...dialects.relax.operators.forward_convolution import ForwardConvolutionOp
from ..functions import graph_functions
from ..sizes import known_bytes
from .convolution_to_matmul import is_pointwise
from .graph_builder import GraphBuilder, dims_of, dtype_of, erase_unused
from .written import Written, touches, written_values

LEAST = 2
"""How many times as many numbers as weights are read where scaling these is quicker."""


def _factors(op: ForwardConvolutionOp) -> tuple[SSAValue, SSAValue] | None:
    """An image with other uses, and factors of its channels, whose product a convolution reads."""
    product, dims = op.data.owner, dims_of(op.data)
    if not isinstance(product, MultiplyOp) or not op.data.has_one_use() or dims is None:
        return None
    for image, factors in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        is_image = dims_of(image) == dims and not image.has_one_use()
        if is_image and dims_of(factors) == (ONE, dims[1], *[ONE] * len(op.SPATIAL)):
            return image, factors
    return None


def _fold(op: ForwardConvolutionOp, written: Written) -> None:
    found, weight = _factors(op), dims_of(op.weight)
    if found is None or weight is None or not is_pointwise(op, weight):
        return
    if op.attribute_values()["kernel_layout"] != f"OI{op.SPATIAL}":
        return
    image, factors = found
    if touches(op, written) or any(v in written for v in found):
        return
    weights, numbers = known_bytes([op.weight]), known_bytes([op.data])
    if weights is None or numbers is None or numbers < LEAST * weights:
        return
    if {dtype_of(op.data), dtype_of(op.weight)} != {"float32"}:
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
