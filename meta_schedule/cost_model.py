"""Cost models that rank schedules before they are measured.

The static model adds up what the compiler's cost model says of each decision. The learned one is a
gradient-boosted tree over decisions, fitted to the measurements of the same kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import log
from random import Random
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

LEAST_POINTS = 16
"""Measurements that a learned model needs."""


@dataclass(frozen=True)
class Point:
    """A schedule as models see it: its decisions, and its estimated cost (see `Decision.cost`)."""

    values: Mapping[str, Any]
    cost: float


class CostModel:
    """Predicts speedups over the default; TVM's ``CostModel``."""

    def update(self, points: Sequence[Point], speedups: Sequence[float]) -> None:
        """Learn from all measurements of a kernel so far."""

    def predict(self, points: Sequence[Point]) -> list[float]:
        """Scores of schedules; those of faster ones are higher."""
        raise NotImplementedError

    @staticmethod
    def create(kind: Any = "auto", seed: int = 0) -> CostModel:
        """A model: "static", "random", "lightgbm", or "auto", which is the last if it is installed.

        TVM's "xgb" is the same as "auto". Raises ValueError for another kind, and where LightGBM
        is asked for and not installed.
        """
        if isinstance(kind, CostModel):
            return kind
        if kind == "random":
            return RandomModel(seed)
        if kind == "static":
            return StaticModel()
        if kind not in ("auto", "xgb", "lightgbm"):
            raise ValueError(
                f"expected a cost model ('auto', 'lightgbm', 'static', 'random'), got {kind!r}"
            )
        try:
            library: Any = import_module("lightgbm")
        except ImportError:
            if kind == "lightgbm":
                raise ValueError(
                    "expected LightGBM to be installed (extra `tune`), got none"
                ) from None
            return StaticModel()
        return LightGBMModel(library, seed)


class StaticModel(CostModel):
    """The compiler's cost model; nothing is learned."""

    def predict(self, points: Sequence[Point]) -> list[float]:
        return [-p.cost for p in points]


class RandomModel(CostModel):
    """Random scores; TVM's ``RandomModel``."""

    def __init__(self, seed: int = 0):
        self._random = Random(seed)

    def predict(self, points: Sequence[Point]) -> list[float]:
        return [self._random.random() for _ in points]


class LightGBMModel(CostModel):
    """Boosted trees over the numbers in decisions; static scores for less than `LEAST_POINTS`."""

    def __init__(self, library: Any, seed: int = 0):
        self._library, self._seed = library, seed
        self._columns = _Columns()
        self._booster: Any = None

    def update(self, points: Sequence[Point], speedups: Sequence[float]) -> None:
        if len(points) < LEAST_POINTS:
            return
        self._columns = _Columns()
        self._columns.learn(points)
        data = self._library.Dataset(
            self._columns.matrix(points), np.array([log(max(s, 1e-3)) for s in speedups])
        )
        options = {
            "objective": "regression",
            "num_leaves": 8,
            "min_data_in_leaf": 3,
            "learning_rate": 0.1,
            "deterministic": True,
            "num_threads": 1,
            "seed": self._seed,
            "verbose": -1,
        }
        self._booster = self._library.train(options, data, num_boost_round=60)

    def predict(self, points: Sequence[Point]) -> list[float]:
        if self._booster is None or not points:
            return StaticModel().predict(points)
        return [float(v) for v in self._booster.predict(self._columns.matrix(points))]


class _Columns:
    """A column for each number in decisions, and the codes of strings."""

    def __init__(self) -> None:
        self._columns: dict[str, int] = {}
        self._codes: dict[str, int] = {}

    def learn(self, points: Sequence[Point]) -> None:
        """Make a column for every number that some point has."""
        for point in points:
            for name, value in _numbers(point):
                self._columns.setdefault(name, len(self._columns))
                if isinstance(value, str):
                    self._codes.setdefault(value, len(self._codes))

    def matrix(self, points: Sequence[Point]) -> NDArray[np.float64]:
        """The numbers; NaN where a point has none."""
        found = np.full((len(points), len(self._columns)), np.nan)
        for row, point in enumerate(points):
            for name, value in _numbers(point):
                number = self._codes.get(value, -1) if isinstance(value, str) else value
                if name in self._columns:
                    found[row, self._columns[name]] = number
        return found


def _numbers(point: Point) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [("", point.cost)]
    for name, value in point.values.items():
        items = cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,))
        found += [(f"{name}.{i}", item) for i, item in enumerate(items)]
        if len(items) == 2 and all(isinstance(i, int) for i in items):
            found.append((f"{name}.product", items[0] * items[1]))
    return found
