"""Objects of Python in compiled graph functions, and all that registered functions can get."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax.ir.equality import assert_structural_equal
from xrelax.reference.check import CheckError
from xrelax.script import from_source

STEP = """
@I.ir_module
class M:
    @R.function(pure=False)
    def start(x: R.Tensor(("n", 2), "float32")):
        cache = R.call_packed(
            "vm.builtin.attention_kv_cache_create", x, R.shape([8, 2]), -1, sinfo_args=(R.Object,)
        )
        return cache

    @R.function(pure=False)
    def step(x: R.Tensor((1, 2), "float32"), cache: R.Object, size: R.Shape(["m"])):
        m = T.int64()
        cls = M
        y = cls.twice(x)
        new = R.call_packed(
            "vm.builtin.attention_kv_cache_append", cache, y, sinfo_args=(R.Object,)
        )
        rows = R.call_packed(
            "vm.builtin.attention_kv_cache_view", new, R.shape([m, 2]),
            sinfo_args=(R.Tensor((m, 2), "float32"),),
        )
        return (R.sum(rows, axis=[0]), new)

    @R.function(private=True)
    def twice(x: R.Tensor((1, 2), "float32")):
        return R.add(x, x)
"""


def test_a_cache_is_created_changed_and_returned():
    module = from_source(STEP)
    assert_structural_equal(from_source(module.script()).op, module.op)
    vm = tvm.relax.VirtualMachine(tvm.build(module))
    cache = vm["start"](np.ones((3, 2), "float32"))
    assert type(cache).__name__ == "AttentionKVCache"
    for count in (4, 5):
        total, same = vm["step"](np.ones((1, 2), "float32"), cache, (count,))
        assert same is cache
        np.testing.assert_array_equal(total.numpy(), np.full(2, 3 + 2 * (count - 3)))
    with pytest.raises(ValueError, match=r"expected shape \(6, 2\) of the cache, got \(9, 2\)"):
        vm["step"](np.ones((1, 2), "float32"), cache, (9,))


def test_checks_have_no_objects_to_pass():
    message = "expected arguments that can be drawn, got an object as 'cache'"
    with pytest.raises(CheckError, match=message):
        tvm.build(from_source(STEP), check=True)


ARGUMENTS = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 2), "float32"), k: R.Prim("int64"), s: R.Prim("float32")):
        n = T.int64()
        label = R.str("max")
        y = R.call_packed(
            "tests.see", x, R.shape([n + 1, 4]), 3, k, s, label, (x, (R.shape([n]), "min")),
            R.dtype("float16"), sinfo_args=(R.Tensor((n, 2), "float32"),)
        )
        z = R.call_dps_packed("tests.fill", (y, R.shape([n])), out_sinfo=R.Tensor((n,), "float32"))
        return (z, label)
"""


@pytest.mark.parametrize("check", [False, True])
def test_arguments_that_are_no_tensors(check):
    seen = []

    def see(x, *others):
        seen.append((x.numpy(), *others))
        return x

    tvm.register_func("tests.see", see, override=True)
    tvm.register_func(
        "tests.fill", lambda y, s, z: z.copyfrom(y.numpy()[:, 0] + s[0]), override=True
    )
    module = from_source(ARGUMENTS)
    assert_structural_equal(from_source(module.script()).op, module.op)
    main = tvm.build(module, check=check)["main"]
    seen.clear()
    x = np.arange(6, dtype="float32").reshape(3, 2)
    z, label = main(x, 7, 2.5)
    first, shape, three, k, s, text, (again, (dims, nested)), dtype = seen[0]
    np.testing.assert_array_equal(first, x)
    np.testing.assert_array_equal(again.numpy(), x)
    assert (shape, three, k, s, text, dims, nested, dtype) == (
        (4, 4), 3, 7, 2.5, "max", (3,), "min", "float16",
    )  # fmt: skip
    np.testing.assert_array_equal(z.numpy(), x[:, 0] + 3)
    assert label == "max"


PASSED_ON = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), a: R.Object, b: R.Tuple(R.Object, R.Tensor((2,), "float32"))):
        cls = M
        b0 = b[0]
        if c:
            o = cls.same((a, b0))
        else:
            o = cls.same((b0, a))
        first = o[0]
        return (first, b)

    @R.function(pure=False)
    def same(t: R.Tuple(R.Object, R.Object)):
        u = t[0]
        R.call_packed("tests.note", u)
        return (u, u)
"""


def test_branches_tuples_and_functions_pass_objects_on():
    notes = []
    tvm.register_func("tests.note", notes.append, override=True)
    main = tvm.build(from_source(PASSED_ON))["main"]
    a, b, x = object(), {"b": 1}, np.zeros(2, "float32")
    for condition, wanted in ((True, a), (False, b)):
        first, (second, tensor) = main(np.array(condition), a, (b, x))
        assert first is wanted and second is b and notes.pop() is wanted
        np.testing.assert_array_equal(tensor.numpy(), x)


NUMBERS = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), o: R.Object):
        label = R.str("max")
        p = R.call_packed("tests.number", o, label, sinfo_args=(R.Prim("bfloat16"),))
        q = R.call_packed("tests.number", o, label, sinfo_args=(R.Prim("int8"),))
        y = R.call_packed("tests.add", x, p, q, sinfo_args=(R.Tensor((2,), "float32"),))
        return y
"""


def test_numbers_that_registered_functions_return():
    tvm.register_func("tests.number", lambda o, label: o[label], override=True)
    tvm.register_func("tests.add", lambda x, p, q: x.numpy() + p + q, override=True)
    main = tvm.build(from_source(NUMBERS))["main"]
    x, out = np.ones(2, "float32"), np.zeros(2, "float32")
    assert main(x, {"max": -3}, out=out) is out  # objects are passed with `out`, too
    np.testing.assert_array_equal(out, -5)
    for wrong in (2.5, 128):
        with pytest.raises(ValueError, match=f"to return a number of int8, got {wrong}"):
            main(x, {"max": wrong})
