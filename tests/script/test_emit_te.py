"""Kernels and Python's operators on tensors in scripts."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, te, topi
from xrelax.script import ScriptError, from_source


def scaled(x, factor, power=1):
    return te.compute(x.shape, lambda i: x[i] * factor**power, name="scaled")


NAMES = {"topi": topi, "scaled": scaled}


def module(body: str):
    return from_source(
        f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        {body}
""",
        NAMES,
    )


def test_kernels_of_functions():
    kernel = "R.emit_te(scaled, {}, 3, power=2)"
    mod = module(f"return R.emit_te(topi.add, {kernel.format('x')}, {kernel.format('y')})")
    assert {v.name_hint for v in mod.functions} == {"main", "scaled", "add"}
    assert from_source(mod.script()).script() == mod.script()
    x, y = np.arange(4, dtype="float32"), np.ones(4, "float32")
    np.testing.assert_array_equal(relax.build(mod)(x, y).numpy(), 9 * x + 9 * y)


def test_names_of_kernels():
    mod = module(
        'return R.emit_te(scaled, R.emit_te(scaled, x, 2), 3, primfunc_name_hint="scaled")'
    )
    assert {v.name_hint for v in mod.functions} == {"main", "scaled", "scaled1"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-x", lambda x, y: -x),
        ("x < y", np.less),
        ("x >= 2", lambda x, y: x >= 2),
        ("x // 2 + x % 2", lambda x, y: x // 2 + x % 2),
        ("x ** y", np.power),
        ('(x > y).astype("float32")', lambda x, y: (x > y).astype("float32")),
    ],
)
def test_operators(text, expected):
    x, y = np.arange(4, dtype="float32"), np.array([3, 2, 1, 0], "float32")
    found = relax.build(module(f"return {text}"))(x, y).numpy()
    np.testing.assert_allclose(found, expected(x, y), rtol=1e-6)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return R.emit_te()", "expected a function of R.emit_te, got none"),
        ("return R.emit_te(scaled, x, 2, factr=1)", "factr"),
    ],
)
def test_errors(body, message):
    with pytest.raises(ScriptError, match=message):
        module(body)


def test_functions_outside_of_modules():
    text = (
        "@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    return R.emit_te(scaled, x, 2)\n"
    )
    with pytest.raises(ScriptError, match=r"expected R\.emit_te in a function of a module"):
        from_source(text, NAMES)


def test_names_and_attributes_of_modules():
    mod = module("return -x")
    renamed = mod["main"].with_attr("global_symbol", "other")
    assert tvm.IRModule.from_expr(renamed).get_global_vars()[0].name_hint == "other"
    new = mod.with_attrs({"size": 4, "state": (np.ones(2),)})
    assert new.attrs["size"] == 4 and new.attrs["state"][0].tolist() == [1, 1]
    assert new.without_attr("state").without_attr("size").attrs == mod.attrs == {}


def test_equal_modules_in_any_order():
    first, second = (module(f"return {t}") for t in ("-x", "-x"))
    first["z"] = first["a"] = module("return x + y")["main"]
    second["a"] = second["z"] = module("return x + y")["main"]
    tvm.ir.assert_structural_equal(first, second)
    assert tvm.ir.structural_hash(first) == tvm.ir.structural_hash(second)


def test_an_expression_in_two_functions():
    x = relax.Var("x", relax.TensorStructInfo((4,), "float32"))
    twice = relax.op.add(x, x) * 2
    builder = relax.BlockBuilder()
    for name in ("f", "g"):
        with builder.function(name, [x]):
            builder.emit_func_output(builder.emit(twice))
    executable = relax.build(builder.get())
    values = np.arange(4, dtype="float32")
    for name in ("f", "g"):
        np.testing.assert_array_equal(executable[name](values).numpy(), 4 * values)
    with pytest.raises(ValueError, match="expected a value of 'h', got 'gv1' of 'f'"):
        emitted = builder.get()["f"].body.body
        with builder.function("h", [x]):
            builder.emit_func_output(builder.emit(emitted))
