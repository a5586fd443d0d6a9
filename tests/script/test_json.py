"""Programs and types as JSON."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source
from xrelax.script import relax as R

MODULE = """
@I.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                Y[vi] = X[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(Module.double, (x,), out_sinfo=R.Tensor((4,), "float32"))
        return R.add(y, w)
"""


def test_a_module_with_constants_is_loaded_as_it_was():
    w = relax.const(np.arange(4, dtype="float32"))
    mod = from_source(MODULE, {"w": w})
    loaded = tvm.ir.load_json(tvm.ir.save_json(mod))
    tvm.ir.assert_structural_equal(loaded, mod)
    kernel = tvm.ir.load_json(tvm.ir.save_json(mod["double"]))
    tvm.ir.assert_structural_equal(kernel, mod["double"])


@pytest.mark.parametrize(
    "annotation",
    [
        R.Tensor((1, "n"), "float32"),
        R.Tensor(ndim=2),
        R.Tuple(R.Shape(ndim=2), R.Prim("int64"), R.Any),
        R.Callable([R.Tensor((4,), "float16")], R.Any),
    ],
)
def test_types_are_loaded_as_they_were(annotation):
    info = annotation.as_struct_info()
    assert tvm.ir.load_json(tvm.ir.save_json(info)) == info


def test_what_cannot_be_saved_or_loaded():
    with pytest.raises(TypeError, match="expected a module, a function or a type, got int"):
        tvm.ir.save_json(4)
    for text in (
        "{}",
        "3",
        "not JSON",
        '{"kind": "foo", "text": "x"}',
        '{"kind": "program", "text": 3}',
        '{"kind": "program", "text": "x = "}',
        '{"kind": "type", "text": "!relax.foo"}',
        '{"kind": "type", "text": "i32"}',
    ):
        with pytest.raises(ValueError, match=r"expected JSON of save_json, got '") as caught:
            tvm.ir.load_json(text)
        assert str(caught.value).endswith(repr(text[:40]))


def test_an_ill_formed_module_is_loaded_as_it_was():
    text = MODULE.replace("return R.add(y, w)", 'return R.call_packed("f", y)')
    mod = from_source(text, check_well_formed=False)
    tvm.ir.assert_structural_equal(tvm.ir.load_json(tvm.ir.save_json(mod)), mod)
