"""Models that rank schedules by their decisions."""

from random import Random

import pytest

from xrelax.meta_schedule.cost_model import CostModel, Point


def points():
    return [
        Point({"tile": (rows, vectors), "plan": plan}, 0.0)
        for rows in range(1, 7)
        for vectors in range(1, 5)
        for plan in ("packed", "in place")
    ]


def speedup(point):
    return point.values["tile"][0] / 6 * (2 if point.values["plan"] == "packed" else 1)


def test_the_static_model_ranks_by_estimates():
    model = CostModel.create("static")
    assert model.predict([Point({}, 0.5), Point({}, -0.5)]) == [-0.5, 0.5]


def test_a_learned_model_ranks_by_measurements():
    pytest.importorskip("lightgbm")
    model = CostModel.create("lightgbm")
    every = Random(0).sample(points(), len(points()))
    seen, rest = every[:36], every[36:]
    assert model.predict(rest) == [0] * len(rest)  # the estimates, before it has learned
    model.update(seen, [speedup(p) for p in seen])
    order = sorted(zip(model.predict(rest), map(speedup, rest), strict=True))
    assert order[-1][1] > 1.3 and order[0][1] < 0.5
    assert model.predict([Point({"other": 3}, 0.0)])[0] == pytest.approx(0, abs=2)


def test_a_learned_model_is_the_same_for_a_seed():
    pytest.importorskip("lightgbm")
    found = []
    for _ in range(2):
        model = CostModel.create("auto", seed=3)
        model.update(points(), [speedup(p) for p in points()])
        found.append(model.predict(points()))
    assert found[0] == found[1]


def test_names_of_models():
    assert len(CostModel.create("random").predict(points())) == len(points())
    with pytest.raises(ValueError, match="expected a cost model"):
        CostModel.create("mlp2")
