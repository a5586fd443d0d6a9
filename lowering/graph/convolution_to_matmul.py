"""`convert-convolution-to-matmul`: replace 1x1 convolutions with channels first by matmuls.

::

    %1 = relax.nn.conv2d %x, %w : [n, 8, 5, 6], [4, 8, 1, 1] -> [n, 4, 5, 6]
    %2 = relax.nn.relu %1 : …

⇒

    %1 = relax.matmul (%w as [4, 8]), (%x as [n, 8, 30]) : … -> [n, 4, 30]
    %2 = relax.nn.relu %1 : …
    %3 = relax.reshape %2 : [n, 4, 30] -> [n, 4, 5, 6]

Pixels are the columns, and nothing is permuted. This is profitable if permutations take longer than
the padding of the last vector of pixels: see `_is_quicker`. Elementwise operators are flattened
with their operands, so that they can still be fused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import relax
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import ONE, IntExpr
from ...dialects.relax.operators.base import OperatorOp
from ...dialects.relax.operators.forward_convolution import ForwardConvolutionOp
from ...dialects.relax.operators.layouts import has_plain_layouts
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.reshaping import ReshapeOp, product
from ...dialects.relax.operators.windows import in_order, windows_of
from ..cost_model import Columns, CostModel, Rows, TileCost
from ..functions import graph_functions
from ..schedule.rules.tiles import choose_tile
from .convert_layout import FUNCTIONS_OF_ELEMENTS
from .flattened import insert_before
from .graph_builder import dims_of
from .written import Written, touches, written_values

FLATTENED = "_flat"
"""What the name of a value with its pixels in one dim ends in."""


@dataclass
class _Flattener:
    """Replaces operators by operators on flattened images."""

    written: Written
    target: Target
    flat: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    """The flattened results of operators, before the reshape to their original shape."""

    def visit(self, op: Operation) -> None:
        """Replace an operator, if that is possible and profitable."""
        if not isinstance(op, OperatorOp) or touches(op, self.written) or op.parent is None:
            return
        made = None
        if isinstance(op, ForwardConvolutionOp):
            made = self._product(op)
        elif isinstance(op, FUNCTIONS_OF_ELEMENTS) and any(v in self.flat for v in op.operands):
            made = self._function(op)
        dims = dims_of(op.result)
        if made is None or dims is None:
            return
        image = ReshapeOp.of([made.result], {"shape": dims})
        image.result.name_hint = op.result.name_hint
        if op.result.name_hint is not None:
            made.result.name_hint = f"{op.result.name_hint}{FLATTENED}"
        insert_before([made, image], op)
        op.result.replace_all_uses_with(image.result)
        op.detach()
        op.erase()
        self.flat[image.result] = made.result

    def _product(self, op: ForwardConvolutionOp) -> OperatorOp | None:
        data, weight = dims_of(op.data), dims_of(op.weight)
        if data is None or weight is None or not is_pointwise(op, weight):
            return None
        batch, channels, *spatial = data
        kernel: str = op.attribute_values()["kernel_layout"]
        outputs = weight[kernel.index("O")]
        sizes = [d.constant for d in (channels, outputs, *spatial)]
        if None in sizes or not self._pays(op, [size or 0 for size in sizes]):
            return None
        pixels = self._in_shape(op.data, (batch, channels, product(spatial)), op)
        if kernel.index("O") < kernel.index("I"):
            matrix = self._in_shape(op.weight, (outputs, channels), op)
        else:
            matrix = self._in_shape(op.weight, (channels, outputs), op)
            permuted = PermuteDimsOp.of([matrix], {"axes": [1, 0]})
            insert_before([permuted], op)
            matrix = permuted.result
        attributes = {"out_dtype": op.attribute_values()["out_dtype"]}
        return op.MATMUL.of([matrix, pixels], attributes)

    def _in_shape(self, value: SSAValue, shape: tuple[IntExpr, ...], user: Operation) -> SSAValue:
        """The flattened form of a value for an operator that is to be replaced."""
        flat = self.flat.get(value)
        if flat is not None and dims_of(flat) == shape:
            return flat
        if dims_of(value) == shape:
            return value
        reshaped = ReshapeOp.of([value], {"shape": shape})
        insert_before([reshaped], user)
        return reshaped.result

    def _pays(self, op: ForwardConvolutionOp, sizes: Sequence[int]) -> bool:
        types = [v.type for v in (op.data, op.weight, op.result)]
        elements = [t.known_element for t in types if isinstance(t, relax.TensorType)]
        widths = [byte_width(e) for e in elements if e is not None]
        lanes = self.target.lanes(8 * max(widths, default=1))
        return len(widths) == len(types) and lanes > 1 and _is_quicker(sizes, lanes, self.target)

    def _function(self, op: OperatorOp) -> OperatorOp | None:
        """The operator on flattened images; `None` if an operand has no flattened form."""
        dims = dims_of(op.result)
        if dims is None:
            return None
        shapes = [_flat_shape(dims_of(value), dims) for value in op.operands]
        known = [shape for shape in shapes if shape is not None]
        if len(known) < len(shapes):
            return None
        operands = [self._in_shape(v, s, op) for v, s in zip(op.operands, known, strict=True)]
        return type(op).of(operands, op.attribute_values())


def is_pointwise(op: ForwardConvolutionOp, weight: Sequence[IntExpr]) -> bool:
    """Whether a convolution with a weight of these dims is 1x1 with stride 1, channels first."""
    attributes, first = op.attribute_values(), f"NC{op.SPATIAL}"
    layout, kernel, out = op.layouts(attributes)
    if (layout, out) != (first, first) or attributes["groups"] != 1:
        return False
    if not has_plain_layouts(op):
        return False
    sizes = in_order(weight, kernel, f"OI{op.SPATIAL}")[2:]
    windows = windows_of(op.name, sizes, attributes)
    return all((w.size, w.stride, w.before, w.after) == (ONE, 1, 0, 0) for w in windows)


def _is_quicker(sizes: Sequence[int], lanes: int, target: Target) -> bool:
    """Whether a matmul over pixels is faster than one over channels with permutations."""
    channels, outputs, *spatial = sizes
    model = CostModel(target)
    pixels = product([IntExpr.of(d) for d in spatial]).constant or 0
    if not channels * outputs * pixels:
        return False

    def cycles(rows: int, all_rows: int, columns: int) -> float:
        tile = choose_tile(TileCost(Rows([rows]), Columns(columns, channels), lanes, target))
        return tile.cost * all_rows * -(-columns // lanes) * channels

    first = cycles(outputs, outputs, pixels) + model.machine.copy * channels * pixels / lanes
    last = min(cycles(length, pixels, outputs) for length in spatial)
    permuted = -(-channels // lanes) + -(-outputs // lanes)
    return first < last + model.permute(lanes) * permuted * pixels


def _flat_shape(
    own: Sequence[IntExpr] | None, image: Sequence[IntExpr]
) -> tuple[IntExpr, ...] | None:
    """The shape of an operand of flattened images, if it broadcasts to them in the same way."""
    if own is None:
        return None
    if len(own) < len(image) and all(d == ONE for d in own):
        return tuple(own)
    full = (*(ONE,) * (len(image) - len(own)), *own)
    if all(d == ONE for d in full[2:]):
        return (*full[:2], ONE)
    return (*full[:2], product(full[2:])) if full[2:] == tuple(image[2:]) else None


@dataclass(frozen=True)
class ConvolutionToMatmulPass(ModulePass):
    """Replace 1x1 convolutions with channels first by matmuls over the pixels."""

    name = "convert-convolution-to-matmul"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written, target = written_values(op), Target(self.target)
        for func in graph_functions(op):
            flattener = _Flattener(written, target)
            for inner in list(func.walk()):
                flattener.visit(inner)
