"""Small programs that reach every stage, each built with `check=True`, for a process with a fault.

``python probes.py NAME...`` prints one line of JSON: the first that shows the fault, and how.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from xdsl.utils.exceptions import DiagnosticException, VerifyException

import xrelax
from xrelax import relax, tir
from xrelax.reference import CheckError
from xrelax.script import from_source

GRAPHS = {
    "layers": """
@R.function
def main(x: R.Tensor(("n", 24), "float32"), w: R.Tensor((24, 40), "float32"),
         b: R.Tensor((40,), "float32"), v: R.Tensor((17, 40), "float32")):
    with R.dataflow():
        h = R.nn.relu(R.add(R.matmul(x, w), b))
        s = R.nn.softmax(R.matmul(h, R.permute_dims(v)), axis=-1)
        out = R.concat([s, R.multiply(s, R.const(2.0, "float32"))], axis=1)
        R.output(out)
    return out
""",
    "image": """
@R.function
def main(x: R.Tensor((1, 3, 12, 13), "float32"), w: R.Tensor((8, 3, 3, 3), "float32"),
         g: R.Tensor((8,), "float32"), b: R.Tensor((8,), "float32")):
    with R.dataflow():
        c = R.nn.conv2d(x, w, padding=(1, 1))
        n = R.nn.batch_norm(c, g, b, b, R.exp(g), axis=1)[0]
        p = R.nn.max_pool2d(R.nn.relu(n), pool_size=(2, 2), strides=(2, 2))
        out = R.mean(p, axis=[2, 3])
        R.output(out)
    return out
""",
    "attention": """
@R.function
def main(q: R.Tensor((1, 9, 2, 16), "float32"), k: R.Tensor((1, 11, 2, 16), "float32"),
         v: R.Tensor((1, 11, 2, 16), "float32"), g: R.Tensor((32,), "float32")):
    with R.dataflow():
        a = R.nn.attention(q, k, v)
        f = R.reshape(a, (9, 32))
        out = R.nn.layer_norm(f, g, g, axes=[-1])
        R.output(out)
    return out
""",
    "integers": """
@R.function
def main(x: R.Tensor(("n", 6), "int32"), y: R.Tensor(("n", 6), "int32"),
         i: R.Tensor((5,), "int64")):
    with R.dataflow():
        t = R.take(R.permute_dims(R.add(x, R.multiply(y, y))), R.const([3, 0, 5], "int64"), axis=0)
        m = R.max(t, axis=1)
        c = R.astype(R.greater(x, y), "int32")
        out = (m, R.sum(c), R.argmax(x, axis=1), R.cumsum(y, axis=0))
        R.output(out)
    return out
""",
    "slices": """
@R.function
def main(x: R.Tensor((7, 10), "float32"), c: R.Tensor((7, 10), "bool")):
    with R.dataflow():
        a = R.split(x, 2, axis=1)
        s = R.strided_slice(x, [0, 1], [6, 1], [0, 10], [-2, 3])
        out = (R.where(c, x, R.negative(x)), R.add(a[0], a[1]), s, R.flip(x, axis=1),
               R.nn.pad(x, (1, 2, 0, 3)), R.tile(s, (2, 2)), R.sort(x, axis=1))
        R.output(out)
    return out
""",
    "halves": """
@R.function
def main(x: R.Tensor((6, 33), "float16"), w: R.Tensor((33, 20), "float16")):
    return R.nn.gelu(R.matmul(x, w))
""",
    "branches": """
@R.function
def main(x: R.Tensor(("n",), "float32"), p: R.Tensor((), "bool")):
    y = R.sigmoid(x)
    if p:
        z = R.exp(y)
    else:
        z = R.log(y)
    return R.add(z, y)
""",
}

KERNEL = """
@T.prim_func
def main(A: T.Buffer((20, 36), "float32"), B: T.Buffer((36, 28), "float32"),
         C: T.Buffer((20, 28), "float32")):
    S = T.alloc_buffer((20, 36), "float32")
    D = T.alloc_buffer((20, 28), "float32")
    for i, k in T.grid(20, 36):
        with T.block("S"):
            vi, vk = T.axis.remap("SS", [i, k])
            S[vi, vk] = A[vi, vk] * T.float32(2)
    for i, j, k in T.grid(20, 28, 36):
        with T.block("D"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                D[vi, vj] = T.float32(0)
            D[vi, vj] += S[vi, vk] * B[vk, vj]
    for i, j in T.grid(20, 28):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(D[vi, vj], T.float32(0))
"""


def _tile(s: tir.Schedule) -> None:
    d, c = s.get_block("D"), s.get_block("C")
    i, j, k = s.get_loops(d)
    io, ii = s.split(i, [None, 6])
    jo, ji = s.split(j, [None, 8])
    ko, ki = s.split(k, [None, 4])
    s.reorder(io, jo, ko, ki, ii, ji)
    s.reverse_compute_at(c, jo)
    s.compute_inline(s.get_block("S"))
    s.decompose_reduction(d, ko)
    s.vectorize(ji)
    s.unroll(ii)
    s.parallel(io)


def _caches(s: tir.Schedule) -> None:
    d = s.get_block("D")
    read = s.cache_read(d, 1, "global")
    write = s.cache_write(d, 0, "global")
    i, j, k = s.get_loops(d)
    io, ii = s.split(i, [None, 8])
    s.reorder(io, j, k, ii)
    s.compute_at(read, io)
    s.reverse_compute_at(write, io)
    s.compute_at(s.get_block("S"), io)
    s.transform_layout(d, ("read", 1), lambda a, b: (b, a))
    s.fuse(*s.get_loops(s.get_block("C")))


def _factors(s: tir.Schedule) -> None:
    _, _, k = s.get_loops(s.get_block("D"))
    outer, _ = s.split(k, [None, 9])
    partial = s.rfactor(outer, 0)
    s.vectorize(s.get_loops(s.get_block("C"))[-1])
    s.parallel(s.get_loops(partial)[0])


def _shapes(s: tir.Schedule) -> None:
    c = s.get_block("C")
    loop = s.fuse(*s.get_loops(c))
    first, _ = s.loop_partition(loop, [100, None])
    s.unroll(s.split(first, [None, 3])[1])
    d = s.get_block("D")
    s.pad_einsum(d, [8, 8, 8])


SCHEDULES: dict[str, Callable[[tir.Schedule], None]] = {
    "tiles": _tile,
    "caches": _caches,
    "factors": _factors,
    "shapes": _shapes,
}

REFUSALS = (DiagnosticException, VerifyException)


def probe(name: str, build: Callable[[], object]) -> dict[str, str] | None:
    """How a program shows that something is wrong, if it does."""
    try:
        build()
    except CheckError as error:
        return {"program": name, "by": "check=True", "message": str(error)}
    except REFUSALS as error:
        return {"program": name, "by": "verifier", "message": str(error)}
    except Exception as error:
        kind = "verifier" if "verify" in str(error) else "exception"
        return {"program": name, "by": kind, "message": f"{type(error).__name__}: {error}"}
    return None


def scheduled(steps: Callable[[tir.Schedule], None]) -> None:
    schedule = tir.Schedule(from_source(KERNEL), debug_mask="all")
    steps(schedule)
    xrelax.build(schedule.mod, check=True)


PROBES: dict[str, Callable[[], object]] = {
    **{n: lambda t=t: relax.build(from_source(t), check=True) for n, t in GRAPHS.items()},
    **{n: lambda steps=s: scheduled(steps) for n, s in SCHEDULES.items()},
}


def main(names: list[str]) -> None:
    """Run the probes of these names, or all; print what the first that shows something shows."""
    found = None
    for name in names or PROBES:
        found = probe(name, PROBES[name])
        if found is not None:
            break
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
