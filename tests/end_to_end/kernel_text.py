"""Kernels from the text of their bodies, and what they compute."""

from textwrap import dedent, indent

import numpy as np

from xrelax import relax
from xrelax.script import from_source

LOOPS = ("range", "T.parallel", "T.vectorized")


def kernel(body, symbols=(), **buffers):
    """The compiled PrimFunc with this body; a buffer is given as ``(shape, dtype)``."""
    lines = ["@T.prim_func", f"def f({', '.join(f'p{n}: T.handle' for n in buffers)}):"]
    lines += [f"    {s} = T.int64()" for s in symbols]
    for name, (shape, dtype) in buffers.items():
        lines.append(f'    {name} = T.match_buffer(p{name}, {shape}, "{dtype}")')
    text = "\n".join([*lines, indent(dedent(body), "    ")])
    return relax.build(from_source(text))["f"]


def result(function, *args, dtype="float32", shape=None, fill=0):
    out = np.full(args[0].shape if shape is None else shape, fill, dtype)
    function(*args, out)
    return out
