"""What a call costs: nanoseconds around a kernel that does next to nothing, in one process.

Run it pinned to one core: ``taskset -c 1 python benchmarks/call.py``. Each way takes turns with the
others, and the quickest round counts, for what slows a round down is the machine. The kernel
writes one element; its own time is part of every row of ours.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import xrelax as tvm
from xrelax import relax
from xrelax.runtime.call import CompiledFunction
from xrelax.script import from_source

ROUNDS, CALLS = 60, 2000
COUNTS = (1, 5)


def script(count: int) -> str:
    """A kernel of some arrays that writes one element of its result."""
    names = [f"x{i}" for i in range(count)]
    handles = ", ".join(f"{n}: T.handle" for n in (*names, "y"))
    shape = '(1, 16), "float32"'
    buffers = "".join(f"        {n.upper()} = T.match_buffer({n}, {shape})\n" for n in names)
    params = ", ".join(f"{n}: R.Tensor({shape})" for n in names)
    return f"""
@I.ir_module
class Module:
    @T.prim_func
    def nothing({handles}):
{buffers}        Y = T.match_buffer(y, {shape})
        with T.block("Y"):
            Y[0, 0] = X0[0, 0]

    @R.function
    def main({params}):
        cls = Module
        return R.call_tir(cls.nothing, ({", ".join(names)},), out_sinfo=R.Tensor({shape}))
"""


def kinds() -> dict[str, Callable[[Any], Any]]:
    """How an array of each library is made."""
    found: dict[str, Callable[[Any], Any]] = {"numpy": np.array, "xrelax": tvm.runtime.array}
    try:
        import torch
    except ImportError:
        return found
    torch.set_num_threads(1)
    return {**found, "torch": torch.tensor}


def contestants() -> dict[tuple[str, str], Callable[[], Any]]:
    """Calls without arguments, by what is called and with what."""
    found: dict[tuple[str, str], Callable[[], Any]] = {("no call", ""): lambda: None}
    value = np.ones((1, 16), "float32")
    for count in COUNTS:
        main = relax.build(from_source(script(count)))["main"]
        in_python = CompiledFunction.__new__(CompiledFunction)
        in_python.__dict__.update(main.__dict__)
        name = f"xrelax, {count} array{'s' * (count > 1)}"
        for kind, make in kinds().items():
            args, out = [make(value) for _ in range(count)], make(value)
            ways = (("", main), (", without the native call", in_python))
            for suffix, function in ways:
                function(*args)
                found[name + suffix, kind] = lambda f=function, a=args: f(*a)
                found[f"{name}, out{suffix}", kind] = lambda f=function, a=args, o=out: f(*a, out=o)
    x, y = value.copy(), value.copy()
    found["np.negative(x)", "numpy"] = lambda: np.negative(x)
    found["np.negative(x, out=y)", "numpy"] = lambda: np.negative(x, out=y)
    if "torch" in kinds():
        import torch

        t, u = torch.tensor(value), torch.tensor(value)
        found["torch.neg(x)", "torch"] = lambda: torch.neg(t)
        found["torch.neg(x, out=y)", "torch"] = lambda: torch.neg(t, out=u)
    return found


def main() -> int:
    """Print the table."""
    calls = contestants()
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for key, call in calls.items():
            best[key] = min(best[key], timeit.timeit(call, number=CALLS) / CALLS * 1e9)
    nothing = best.pop(("no call", ""))
    print(f"{'ns per call':50} " + " ".join(f"{k:>8}" for k in kinds()))
    for name in dict.fromkeys(name for name, _ in best):
        times = [best.get((name, kind)) for kind in kinds()]
        print(
            f"{name:50} " + " ".join(f"{'' if t is None else round(t - nothing):>8}" for t in times)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
