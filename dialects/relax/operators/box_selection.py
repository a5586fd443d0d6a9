"""Choices among boxes: non-maximum suppression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType, i64
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import IntExpr, minimum
from ..types import TensorType, shape_text
from .attributes import Int, Number, Text
from .base import OperatorOp
from .box_overlap import areas, overlap
from .conversion import wide
from .inference import require_floats, require_rank, tuple_type
from .language import TensorLanguage
from .ordering import Sorting
from .sort_records import Records


@irdl_op_definition
class AllClassNonMaxSuppressionOp(OperatorOp):
    """The boxes of high scores that overlap no better one; ONNX ``NonMaxSuppression``.

    Boxes are ``(N, M, 4)`` with two opposite corners each, scores ``(N, C, M)`` for each class. The
    results are rows ``(image, class, box)``, ``(N * C * min(max_output_boxes_per_class, M), 3)``,
    of which the first `count`, a tensor of one element, are chosen; the rest is 0. A box is chosen
    if its score is greater than `score_threshold`, and its intersection over union with each box
    chosen before in its class is at most `iou_threshold`. TVM's
    ``R.vision.all_class_non_max_suppression``.
    """

    name = "relax.vision.all_class_non_max_suppression"
    boxes = operand_def(TensorType)
    scores = operand_def(TensorType)
    max_output_boxes_per_class = opt_prop_def(Int())
    iou_threshold = opt_prop_def(Number(default=0.0))
    score_threshold = opt_prop_def(Number(default=float("-inf")))
    output_format = opt_prop_def(Text(default="onnx", choices=("onnx",)))
    assembly_format = (
        "$boxes `,` $scores attr-dict `:` type($boxes) `,` type($scores) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        boxes, scores = operands
        require_floats(cls.name, operands)
        for subject, type_ in (("boxes", boxes), ("scores", scores)):
            require_rank(cls.name, subject, type_, 3)
        if boxes.dims is not None and boxes.dims[2].constant != 4:
            raise ValueError(
                f"expected boxes of '{cls.name}' to be rows of 4 numbers, got {shape_text(boxes)}"
            )
        if boxes.dims is not None and scores.dims is not None:
            pairs = ((boxes.dims[0], scores.dims[0]), (boxes.dims[1], scores.dims[2]))
            if any(a.is_constant and b.is_constant and a != b for a, b in pairs):
                raise ValueError(
                    f"expected a score of '{cls.name}' for each of boxes {shape_text(boxes)}, "
                    f"got {shape_text(scores)}"
                )
        dims = None
        if scores.dims is not None:
            images, classes, count = scores.dims
            dims = [images * classes * minimum(_most(attributes), count), IntExpr.of(3)]
        return tuple_type([TensorType.of(dims, i64, 2), TensorType.of([1], i64)])

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        boxes, scores = tensors
        images, classes, count = scores.shape
        (most,) = te.tensor.shape_of([minimum(_most(attributes), te.dim_expr(count))])
        records = Records(te, scores.dtype, True, is_indexed=True)
        order = Sorting(te, scores, 2, records, [("indices", "int64")]).compute()[0]
        suppression = _Suppression(te, attributes, most)
        chosen, counts = te.statements(
            [(images, classes, most), (images, classes)],
            [boxes, scores, order],
            suppression.choose,
            ["int64", "int64"],
            (images, classes),
            "T_nms",
        )
        rows = (images * classes * most, 3)
        return tuple(
            te.statements([rows, (1,)], [chosen, counts], suppression.pack, ["int64", "int64"])
        )

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        boxes, scores = (wide(a) for a in arrays)
        corners = np.concatenate(
            [
                np.minimum(boxes[..., :2], boxes[..., 2:]),
                np.maximum(boxes[..., :2], boxes[..., 2:]),
            ],
            -1,
        )
        found = [
            (image, kind, box)
            for image, kind in np.ndindex(*scores.shape[:2])
            for box in _best(corners[image], scores[image, kind], attributes)
        ]
        most = min(_most(attributes), scores.shape[2])
        rows = np.zeros((scores.shape[0] * scores.shape[1] * most, 3), np.int64)
        rows[: len(found)] = np.array(found, np.int64).reshape(-1, 3)
        return rows, np.array([len(found)])


def _most(attributes: dict[str, Any]) -> int:
    return max(attributes["max_output_boxes_per_class"], 0)


class _Suppression:
    """The statements: boxes of a class are chosen for each class, then their rows are packed."""

    def __init__(self, te: TensorLanguage, attributes: dict[str, Any], most: Any):
        self.te, self.most = te, most
        self.overlap = float(attributes["iou_threshold"])
        self.least = float(attributes["score_threshold"])

    def choose(self, ib: Any, inputs: Any, outputs: Sequence[Any], image: Any, kind: Any) -> None:
        """Choose the boxes of one class of an image, in the order of their scores."""
        te, (boxes, scores, order), (chosen, counts) = self.te, inputs, outputs
        count, place, keeps = (
            ib.allocate(dtype, (1,), name)
            for dtype, name in (("int64", "count"), ("int64", "place"), ("bool", "keeps"))
        )
        ib.store(count, (0,), te.const(0, "int64"))
        ib.store(place, (0,), te.const(0, "int64"))
        least = te.const(self.least, scores.dtype)
        with ib.while_loop((place(0) < scores.shape[2]) & (count(0) < self.most)):
            box = ib.let(order(image, kind, place(0)))
            ib.store(keeps, (0,), te.GT(scores(image, kind, box), least))
            with ib.for_range(0, count(0), "other") as other, ib.if_scope(keeps(0)):
                pair = box, ib.let(chosen(image, kind, other))
                ib.store(keeps, (0,), self.are_apart(ib, boxes, image, pair))
            with ib.if_scope(keeps(0)):
                ib.store(chosen, (image, kind, count(0)), box)
                ib.store(count, (0,), count(0) + 1)
            ib.store(place, (0,), place(0) + 1)
        ib.store(counts, (image, kind), count(0))
        with ib.for_range(count(0), self.most, "rest") as rest:
            ib.store(chosen, (image, kind, rest), te.const(0, "int64"))

    def are_apart(self, ib: Any, boxes: Any, image: Any, pair: tuple[Any, Any]) -> Any:
        """Whether two boxes share at most the threshold of what they cover."""
        te = self.te
        shared, covered = areas(
            te, ib, lambda box, d, end: boxes(image, pair[box], d + 2 * end), boxes.dtype
        )
        is_small = te.LE(shared / covered, te.const(self.overlap, boxes.dtype))
        return is_small | te.LE(covered, te.const(0, boxes.dtype))

    def pack(self, ib: Any, inputs: Any, outputs: Sequence[Any]) -> None:
        """Write a row for each chosen box, zeros after them, and their number."""
        te, (chosen, counts), (rows, total) = self.te, inputs, outputs
        count = ib.allocate("int64", (1,), "count")
        ib.store(count, (0,), te.const(0, "int64"))
        images, classes = counts.shape
        with (
            ib.for_range(0, images, "image") as image,
            ib.for_range(0, classes, "kind") as kind,
            ib.for_range(0, counts(image, kind), "n") as n,
        ):
            place = ib.let(count(0))
            for column, value in enumerate((image, kind, chosen(image, kind, n))):
                ib.store(rows, (place, column), te.cast("int64", value))
            ib.store(count, (0,), place + 1)
        with (
            ib.for_range(count(0), rows.shape[0], "rest") as rest,
            ib.for_range(0, 3, "column") as column,
        ):
            ib.store(rows, (rest, column), te.const(0, "int64"))
        ib.store(total, (0,), count(0))


def _best(boxes: NDArray[Any], scores: NDArray[Any], attributes: dict[str, Any]) -> Iterator[int]:
    """The boxes of a class by score, without those that overlap one before."""
    chosen: list[int] = []
    for box in np.argsort(-scores, kind="stable"):
        if len(chosen) == _most(attributes) or not scores[box] > attributes["score_threshold"]:
            return
        limit = attributes["iou_threshold"]
        if all(overlap(boxes[box], boxes[other]) <= limit for other in chosen):
            chosen.append(int(box))
            yield int(box)
