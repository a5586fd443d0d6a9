"""CPU time of each step of the compiler against the size of the module: it must grow linearly.

``python benchmarks/module_size.py 10000 20000`` prints seconds per step for modules of so many
functions, and the ratio of the last to the first.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

KERNEL = """
tir.prim_func @f{i}(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {{
  tir.for %j in (0, n) {{
    tir.block "Y" (%vj: spatial (0, n) = %j) reads (%X[%vj]) writes (%Y[%vj]) {{
      %x = tir.load %X[%vj] : !tir.buffer<[n], f32>
      %q = arith.addf %x, %x : f32
      tir.store %q, %Y[%vj] : !tir.buffer<[n], f32>
    }}
  }}
}}
"""
GRAPH = """
relax.func @g{i}(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {{
  %y = relax.call_tir @f{i}(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}}
"""


def seconds(functions: int) -> dict[str, float]:
    """CPU seconds of each step on a module of so many functions, half kernels and half graphs."""
    from xrelax.backend.llvm_module import emit_module
    from xrelax.dialects import get_context
    from xrelax.dialects.diagnostics import verify
    from xrelax.pipeline import STAGES, load_pass
    from xrelax.tools.located_parser import parse_ir

    text = "".join(KERNEL.format(i=i) + GRAPH.format(i=i) for i in range(functions // 2))
    context, spent = get_context(), dict[str, float]()

    def step(name: str, work: Callable[[], object]) -> object:
        begin = time.process_time()
        result = work()
        spent[name] = spent.get(name, 0.0) + time.process_time() - begin
        return result

    gc.collect()
    gc.disable()
    module = step("parse", lambda: parse_ir(context, text))
    step("verify", lambda: verify(module))
    for stage in STAGES:
        for name in stage.passes:
            step(name, lambda: load_pass(name)().apply(context, module))
    step("emit llvm text", lambda: emit_module(module))
    gc.enable()
    return spent


def main() -> None:
    """Print the table."""
    sizes = [int(a) for a in sys.argv[1:]] or [1000, 2000]
    seconds(100)  # imports and caches
    columns = [seconds(size) for size in sizes]
    columns = [{**c, "total": sum(c.values())} for c in columns]
    print("| step | " + " | ".join(f"{s} functions" for s in sizes) + " | ratio |")
    print("|---" * (len(sizes) + 2) + "|")
    for name, first in columns[0].items():
        cells = " | ".join(f"{c[name]:.2f} s" for c in columns)
        ratio = f"{columns[-1][name] / first:.2f}" if first > 0.005 else ""
        print(f"| {name} | {cells} | {ratio} |")


if __name__ == "__main__":
    main()
