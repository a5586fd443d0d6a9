"""How far the chosen plan of a contraction is from the best one: a table for drawn shapes.

``taskset -c 1 python benchmarks/plans.py --shapes 200`` draws matmuls in all layouts, schedules
each by every kind of plan with the tiles that look best to the cost model, and times them in
interleaved rounds. It prints the time of the chosen plan over that of the best one, and with
``--output`` writes every plan's predicted and measured cycles, which `calibrate.py` fits.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from machine import medians, prepare

LAYOUTS = ("NN", "NT", "TN")
"""Of the operands: X is (m, k) or (k, m), W is (k, n) or (n, k)."""
OPERATIONS = 1 << 27
"""The most multiplications of a drawn matmul."""


@dataclass(frozen=True)
class Matmul:
    """A drawn matmul of float32."""

    layout: str
    m: int
    n: int
    k: int

    @staticmethod
    def draw(rng: random.Random) -> Matmul:
        """Sizes from 1 to 4096, often multiples of 16."""
        while True:
            m, n, k = (_size(rng) for _ in range(3))
            if n > 1 and 1 << 12 <= m * n * k <= OPERATIONS:
                return Matmul(rng.choice(LAYOUTS), m, n, k)

    @staticmethod
    def parse(text: str) -> Matmul:
        """The matmul of a text such as ``NT 64x96x128``."""
        layout, sizes = text.split()
        return Matmul(layout, *map(int, sizes.split("x")))

    def __str__(self) -> str:
        return f"{self.layout} {self.m}x{self.n}x{self.k}"

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """The shapes of X, W and Y."""
        lhs = (self.m, self.k) if self.layout[0] == "N" else (self.k, self.m)
        rhs = (self.k, self.n) if self.layout[1] == "N" else (self.n, self.k)
        return [lhs, rhs, (self.m, self.n)]

    def module(self) -> Any:
        """An IRModule with the matmul as kernel "main"."""
        from xrelax import te
        from xrelax.ir.module import IRModule

        lhs, rhs, _ = self.shapes
        x, w = te.placeholder(lhs, name="X"), te.placeholder(rhs, name="W")
        k = te.reduce_axis((0, self.k), name="k")

        def element(i: Any, j: Any) -> Any:
            left = x[i, k] if self.layout[0] == "N" else x[k, i]
            return te.sum(left * (w[k, j] if self.layout[1] == "N" else w[j, k]), axis=k)

        y = te.compute((self.m, self.n), element, name="Y")
        return IRModule({"main": te.create_prim_func([x, w, y])})


def _size(rng: random.Random) -> int:
    size = round(2 ** rng.uniform(0, 12))
    return max(16, size // 16 * 16) if size > 8 and rng.random() < 0.5 else size


@dataclass(frozen=True)
class PricedPlan:
    """A plan, and what its tile costs; without a plan results are streamed."""

    plan: Any
    cost: Any
    size: Any

    def cycles(self, target: Any) -> float:
        """Predicted cycles for the model of a target."""
        from xrelax.lowering.cost_model import CostModel, InnerProductCost, TileCost
        from xrelax.lowering.schedule.rules.contraction_plan import cycles_of, shared_rows

        if self.plan is None:
            return CostModel(target).streamed(self.size, shared_rows(self.size))
        rows, vectors = self.plan.tile.rows, self.plan.tile.vectors
        if isinstance(self.cost, InnerProductCost):
            cost = replace(self.cost, target=target).per_product(rows, vectors)
        else:
            given = self.cost
            tiles = TileCost(given.rows, given.columns, given.lanes, target)
            cost = tiles.per_result(rows, vectors)
        return cycles_of(replace(self.plan, tile=replace(self.plan.tile, cost=cost)), target)


def plans_of(contraction: Any, target: Any) -> dict[str, PricedPlan]:
    """Plans by kind and tile: the best of each kind for the cost model, and others like it."""
    from xrelax.lowering.schedule.rules.contraction_plan import candidates, size_of

    found: dict[str, PricedPlan] = {}
    size = size_of(contraction, target.lanes(32))
    for _, plan in candidates(contraction, target):
        if plan is None:
            found["streamed"] = PricedPlan(None, None, size)
            continue
        cost = _cost_of(plan, target)
        for rows, vectors in _tiles(plan, target):
            other = _with_tile(plan, replace(plan.tile, rows=rows, vectors=vectors), target)
            if other is not None:
                found.setdefault(name_of(other), PricedPlan(other, cost, size))
    return found


def _cost_of(plan: Any, target: Any) -> Any:
    """The cost of tiles of a plan's kind."""
    from xrelax.lowering.schedule.rules.contraction_plan import is_contiguous, row_bytes, tile_cost
    from xrelax.lowering.schedule.rules.inner_products import inner_product_cost

    contraction, m, lanes = plan.contraction, plan.m, plan.lanes
    if plan.is_inner_product:
        return inner_product_cost(contraction, m, lanes, target)
    in_place = not plan.packs and is_contiguous(contraction)
    apart = row_bytes(contraction) if in_place else None
    return tile_cost(contraction, m, lanes, target, row_bytes=apart)


def name_of(plan: Any) -> str:
    """The kind of a plan, and its tile."""
    if plan is None:
        return "streamed"
    kind = "packed" if plan.packs else "in place"
    kind = "inner products" if plan.is_inner_product else "swapped" if plan.is_swapped else kind
    return f"{kind} {plan.tile.rows}x{plan.tile.vectors}{' in blocks' if plan.blocks else ''}"


def _tiles(plan: Any, target: Any) -> list[tuple[int, int]]:
    """The tile of a plan, those of nearly its size, and those of other proportions that fit."""
    from xrelax.lowering.schedule.rules.inner_products import inner_product_fits
    from xrelax.lowering.schedule.rules.tiles import tile_fits

    fits = inner_product_fits if plan.is_inner_product else tile_fits
    rows, vectors = plan.tile.rows, plan.tile.vectors
    sizes = [(rows + d, vectors + e) for e in (-1, 0, 1) for d in (-1, 0, 1)]
    sizes += [(4, 2), (6, 2), (3, 3), (2, 4), (1, 8), (12, 1)]
    extent = plan.contraction.extent(plan.m).constant if plan.m is not None else 1
    fitting = [
        (r, v)
        for r, v in sizes
        if 0 < r <= extent and v > 0 and fits(r, v, target.vector_registers)
    ]
    return list(dict.fromkeys([(rows, vectors), *fitting]))


def _with_tile(plan: Any, tile: Any, target: Any) -> Any:
    """A plan with another tile, if it suits."""
    from xrelax.lowering.schedule.rules.cache_blocks import cache_blocks
    from xrelax.lowering.schedule.rules.contraction_plan import plan_in_place

    other = replace(plan, tile=tile)
    if plan.is_inner_product or plan.is_swapped:
        return other
    if not plan.packs:
        other = plan_in_place(plan.contraction, plan.m, tile, plan.lanes)
    if other is None:
        return None
    blocks = cache_blocks(plan.contraction, plan.m, tile, plan.lanes, target)
    return replace(other, blocks=blocks)


@cache
def priced_plans(matmul: Matmul, target: Any) -> dict[str, PricedPlan]:
    """The plans of a matmul."""
    return plans_of(_contraction(matmul), target)


@cache
def _contraction(matmul: Matmul) -> Any:
    from xrelax.lowering.schedule.rules.match_contraction import contraction_of

    module = matmul.module()
    (block,) = (b for b in module.op.walk() if b.name == "tir.block" and b.init is not None)
    return contraction_of(block)


def scheduled(module: Any, name: str | None, target: Any) -> Any:
    """A copy of a module, scheduled by default but for the contraction, which has this plan."""
    from xrelax.lowering.schedule.default import RULES
    from xrelax.lowering.schedule.primitives.schedule import Schedule
    from xrelax.lowering.schedule.rules.contraction import apply_plan
    from xrelax.lowering.schedule.rules.match_contraction import contraction_of

    copy = module.clone()
    (func,) = copy.op.body.block.ops
    sch = Schedule(copy.op)
    for rule, apply in RULES.items():
        if rule != "contractions" or name is None:
            apply(sch, func, target)
            continue
        (block,) = (b for b in func.walk() if b.name == "tir.block" and b.init is not None)
        plan = plans_of(contraction_of(block), target)[name].plan
        if plan is not None:
            apply_plan(sch, plan)
    copy["main"] = copy["main"].with_attr("tir.is_scheduled", True)
    return copy


def regret(matmul: Matmul, target: Any, rounds: int, budget: float) -> dict[str, Any]:
    """The chosen plan of a matmul and the best one, and seconds of all."""
    import numpy as np

    from xrelax import relax
    from xrelax.lowering.schedule.rules.contraction_plan import plan_of

    module = matmul.module()
    plans = priced_plans(matmul, target)
    predicted = {name: priced.cycles(target) for name, priced in plans.items()}
    chosen = name_of(plan_of(_contraction(matmul), target))
    rng = np.random.default_rng(1)
    x, w, y = (rng.random(shape, dtype=np.float32) for shape in matmul.shapes)
    wanted = (x if matmul.layout[0] == "N" else x.T) @ (w if matmul.layout[1] == "N" else w.T)
    calls: dict[str, Callable[[], Any]] = {}
    first: dict[str, float] = {}
    for name in predicted:
        kernel = relax.build(scheduled(module, name, target), target=target)["main"]
        begin = time.perf_counter()
        kernel(x, w, y)
        first[name] = time.perf_counter() - begin
        np.testing.assert_allclose(y, wanted, rtol=1e-4)
        calls[name] = partial(kernel, x, w, y)
    seconds = medians(calls, rounds, budget, first)
    near = [n for n in seconds if seconds[n] <= 1.1 * min(seconds.values())]
    again = {n: calls[n] for n in {*near, chosen}}  # the least of many is too good by chance
    seconds |= medians(again, 2 * rounds, 2 * budget, first)
    best = min(again, key=lambda n: seconds[n])
    return {
        "shape": str(matmul),
        "chosen": chosen,
        "best": best,
        "ratio": seconds[chosen] / seconds[best],
        "seconds": seconds,
        "predicted": predicted,
    }


def main() -> None:
    """Draw, time, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shapes", type=int, default=20, help="how many are drawn (20)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (1)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each measurement (9)")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of its rounds (1)")
    parser.add_argument("--target", default="llvm", help="what is compiled for")
    parser.add_argument("--output", type=Path, help="a file for all times, as lines of JSON")
    options = parser.parse_args()
    prepare(1)
    from xrelax.backend.target import Target

    target, rng = Target(options.target), random.Random(options.seed)
    ratios: list[float] = []
    while len(ratios) < options.shapes:
        if not priced_plans(matmul := Matmul.draw(rng), target):  # nothing to choose
            continue
        found = regret(matmul, target, options.rounds, options.budget)
        ratios.append(found["ratio"])
        print("{shape:20} {ratio:5.2f}  {chosen:24} {best}".format(**found), flush=True)
        if options.output is not None:
            with options.output.open("a") as file:
                file.write(json.dumps(found) + "\n")
    exact = sum(r < 1.005 for r in ratios)
    print(
        f"chosen over best: mean {statistics.mean(ratios):.3f}, worst {max(ratios):.2f}; the best "
        f"of all tried in {exact} of {len(ratios)}"
    )


if __name__ == "__main__":
    main()
