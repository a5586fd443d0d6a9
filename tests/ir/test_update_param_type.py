"""`relax.transform.UpdateParamType`: the types of results follow from those of parameters."""

import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source

MODULE = """
@I.ir_module
class M:
    @R.function(private=True)
    def project(x: R.Tensor((16,), "float32"), w: R.Tensor((32, 16), "float32")):
        return R.matmul(w, x)

    @R.function
    def main(x: R.Tensor((16,), "float32"), w: R.Tensor((32, 16), "float32")):
        cls = M
        with R.dataflow():
            y = R.nn.relu(cls.project(x, w))
            R.output(y)
        return y
"""


def update(shape):
    def new_type(var):
        return relax.TensorStructInfo(shape, "float32") if var.name_hint == "w" else None

    return relax.transform.UpdateParamType(new_type)(from_source(MODULE))


def test_types_follow():
    expected = from_source(MODULE.replace("32, 16", "64, 16"))
    tvm.ir.assert_structural_equal(update((64, 16)), expected)


def test_other_dtypes():
    def half(var):
        return relax.TensorStructInfo(var.struct_info.shape, "float16")

    updated = relax.transform.UpdateParamType(half)(from_source(MODULE))
    expected = from_source(MODULE.replace("float32", "float16"))
    tvm.ir.assert_structural_equal(updated, expected)


def test_operators_refuse_other_types():
    with pytest.raises(RuntimeError, match=r"'relax\.matmul' to be compatible, got \(64, 8\)"):
        update((64, 8))
