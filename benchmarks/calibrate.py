"""Measure the `MachineModel` of this machine: print it as the text that a target takes.

``python benchmarks/plans.py --shapes 200 --output plans.jsonl`` times plans of contractions;
``python benchmarks/calibrate.py plans.jsonl`` measures clock, multiply-adds and the second cache
directly, and fits the other cycles, so that the model chooses plans that were quick.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from machine import prepare
from plans import Matmul, priced_plans

FITTED = (
    "load",
    "unaligned_load",
    "loop_start",
    "result",
    "masked",
    "shuffle",
    "l3_result",
    "copy",
    "l2_panel",
    "l3_panel",
    "strided_panel",
    "l2_operand",
    "l3_operand",
    "l3_update",
    "stream",
    "stream_row",
    "stream_operand",
    "stream_start",
    "scalar_result",
    "l3_strided",
    "stream_scalar",
)
FACTORS = (0.1, 0.5, 0.8, 0.9, 1.1, 1.25, 2.0, 10.0)
STEPS = 1 << 22

ADD_CHAIN = """
define i64 @chain(i64 %x, i64 %c, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %v = phi i64 [%x, %entry], [%w, %loop]
  BODY
  %next = add i64 %i, 16
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret i64 %w
}
"""

FMA_CHAIN = """
declare float @llvm.fma.f32(float, float, float)
define float @chain(float %x, float %c, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %v = phi float [%x, %entry], [%w, %loop]
  %w = call float @llvm.fma.f32(float %v, float %c, float %c)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret float %w
}
"""


@dataclass(frozen=True)
class Sample:
    """A matmul, and the seconds of its plans."""

    matmul: Matmul
    seconds: dict[str, float]

    @cached_property
    def best(self) -> float:
        """Seconds of the best plan."""
        return min(self.seconds.values())

    def regret(self, target: Any, default: Any) -> float:
        """Time of the plan that a target's model chooses among the measured, over the best."""
        plans = priced_plans(self.matmul, default)
        cycles = {n: p.cycles(target) for n, p in plans.items() if n in self.seconds}
        return self.seconds[min(cycles, key=lambda n: cycles[n])] / self.best


def best_seconds(call: Callable[[], object]) -> float:
    """The least seconds of ten calls."""
    times: list[float] = []
    for _ in range(10):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def measured(target: Any) -> dict[str, float]:
    """The fields that are measured directly."""
    from xrelax.backend.jit import compile_module
    from xrelax.profiling.machine import measure_machine

    body = [f"%w{i} = add i64 %{'v' if i == 0 else f's{i - 1}'}, %c\n" for i in range(16)]
    steps = [line + f"%s{i} = xor i64 %w{i}, %i\n" for i, line in enumerate(body)]
    code = ADD_CHAIN.replace("BODY", "".join(steps)).replace("[%w,", "[%s15,")
    code = code.replace("ret i64 %w\n", "ret i64 %s15\n")
    integers = compile_module(code, target)
    chain = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)(integers.address("chain"))
    ghz = 2 * STEPS / best_seconds(lambda: chain(1, 3, STEPS)) / 1e9
    floats = compile_module(FMA_CHAIN, target)
    kinds = (ctypes.c_float, ctypes.c_float, ctypes.c_int64)
    fma = ctypes.CFUNCTYPE(ctypes.c_float, *kinds)(floats.address("chain"))
    latency = best_seconds(lambda: fma(1.0, 0.5, STEPS)) * ghz * 1e9 / STEPS
    machine, narrow = measure_machine(1, target), measure_machine(1, target.narrow)
    lanes = target.lanes(32)
    second = next(level for level in machine.levels if level.name == "L2")
    return {
        "clock_ghz": round(ghz, 2),
        "fma_rate": round(machine.flops_per_second / (2 * lanes * ghz * 1e9), 2),
        "narrow_rate": round(2 * narrow.flops_per_second / machine.flops_per_second, 1),
        "fma_latency": round(latency, 1),
        "l2_gap": round(target.vector_bits / 8 / (second.bytes_per_second / ghz / 1e9), 2),
    }


def fit(samples: Sequence[Sample], target: Any) -> Any:
    """The target whose model chooses the quickest plans, by coordinate descent."""
    default = target

    def loss(candidate: Any) -> float:
        return sum(min(s.regret(candidate, default), 3.0) for s in samples) / len(samples)

    best = loss(target)
    print(f"before: chosen over best {best:.3f}")
    for _ in range(3):
        before = best
        for name in FITTED:
            for factor in FACTORS:
                value = float(f"{getattr(target.model, name) * factor:.3g}")
                other = target.with_model(replace(target.model, **{name: value}))
                found = loss(other)
                if found < best - 1e-5:
                    target, best = other, found
        print(f"{best:.3f}  {text_of(target)}", flush=True)
        if best > before - 1e-3:
            break
    return target


def text_of(target: Any) -> str:
    """What differs from the usual model of a target's instruction set."""
    from xrelax.backend.machine_model import model_text

    return model_text(target.model, target.isa.model)


def main() -> None:
    """Measure, fit, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("plans", type=Path, nargs="*", help="what plans.py --output has written")
    parser.add_argument("--target", default="llvm", help="what is compiled for")
    options = parser.parse_args()
    prepare(1)
    from xrelax.backend.target import Target

    target = Target(options.target)
    target = target.with_model(replace(target.model, **measured(target)))
    print(f"measured: {text_of(target)}")
    lines = [line for path in options.plans for line in path.read_text().splitlines()]
    records = [json.loads(line) for line in lines]
    samples = [Sample(Matmul.parse(r["shape"]), r["seconds"]) for r in records]
    if samples:
        target = fit(samples, target)
    print(f"-model={text_of(target)}")


if __name__ == "__main__":
    main()
