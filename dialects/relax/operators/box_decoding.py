"""Boxes from the offsets that detectors predict: multibox_transform_loc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .activation import SoftmaxOp
from .attributes import Bool, Floats, Number
from .base import OperatorOp
from .conversion import accumulator, wide
from .inference import common_element_type, require_floats, require_rank, tuple_type
from .language import TensorLanguage


@irdl_op_definition
class MultiboxTransformLocOp(OperatorOp):
    """Boxes and scores of a single-shot detector; MXNet ``MultiBoxDetection`` before suppression.

    `cls_pred` ``(B, C, N)`` are logits, of which the scores are the softmax over classes. Those
    below a positive `threshold` are 0, and without `keep_background` those of class 0. `loc_pred`
    ``(B, 4 * N)`` are offsets ``(x, y, w, h)`` of each of the anchors ``(1, N, 4)``, which are
    ``(left, top, right, bottom)``. Offsets are multiplied by `variances`; centers move by them
    times the size of the anchor, and sizes grow by their exponentials. The results are boxes
    ``(B, N, 4)``, which are ``(ymin, xmin, ymax, xmax)``, between 0 and 1 with `clip`, and scores
    ``(B, C, N)``. TVM's ``R.vision.multibox_transform_loc``.
    """

    name = "relax.vision.multibox_transform_loc"
    cls_pred = operand_def(TensorType)
    loc_pred = operand_def(TensorType)
    anchor = operand_def(TensorType)
    clip = opt_prop_def(Bool(default=False))
    threshold = opt_prop_def(Number(default=0.0))
    variances = opt_prop_def(Floats(default=(1.0, 1.0, 1.0, 1.0)))
    keep_background = opt_prop_def(Bool(default=True))
    assembly_format = (
        "$cls_pred `,` $loc_pred `,` $anchor attr-dict `:` type($cls_pred) `,` type($loc_pred) "
        "`,` type($anchor) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        require_floats(cls.name, operands)
        for subject, type_, rank in zip(cls.operand_names(), operands, (3, 2, 3), strict=True):
            require_rank(cls.name, subject, type_, rank)
        if len(attributes["variances"]) != 4:
            raise ValueError(
                f"expected 4 variances of '{cls.name}', got {len(attributes['variances'])}"
            )
        element = common_element_type(cls.name, operands)
        scores, offsets, anchors = operands
        boxes = None
        if scores.dims is not None:
            batch, _, count = scores.dims
            _require_dims(cls.name, "loc_pred", offsets, (batch, count * 4))
            _require_dims(cls.name, "anchor", anchors, (IntExpr.of(1), count, IntExpr.of(4)))
            boxes = [batch, count, IntExpr.of(4)]
        return tuple_type([TensorType.of(d, element, 3) for d in (boxes, scores.dims)])

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        logits, offsets, anchors = tensors
        dtype = accumulator(logits.dtype)
        batch, _, count = logits.shape
        softmax = SoftmaxOp.compute(te, [logits], {"axis": 1})

        def score(b: Any, c: Any, n: Any) -> Any:
            own = softmax(b, c, n)
            zero = te.const(0, own.dtype)
            if attributes["threshold"] > 0:
                least = te.const(attributes["threshold"], own.dtype)
                own = te.Select(te.LT(own, least), zero, own)
            return own if attributes["keep_background"] else te.Select(te.EQ(c, 0), zero, own)

        def side(b: Any, n: Any, k: Any) -> Any:
            # Even numbers are ymin and ymax, odd ones xmin and xmax.
            is_y, is_high = te.EQ(k % 2, 0), te.GE(k, 2)
            d = te.Select(is_y, 1, 0)
            low, high = (anchors(0, n, d + e).astype(dtype) for e in (0, 2))
            shift, growth = (offsets(b, n * 4 + d + e).astype(dtype) for e in (0, 2))
            variances = [te.const(v, dtype) for v in attributes["variances"]]
            shift *= te.Select(is_y, variances[1], variances[0])
            growth *= te.Select(is_y, variances[3], variances[2])
            half = te.const(0.5, dtype)
            center = shift * (high - low) + (low + high) * half
            reach = te.exp(growth) * (high - low) * half
            place = te.Select(is_high, center + reach, center - reach)
            if attributes["clip"]:
                place = te.max(te.min(place, te.const(1, dtype)), te.const(0, dtype))
            return place.astype(logits.dtype)

        return (
            te.compute((batch, count, 4), side, name="T_boxes"),
            te.compute(logits.shape, score, name="T_scores"),
        )

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        logits, offsets, anchors = (wide(a) for a in arrays)
        scores = SoftmaxOp.reference([logits], {"axis": 1})
        if attributes["threshold"] > 0:
            scores = np.where(scores < attributes["threshold"], 0, scores)
        if not attributes["keep_background"]:
            scores[:, 0] = 0
        moved = offsets.reshape(len(offsets), -1, 4) * np.array(attributes["variances"])
        size = anchors[..., 2:] - anchors[..., :2]
        center = moved[..., :2] * size + (anchors[..., :2] + anchors[..., 2:]) / 2
        reach = np.exp(moved[..., 2:]) * size / 2
        boxes = np.concatenate([(center - reach)[..., ::-1], (center + reach)[..., ::-1]], -1)
        if attributes["clip"]:
            boxes = np.clip(boxes, 0, 1)
        return boxes.astype(logits.dtype), scores.astype(logits.dtype)


def _require_dims(op_name: str, subject: str, type_: TensorType, dims: Sequence[IntExpr]) -> None:
    """Raise ValueError for a known dim that is provably another than expected."""
    if type_.dims is None:
        return
    pairs = zip(type_.dims, dims, strict=True)
    if any(a != b and a.is_constant and b.is_constant for a, b in pairs):
        wanted = TensorType.of(dims, type_.known_element)
        raise ValueError(
            f"expected {subject} of '{op_name}' to have shape {shape_text(wanted)}, "
            f"got {shape_text(type_)}"
        )
