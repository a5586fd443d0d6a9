"""The course's MLP at batch 1 and 64 against NumPy and torch, in one process, as ratios.

Run it pinned to one core: ``taskset -c 0 python benchmarks/mlp.py``. Rounds are interleaved and
medians taken, because the machine's speed drifts; only ratios within one run mean anything.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ROUNDS = 25
LAYERS = (784, 128, 10)

SCRIPT = """
@I.ir_module
class Module:
    @T.prim_func
    def relu0(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (BATCH, n), "float32")
        Y = T.match_buffer(y, (BATCH, n), "float32")
        for i, j in T.grid(BATCH, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @T.prim_func
    def linear0(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        m, n = T.int64(), T.int64()
        X = T.match_buffer(x, (BATCH, m), "float32")
        W = T.match_buffer(w, (n, m), "float32")
        B = T.match_buffer(b, (n,), "float32")
        Z = T.match_buffer(z, (BATCH, n), "float32")
        Y = T.alloc_buffer((BATCH, n), "float32")
        for i, j, k in T.grid(BATCH, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(BATCH, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @R.function
    def main(x: R.Tensor((BATCH, "m"), "float32"),
             w0: R.Tensor(("n", "m"), "float32"), b0: R.Tensor(("n",), "float32"),
             w1: R.Tensor(("k", "n"), "float32"), b1: R.Tensor(("k",), "float32")):
        m, n, k = T.int64(), T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.call_dps_packed("linear0", (x, w0, b0), R.Tensor((BATCH, n), "float32"))
            lv1 = R.call_dps_packed("relu0", (lv0,), R.Tensor((BATCH, n), "float32"))
            out = R.call_dps_packed("linear0", (lv1, w1, b1), R.Tensor((BATCH, k), "float32"))
            R.output(out)
        return out
"""


def script(batch: int) -> str:
    """The MLP with dynamic kernels, for one batch size."""
    return SCRIPT.replace("BATCH", str(batch))


def parameters() -> dict[str, np.ndarray]:
    """Random weights in the course's layout."""
    rng = np.random.default_rng(0)
    hidden, out = LAYERS[1], LAYERS[2]
    shapes = {"w0": (hidden, LAYERS[0]), "b0": (hidden,), "w1": (out, hidden), "b1": (out,)}
    return {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}


def contestants(batch: int) -> tuple[dict[str, Callable[[], Any]], float]:
    """Each implementation as a call without arguments, and our compile time in seconds."""
    import xrelax as tvm
    from xrelax import relax
    from xrelax.script import from_source

    params = parameters()
    x = np.random.default_rng(1).standard_normal((batch, LAYERS[0]), np.float32)
    w0, b0, w1, b1 = params.values()
    begin = time.perf_counter()
    symbolic = relax.build(from_source(script(batch)))["main"]
    compile_time = time.perf_counter() - begin
    bound = relax.build(relax.transform.BindParams("main", params)(from_source(script(batch))))[
        "main"
    ]
    arrays = [tvm.nd.array(a) for a in (x, *params.values())]
    calls: dict[str, Callable[[], Any]] = {
        "xrelax, static weights": lambda: bound(arrays[0]),
        "xrelax, dynamic shapes": lambda: symbolic(*arrays),
        "numpy": lambda: np.maximum(x @ w0.T + b0, 0) @ w1.T + b1,
    }
    expected = calls["numpy"]()
    for name in ("xrelax, static weights", "xrelax, dynamic shapes"):
        np.testing.assert_allclose(calls[name]().numpy(), expected, rtol=1e-3, atol=1e-3)
    try:
        import torch
    except ImportError:
        return calls, compile_time
    torch.set_num_threads(1)
    tx, tw0, tb0, tw1, tb1 = (torch.from_numpy(a) for a in (x, w0, b0, w1, b1))
    linear, relu = torch.nn.functional.linear, torch.relu

    def torch_mlp() -> Any:
        with torch.inference_mode():
            return linear(relu(linear(tx, tw0, tb0)), tw1, tb1)

    calls["torch"] = torch_mlp
    return calls, compile_time


def medians(calls: dict[str, Callable[[], Any]], target: float = 2e-3) -> dict[str, float]:
    """Median seconds per call, rounds of all calls interleaved."""
    repeats: dict[str, int] = {}
    for name, call in calls.items():
        begin = time.perf_counter()
        for _ in range(20):
            call()
        repeats[name] = max(1, int(target / ((time.perf_counter() - begin) / 20)))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            samples[name].append((time.perf_counter() - begin) / repeats[name])
    return {name: statistics.median(s) for name, s in samples.items()}


def cpu_seconds(code: str) -> float:
    """CPU time of an interpreter that runs the code, the best of three."""
    best = float("inf")
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True)
        after = os.times()
        user = after.children_user - before.children_user
        best = min(best, user + after.children_system - before.children_system)
    return best


def import_times() -> tuple[float, float]:
    """CPU seconds beyond an empty interpreter: `import xrelax` alone, and with the script names."""
    empty = cpu_seconds("pass")
    alone = cpu_seconds("import xrelax") - empty
    names = cpu_seconds("import xrelax; from xrelax.script import ir, relax, tir") - empty
    return alone, names


def call_overhead() -> float:
    """Seconds of a call whose kernel adds two numbers: checks, allocation, the native call."""
    from xrelax import nd, relax
    from xrelax.script import from_source

    text = (
        '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.add(x, x)\n    return y\n'
    )
    main = relax.build(from_source(text))["main"]
    x = nd.array(np.zeros(2, np.float32))
    return medians({"call": lambda: main(x)})["call"]


def main() -> None:
    """Print the table as Markdown."""
    print("| batch | implementation | µs per call | speed over numpy |\n|---|---|---|---|")
    compile_times: list[float] = []
    for batch in (1, 64):
        calls, compile_time = contestants(batch)
        compile_times.append(compile_time)
        times = medians(calls)
        for name, seconds in times.items():
            print(f"| {batch} | {name} | {seconds * 1e6:.1f} | {times['numpy'] / seconds:.2f} |")
    print(f"\ncompile time: {', '.join(f'{t:.2f} s' for t in compile_times)} (batch 1, batch 64)")
    alone, names = import_times()
    print(f"import time: {alone:.2f} s CPU, with the script language {names:.2f} s")
    print(f"call overhead: {call_overhead() * 1e6:.1f} µs")


if __name__ == "__main__":
    main()
