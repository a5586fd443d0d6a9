"""What is known of a kernel as a function: `PrimFunc.struct_info`."""

from xrelax import relax
from xrelax.script import from_source

KERNEL = """
@T.prim_func
def f(x: T.handle, y: T.Buffer((4,), "uint8"), s: T.uint8, n: T.int64, p: T.handle):
    m = T.int64()
    X = T.match_buffer(x, (m, 2), "float32")
    {}
"""


def test_a_kernel_that_writes():
    func = from_source(KERNEL.format("X[0, 0] = 1.0"))
    info = func.struct_info
    assert str(info.params[0]) == 'R.Tensor((m, 2), dtype="float32")'
    assert [str(p) for p in info.params[1:3]] == [
        'R.Tensor((4,), dtype="uint8")',
        'R.Prim("uint8")',
    ]
    assert [str(p) for p in info.params[3:]] == ['R.Prim("int64")', "R.Object"]
    assert str(info.ret) == "R.Tuple" and not info.purity
    assert func.ty == info and str(func.params[4]) == "p"


def test_a_kernel_with_a_result_is_pure():
    info = from_source(KERNEL.format("return s * y[0]")).struct_info
    assert info.ret == relax.PrimStructInfo("uint8") and info.purity
