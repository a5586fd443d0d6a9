"""Non-maximum suppression of sorted rows: the statements for one image, and the same by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .box_overlap import areas, overlap
from .language import TensorLanguage


class Suppression:
    """The statements of `non_max_suppression` for one image."""

    def __init__(self, te: TensorLanguage, attributes: dict[str, Any]):
        self.te, self.given = te, attributes
        self.is_soft = attributes["soft_nms_sigma"] > 0
        self.score, self.kind = attributes["score_index"], attributes["id_index"]

    def suppress(self, ib: Any, inputs: Any, outputs: Sequence[Any], image: Any) -> None:
        """Sort the rows of an image, keep the best ones, and write what the results are."""
        te, (data, valid, indices, order), (rows, places, counts) = self.te, inputs, outputs
        _, total, self.width = data.shape
        self.rows, self.places, self.image = rows, places, image
        self.least = te.const(self.given["score_threshold"] if self.is_soft else 0, data.dtype)
        most = te.max(te.min(te.cast("int64", valid(image)), total), 0)
        if self.given["top_k"] > 0:
            most = te.min(most, self.given["top_k"])
        used, self.kept = (ib.allocate("int64", (1,), name) for name in ("used", "kept"))
        ib.store(used, (0,), most)
        ib.store(self.kept, (0,), te.const(0, "int64"))
        with ib.for_range(0, used(0), "n") as n:
            box = ib.let(te.cast("int64", order(image, n)))
            with ib.for_range(0, self.width, "column") as column:
                ib.store(rows, (image, n, column), data(image, box, column))
            ib.store(places, (image, n), te.cast("int32", box))
        with ib.for_range(used(0), total, "rest") as rest:
            self._clear(ib, rest)
        (self._keep_softly if self.is_soft else self._keep)(ib, used(0))
        if self.is_soft:
            with ib.for_range(self.kept(0), used(0), "rest") as rest:
                self._clear(ib, rest)
        ib.store(counts, (image, 0), te.cast("int32", self.kept(0)))
        self._pack(ib, indices, total)

    def _keep(self, ib: Any, used: Any) -> None:
        """Keep rows in order, and clear those that overlap a kept one."""
        with ib.for_range(0, used, "n") as n:
            alive = ib.allocate("bool", (1,), "alive")
            ib.store(alive, (0,), self._lives(n) & self._has_room())
            with ib.if_scope(alive(0)):
                ib.store(self.kept, (0,), self.kept(0) + 1)
                with ib.for_range(n + 1, used, "other") as other:
                    with ib.if_scope(self._is_compared(n, other)):
                        shared = ib.let(self._overlap(ib, n, other))
                        with ib.if_scope(self._is_much(shared)):
                            self._clear(ib, other)
            with ib.if_scope(self.te.Not(alive(0))):
                self._clear(ib, n)

    def _keep_softly(self, ib: Any, used: Any) -> None:
        """Move the row of the highest score to the front, and decrease those that it overlaps."""
        te, kept = self.te, self.kept
        best, found = ib.allocate("int64", (1,), "best"), ib.allocate("bool", (1,), "found")
        ib.store(found, (0,), te.const(True, "bool"))
        with ib.while_loop(found(0) & te.LT(kept(0), used) & self._has_room()):
            ib.store(found, (0,), te.const(False, "bool"))
            ib.store(best, (0,), kept(0))
            with ib.for_range(kept(0), used, "n") as n:
                is_better = te.Not(found(0)) | te.GT(self._score(n), self._score(best(0)))
                with ib.if_scope(self._lives(n) & is_better):
                    ib.store(best, (0,), n)
                    ib.store(found, (0,), te.const(True, "bool"))
            with ib.if_scope(found(0)):
                self._swap(ib, ib.let(kept(0)), ib.let(best(0)))
                with ib.for_range(kept(0) + 1, used, "other") as other:
                    with ib.if_scope(self._is_compared(kept(0), other)):
                        self._decrease(ib, other)
                ib.store(kept, (0,), kept(0) + 1)

    def _decrease(self, ib: Any, other: Any) -> None:
        """Decrease the score of a row by its overlap with the kept one, or take it out."""
        te = self.te
        shared = ib.let(self._overlap(ib, self.kept(0), other))
        factor = te.const(-0.5 / self.given["soft_nms_sigma"], shared.dtype)
        score = ib.let(self._score(other) * te.exp(factor * shared * shared))
        is_out = self._is_much(shared)
        ib.store(self.rows, (self.image, other, self.score), score)
        with ib.if_scope(is_out | te.LE(score, self.least)):
            ib.store(self.places, (self.image, other), te.const(-1, "int32"))

    def _swap(self, ib: Any, a: Any, b: Any) -> None:
        for tensor, column in self._cells(ib):
            first = ib.let(tensor(self.image, a, *column))
            second = ib.let(tensor(self.image, b, *column))
            ib.store(tensor, (self.image, a, *column), second)
            ib.store(tensor, (self.image, b, *column), first)

    def _cells(self, ib: Any) -> Any:
        """The tensors with what belongs to a row, the first inside of a loop over its columns."""
        with ib.for_range(0, self.width, "column") as column:
            yield self.rows, (column,)
        yield self.places, ()

    def _pack(self, ib: Any, indices: Any, total: Any) -> None:
        """Move kept rows and their indices to the front, as far as the results ask for it."""
        te, image, rows = self.te, self.image, self.rows
        moves_rows = self.given["invalid_to_bottom"] and not self.given["return_indices"]
        place = ib.allocate("int64", (1,), "place")
        ib.store(place, (0,), te.const(0, "int64"))
        with ib.for_range(0, total, "n") as n:
            with ib.if_scope(te.GE(self.places(image, n), te.const(0, "int32"))):
                box = te.cast("int64", self.places(image, n))
                ib.store(self.places, (image, place(0)), indices(image, box))
                if moves_rows:
                    with ib.for_range(0, self.width, "column") as column:
                        ib.store(rows, (image, place(0), column), rows(image, n, column))
                ib.store(place, (0,), place(0) + 1)
        with ib.for_range(place(0), total, "rest") as rest:
            ib.store(self.places, (image, rest), te.const(-1, "int32"))
            if moves_rows:
                self._clear(ib, rest)

    def _clear(self, ib: Any, n: Any) -> None:
        te, image = self.te, self.image
        with ib.for_range(0, self.width, "column") as column:
            ib.store(self.rows, (image, n, column), te.const(-1, self.rows.dtype))
        ib.store(self.places, (image, n), te.const(-1, "int32"))

    def _score(self, n: Any) -> Any:
        return self.rows(self.image, n, self.score)

    def _lives(self, n: Any) -> Any:
        """Whether a row is not suppressed, and its score is high enough."""
        is_in = self.te.GE(self.places(self.image, n), self.te.const(0, "int32"))
        return is_in & self.te.GT(self._score(n), self.least)

    def _has_room(self) -> Any:
        most = self.given["max_output_size"]
        return self.te.LT(self.kept(0), most) if most > 0 else self.te.const(True, "bool")

    def _is_compared(self, n: Any, other: Any) -> Any:
        """Whether a row may suppress another one."""
        lives = self._lives(other)
        if self.given["force_suppress"] or self.kind < 0:
            return lives
        kinds = (self.rows(self.image, row, self.kind) for row in (n, other))
        return lives & self.te.EQ(*kinds)

    def _is_much(self, overlap: Any) -> Any:
        """Whether an overlap is at least the threshold."""
        return self.te.GE(overlap, self.te.const(self.given["iou_threshold"], overlap.dtype))

    def _overlap(self, ib: Any, n: Any, other: Any) -> Any:
        """The area that two boxes share over the area that they cover."""
        te, rows, start = self.te, self.rows, self.given["coord_start"]

        def corner(box: int, d: int, end: int) -> Any:
            return rows(self.image, (n, other)[box], start + d + 2 * end)

        shared, covered = areas(te, ib, corner, rows.dtype)
        zero = te.const(0, rows.dtype)
        return te.if_then_else(te.GT(covered, zero), shared / covered, zero)


def kept_rows(
    data: NDArray[Any], valid: int, attributes: dict[str, Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The rows of an image as results have them, and the indices of kept ones, in order."""
    score, top = attributes["score_index"], attributes["top_k"]
    used = min(max(valid, 0), len(data))
    order = np.argsort(-data[:used, score], kind="stable")[: top if top > 0 else None]
    rows = data[order].copy()
    if attributes["soft_nms_sigma"] > 0:
        kept = _kept_softly(rows, attributes)
        return rows[kept], order[kept]
    most, kept = attributes["max_output_size"], list[int]()
    for n in range(len(rows)):
        if rows[n, score] > 0 and not 0 < most <= len(kept):
            if all(_apart(rows, m, n, attributes) for m in kept):
                kept.append(n)
    if attributes["invalid_to_bottom"]:
        return rows[kept], order[kept]
    others = np.setdiff1d(np.arange(len(rows)), kept)
    rows[others] = -1
    return rows, order[kept]


def _kept_softly(rows: NDArray[Any], attributes: dict[str, Any]) -> list[int]:
    """The rows that are kept while scores, which are changed, decrease."""
    score, least = attributes["score_index"], attributes["score_threshold"]
    most, kept, left = attributes["max_output_size"], list[int](), list(range(len(rows)))
    while not 0 < most <= len(kept):
        left = [n for n in left if rows[n, score] > least]
        if not left:
            break
        best = max(left, key=lambda n: rows[n, score])
        kept.append(best)
        left.remove(best)
        for n in list(left):
            if not _are_compared(rows, best, n, attributes):
                continue
            much = _overlap(rows, best, n, attributes)
            rows[n, score] *= np.exp(-(much**2) / (2 * attributes["soft_nms_sigma"]))
            if much >= attributes["iou_threshold"]:
                left.remove(n)
    return kept


def _are_compared(rows: NDArray[Any], a: int, b: int, attributes: dict[str, Any]) -> bool:
    kind = attributes["id_index"]
    return attributes["force_suppress"] or kind < 0 or rows[a, kind] == rows[b, kind]


def _apart(rows: NDArray[Any], a: int, b: int, attributes: dict[str, Any]) -> bool:
    if not _are_compared(rows, a, b, attributes):
        return True
    return _overlap(rows, a, b, attributes) < attributes["iou_threshold"]


def _overlap(rows: NDArray[Any], a: int, b: int, attributes: dict[str, Any]) -> float:
    start = attributes["coord_start"]
    return overlap(rows[a, start : start + 4], rows[b, start : start + 4])
