"""Boxes as rows of a class, a score and corners: the valid ones, and those that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType, i32
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Bool, Int, Number
from .base import OperatorOp, ResultType, UnaryOp
from .conversion import wide
from .inference import require_dtype, require_floats, require_rank, tuple_type
from .language import TensorLanguage
from .ordering import Sorting
from .row_suppression import Suppression, kept_rows
from .sort_records import Records


def _require_columns(op_name: str, data: TensorType, columns: dict[str, tuple[int, int, int]]):
    """Raise ValueError for columns of rows that are outside of their least and greatest index."""
    require_rank(op_name, "data", data, 3)
    width = None if data.dims is None else data.dims[2].constant
    for name, (column, least, extent) in columns.items():
        if column < least or (width is not None and column > width - extent):
            shape = "rows" if data.dims is None else shape_text(data)
            raise ValueError(f"expected {name} of '{op_name}' to be in {shape}, got {column}")


@irdl_op_definition
class GetValidCountsOp(UnaryOp):
    """The rows of high scores, first and in order; TVM's ``R.vision.get_valid_counts``.

    Data is ``(B, N, K)``: N boxes of K numbers for each image. A row is valid if its number
    `score_index` is greater than `score_threshold`, and that of `id_index` is not negative; -1 is
    for rows without a class. The results are the number of valid rows ``(B,)``, the rows
    ``(B, N, K)`` with valid ones first, and the index of each in the data ``(B, N)``, all int32;
    what follows valid rows is -1.
    """

    name = "relax.vision.get_valid_counts"
    score_threshold = opt_prop_def(Number(default=0.0))
    id_index = opt_prop_def(Int(default=0))
    score_index = opt_prop_def(Int(default=1))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        (data,) = operands
        require_floats(cls.name, operands)
        columns = {"id_index": -1, "score_index": 0}
        given = {n: (attributes[n], least, 1) for n, least in columns.items()}
        _require_columns(cls.name, data, given)
        shape = data.dims
        images, boxes = (None, None) if shape is None else (shape[:1], shape[:2])
        return tuple_type(
            [
                TensorType.of(images, i32, 1),
                TensorType.of(shape, data.known_element, 3),
                TensorType.of(boxes, i32, 2),
            ]
        )

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        images, count, width = data.shape
        least = te.const(attributes["score_threshold"], data.dtype)
        kind, score = attributes["id_index"], attributes["score_index"]

        def choose(ib: Any, inputs: Any, outputs: Sequence[Any], image: Any) -> None:
            (data,), (counts, rows, places) = inputs, outputs
            ib.store(counts, (image,), te.const(0, "int32"))
            with ib.for_range(0, count, "box") as box:
                is_valid = te.GT(data(image, box, score), least)
                if kind >= 0:
                    is_valid = is_valid & te.GE(data(image, box, kind), te.const(0, data.dtype))
                with ib.if_scope(is_valid):
                    place = ib.let(counts(image))
                    with ib.for_range(0, width, "column") as column:
                        ib.store(rows, (image, place, column), data(image, box, column))
                    ib.store(places, (image, place), te.cast("int32", box))
                    ib.store(counts, (image,), place + 1)
            with ib.for_range(counts(image), count, "rest") as rest:
                with ib.for_range(0, width, "column") as column:
                    ib.store(rows, (image, rest, column), te.const(-1, data.dtype))
                ib.store(places, (image, rest), te.const(-1, "int32"))

        shapes = [(images,), (images, count, width), (images, count)]
        dtypes = ["int32", data.dtype, "int32"]
        return te.statements(shapes, [data], choose, dtypes, (images,), "T_valid")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        (data,) = arrays
        least = data.dtype.type(attributes["score_threshold"])
        is_valid = data[..., attributes["score_index"]] > least
        if attributes["id_index"] >= 0:
            is_valid &= data[..., attributes["id_index"]] >= 0
        rows, places = np.full_like(data, -1), np.full(data.shape[:2], -1, np.int32)
        for image, valid in enumerate(is_valid):
            found = np.flatnonzero(valid)
            rows[image, : len(found)] = data[image, found]
            places[image, : len(found)] = found
        return is_valid.sum(axis=1).astype(np.int32), rows, places


@irdl_op_definition
class NonMaxSuppressionOp(OperatorOp):
    """The rows of high scores that overlap no better one; TVM's ``R.vision.non_max_suppression``.

    Data is ``(B, N, K)``: N boxes of K numbers for each image, two opposite corners from number
    `coord_start` on. The first `valid_count` ``(B,)`` rows are sorted by their number
    `score_index`, and `top_k` of them are compared, if it is positive. A row of a positive score is
    kept if its intersection over union with each kept row before is less than `iou_threshold`;
    only rows whose numbers `id_index` are equal are compared, unless that is -1 or
    `force_suppress`. If `max_output_size` is positive, no more are kept.

    With `soft_nms_sigma`, the score of a row decreases to ``score * exp(-iou ** 2 / (2 * sigma))``
    by each kept row that it overlaps less, and the row of the highest score follows, down to
    `score_threshold`.

    The results are what `indices` ``(B, N)`` has for the kept rows, int32 and then -1, and their
    number ``(B, 1)``; before them the kept rows and their scores ``(B, N, K)``, if scores decrease.
    Without `return_indices`, the result is the sorted rows, with -1 for others than the kept ones,
    which are first with `invalid_to_bottom`.
    """

    name = "relax.vision.non_max_suppression"
    data = operand_def(TensorType)
    valid_count = operand_def(TensorType)
    indices = operand_def(TensorType)
    max_output_size = opt_prop_def(Int(default=-1))
    iou_threshold = opt_prop_def(Number(default=0.5))
    force_suppress = opt_prop_def(Bool(default=False))
    top_k = opt_prop_def(Int(default=-1))
    coord_start = opt_prop_def(Int(default=2))
    score_index = opt_prop_def(Int(default=1))
    id_index = opt_prop_def(Int(default=0))
    return_indices = opt_prop_def(Bool(default=True))
    invalid_to_bottom = opt_prop_def(Bool(default=False))
    soft_nms_sigma = opt_prop_def(Number(default=0.0))
    score_threshold = opt_prop_def(Number(default=0.0))
    assembly_format = (
        "$data `,` $valid_count `,` $indices attr-dict `:` type($data) `,` type($valid_count) "
        "`,` type($indices) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> ResultType:
        data, *others = operands
        require_floats(cls.name, operands[:1])
        require_dtype(cls.name, others, "int32".__eq__, "int32")
        columns = {"coord_start": (0, 4), "score_index": (0, 1), "id_index": (-1, 1)}
        given = {n: (attributes[n], *limits) for n, limits in columns.items()}
        _require_columns(cls.name, data, given)
        for subject, type_, rank in zip(cls.operand_names()[1:], others, (1, 2), strict=True):
            require_rank(cls.name, subject, type_, rank)
            _require_dims(cls.name, subject, type_, data)
        rows = TensorType.of(data.dims, data.known_element, 3)
        if not attributes["return_indices"]:
            return rows
        shape = data.dims
        count = None if shape is None else [shape[0], IntExpr.of(1)]
        places = None if shape is None else shape[:2]
        fields = [TensorType.of(places, i32, 2), TensorType.of(count, i32, 2)]
        return tuple_type([rows, *fields] if attributes["soft_nms_sigma"] > 0 else fields)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, valid, indices = tensors
        images, count, _ = data.shape

        def score(image: Any, box: Any) -> Any:
            found = data(image, box, attributes["score_index"])
            return te.Select(te.LT(box, valid(image)), found, -te.infinity(data.dtype))

        scores = te.compute((images, count), score, name="T_scores")
        records = Records(te, data.dtype, True, is_indexed=True)
        order = Sorting(te, scores, 1, records, [("indices", "int32")]).compute()[0]
        rows, places, counts = te.statements(
            [data.shape, (images, count), (images, 1)],
            [data, valid, indices, order],
            Suppression(te, attributes).suppress,
            [data.dtype, "int32", "int32"],
            (images,),
            "T_nms",
        )
        if not attributes["return_indices"]:
            return rows
        return (rows, places, counts) if attributes["soft_nms_sigma"] > 0 else (places, counts)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        data, valid, indices = wide(arrays[0]), arrays[1], arrays[2]
        rows, places = np.full_like(data, -1), np.full_like(indices, -1)
        counts = np.zeros((len(data), 1), np.int32)
        for image in range(len(data)):
            own, kept = kept_rows(data[image], int(valid[image]), attributes)
            rows[image, : len(own)] = own
            places[image, : len(kept)] = indices[image, kept]
            counts[image] = len(kept)
        rows = rows.astype(arrays[0].dtype)
        if not attributes["return_indices"]:
            return rows
        return (rows, places, counts) if attributes["soft_nms_sigma"] > 0 else (places, counts)


def _require_dims(op_name: str, subject: str, type_: TensorType, data: TensorType) -> None:
    """Raise ValueError for another number of images or boxes than the data has."""
    if type_.dims is None or data.dims is None:
        return
    wanted = data.dims[: len(type_.dims)]
    pairs = zip(type_.dims, wanted, strict=True)
    if any(a != b and a.is_constant and b.is_constant for a, b in pairs):
        raise ValueError(
            f"expected {subject} of '{op_name}' to have shape "
            f"{shape_text(TensorType.of(wanted, i32))}, got {shape_text(type_)}"
        )
