"""Graphs that state their memory: TVM's passes in order, and plans that overwrite tensors."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.reference.check import CheckError
from xrelax.script import ScriptError, from_source

CHAIN = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def halve(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(0.5)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        storage = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        Module.halve(x, a)
        b = R.memory.alloc_tensor(storage, OFFSET, R.shape([4]), "float32")
        Module.halve(x, b)
        y = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
        Module.halve(a, y)
        z = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
        Module.halve(b, z)
        w = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
        Module.halve(z, w)
        return (y, w)
"""


def test_passes_in_order():
    transform = relax.transform
    module = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 3), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.matmul(R.exp(x), w)
            b = R.reshape(R.nn.relu(a), (3, n))
            c = R.split(R.nn.softmax(b), 3, axis=0)
            d = R.add(c[0], c[2])
            R.output(d)
        return d
""")
    arrays = [np.random.default_rng(1).normal(size=s).astype("float32") for s in ((5, 3), (3, 3))]
    expected = relax.build(module)(*arrays).numpy()
    for step in (
        transform.LegalizeOps(),
        transform.RewriteDataflowReshape(),
        transform.ToNonDataflow(),
        transform.RemovePurityChecking(),
        transform.CallTIRRewrite(),
        transform.StaticPlanBlockMemory(),
        transform.LowerAllocTensor(),
        transform.KillAfterLastUse(),
    ):
        module = step(module)
        assert from_source(module.script()).script() == module.script()
    assert module.script().count("R.memory.alloc_storage") < module.script().count("alloc_tensor")
    found = relax.build(module, check=True)(*arrays).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_storage_of_two_tensors():
    module = from_source(CHAIN.replace("OFFSET", "16"))
    y, w = relax.build(module, check=True)(np.full(4, 8, "float32"))
    assert (y.numpy() == 2).all() and (w.numpy() == 1).all()


def test_a_tensor_that_is_overwritten_early():
    with pytest.raises(CheckError, match="convert-relax-to-rt"):
        relax.build(from_source(CHAIN.replace("OFFSET", "8")), check=True)


DYNAMIC = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([24]), R.prim_value(0), "global", "uint8")
        y = R.memory.alloc_tensor(STORAGE, OFFSET, R.shape([n]), "float32")
        return y
"""


def test_sizes_that_only_a_call_knows():
    module = DYNAMIC.replace("STORAGE", "storage").replace("OFFSET", "4")
    built = relax.build(from_source(module))
    assert built(np.zeros(5, "float32")).shape == (5,)
    with pytest.raises(ValueError, match="'y' in 'main' within the storage of 24 bytes, got 28"):
        built(np.zeros(6, "float32"))


def test_what_scripts_refuse():
    with pytest.raises(ScriptError, match=r"expected storage, got !relax.tensor<\[n\], f32>"):
        from_source(DYNAMIC.replace("STORAGE", "x").replace("OFFSET", "4"))
    with pytest.raises(ScriptError, match=r"expected R\.prim_value\(value\)"):
        from_source(DYNAMIC.replace("STORAGE", "storage").replace("OFFSET", "R.prim_value()"))
