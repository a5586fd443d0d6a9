"""`build(check=True)` accepts what is right: any dtype, data as indices, empty tensors."""

import pytest

from xrelax import relax
from xrelax.script import from_source

RIGHT = {
    "bfloat16": """
@R.function
def main(x: R.Tensor(("n", 3), "bfloat16"), y: R.Tensor((3, 4), "bfloat16")):
    return R.matmul(R.add(x, x), y)
""",
    "an index into a dim of 1": """
@T.prim_func
def main(A: T.Buffer((1, 3), "float32"), g: T.handle, o: T.handle):
    n = T.int64()
    G = T.match_buffer(g, (n,), "int32")
    O = T.match_buffer(o, (n,), "float32")
    for i in range(n):
        O[i] = A[G[i], 2]
""",
    "an index into a dim of 2": """
@T.prim_func
def main(A: T.Buffer((2,), "float32"), g: T.handle, o: T.handle):
    n = T.int64()
    G = T.match_buffer(g, (n,), "int32")
    O = T.match_buffer(o, (n,), "float32")
    for i in range(n):
        O[i] = A[G[i]]
""",
    "division by data": """
@T.prim_func
def main(a: T.handle, b: T.handle, o: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "int32")
    B = T.match_buffer(b, (n,), "int32")
    O = T.match_buffer(o, (n,), "int32")
    for i in range(n):
        O[i] = A[i] // B[i]
""",
    "an index parameter": """
@T.prim_func
def main(x: T.handle, n: T.int64, o: T.handle):
    X = T.match_buffer(x, (n,), "float32")
    O = T.match_buffer(o, (n,), "float32")
    for i in range(n):
        O[i] = X[i]
""",
    "windows over a border": """
@R.function
def main(x: R.Tensor((1, 8, 8, 8), "float32")):
    return R.nn.avg_pool2d(x, pool_size=(3, 3), padding=(1, 1), count_include_pad=True)
""",
    "a border alone": """
@R.function
def main(x: R.Tensor((0, 40), "float32")):
    return R.nn.pad(x, pad_width=(1, 1, 1, 20), pad_value=2.0)
""",
    "no elements": """
@R.function
def main(x: R.Tensor((0, "n"), "float32"), w: R.Tensor(("n", 3), "float32")):
    return R.add(R.matmul(x, w), R.const(1.0, "float32"))
""",
    "empty values that live at once": """
@R.function
def main(x: R.Tensor((0, "n"), "float32")):
    with R.dataflow():
        y = R.add(x, x)
        z = R.nn.relu(y)
        w = R.multiply(z, y)
        R.output(w)
    return R.subtract(w, x)
""",
    "a call that returns several values": """
@I.ir_module
class Module:
    @R.function
    def pair(x: R.Tensor(("n",), "float32")):
        return (R.add(x, x), x)

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("k",), "float32")):
        a = Module.pair(x)
        b = Module.pair(y)
        return (a[0], b[1], a[1])
""",
}


@pytest.mark.parametrize("kind", RIGHT)
def test_what_is_right_is_accepted(kind):
    assert "main" in relax.build(from_source(RIGHT[kind]), check=True)
