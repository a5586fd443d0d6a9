"""`export_tvm`: the arguments of functions, integers, packed parameters, and printing."""

import numpy as np
import pytest
from built import fill, random

import xrelax as tvm
from xrelax import relax
from xrelax.ir import assert_structural_equal
from xrelax.relax.frontend import nn
from xrelax.script import from_source


class Rows(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(4, 3)

    def forward(self, x, count):
        return self.linear(x), self.filled(x, count)

    def filled(self, x, count):
        return nn.op.full([count, 2], 1.5)


INPUTS = {"count": int, "x": nn.spec.Tensor(("n", 4))}


class Total(nn.Module):
    def forward(self, x, *rest):
        for y in rest:
            x = x - y
        return x


def test_the_rest_of_the_arguments_is_in_the_order_of_the_spec():
    vector = nn.spec.Tensor((2,))
    module, _ = Total().export_tvm({"forward": {"rest": vector, "x": vector, "a": vector}})
    assert [p.name_hint for p in module["forward"].params] == ["x", "rest", "a"]
    values = (np.full(2, n, np.float32) for n in (7, 2, 1))
    np.testing.assert_array_equal(relax.build(module)["forward"](*values).numpy(), 4)


@pytest.mark.parametrize("integer", [int, "int", nn.spec.Int, nn.spec.Int()])
def test_integers_are_dims_in_the_order_of_the_method(integer):
    inputs = {"count": integer, "x": nn.spec.Tensor(("n", 4)), "$": {"param_mode": "none"}}
    mod, _ = Rows().export_tvm({"filled": inputs})
    assert [p.name_hint for p in mod["filled"].params] == ["x", "count"]
    result = relax.build(mod)["filled"](random(2, 4), (3,))
    np.testing.assert_array_equal(result.numpy(), np.full((3, 2), 1.5))


def test_integers_are_the_same_symbol_as_dims_of_their_name():
    inputs = {"x": nn.spec.Tensor(("count", 4)), "count": int, "$": {"param_mode": "none"}}
    filled = relax.build(Rows().export_tvm({"filled": inputs})[0])["filled"]
    assert filled(random(2, 4), (2,)).shape == (2, 2)
    with pytest.raises(ValueError, match="expected symbol 'count' to be 2 as in argument 'x', go"):
        filled(random(2, 4), (3,))


def test_parameters_are_packed():
    model = Rows()
    mod, params = model.export_tvm({"forward": {**INPUTS, "$": {"param_mode": "packed"}}})
    assert [n for n, _ in params] == ["linear.weight", "linear.bias"]
    assert [p.name_hint for p in mod["forward"].params] == ["x", "count", "packed_params"]
    assert mod["forward"].attrs["num_input"] == 2
    x, (weight, bias) = random(2, 4), fill(model)
    result, _ = relax.build(mod)["forward"](x, (3,), (weight, bias))
    wanted = x @ weight.numpy().T + bias.numpy()
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("mode", "names", "result"),
    [
        ("plain", ["x", "_io"], "R.Tuple(R.Object))"),
        ("packed", ["x", "packed_effects"], "R.Tuple(R.Object))"),
        ("none", ["x"], 'dtype="float32")'),
    ],
)
def test_modes_of_effects(mode, names, result):
    spec = {"forward": {"x": nn.spec.Tensor((2,)), "$": {"effect_mode": mode}}}
    function = nn.ReLU().export_tvm(spec, debug=True)[0]["forward"]
    assert [p.name_hint for p in function.params] == names
    assert function.attrs["num_input"] == len(names)
    assert str(function.ret_struct_info).endswith(result)


def test_debug_models_pass_on_the_state_of_printing():
    mod, _ = nn.ReLU().export_tvm({"forward": {"x": nn.spec.Tensor((2,))}}, debug=True)
    assert [p.name_hint for p in mod["forward"].params] == ["x", "_io"]
    assert str(mod["forward"].ret_struct_info).endswith("R.Tuple(R.Object))")
    assert "_initialize_effect" in mod


class Printing(nn.Module):
    def forward(self, x, n):
        nn.op.print_(x)
        y = nn.op.relu(x)
        nn.op.debug_func("tests.nn.seen", y, 1, 2.0, "text", n)
        nn.op.print_(x)
        return nn.op.permute(y, [1, 0]), nn.op.empty([n])


def test_models_print_in_order(capsys):
    seen = []
    tvm.register_func("tests.nn.seen", lambda *args: seen.append(args), override=True)
    spec = {"forward": {"x": nn.spec.Tensor((1, 2)), "n": int}}
    mod, _ = Printing().export_tvm(spec, debug=True)
    assert_structural_equal(from_source(mod.script()), mod)
    ex = relax.build(mod)
    x = np.array([[-1, 3]], "float32")
    (y, empty), states = ex["forward"](x, (7,), *ex["_initialize_effect"]())
    np.testing.assert_array_equal(y.numpy(), [[0], [3]])
    assert empty.shape == (7,) and len(states) == 1
    ((line, tensor, *rest),) = seen
    assert line.rpartition(":")[0] == __file__
    np.testing.assert_array_equal(tensor.numpy(), [[0, 3]])
    assert rest == [1, 2.0, "text", 7]
    printed = capsys.readouterr().out
    assert printed.count("shape = (1, 2), dtype = float32, data =\n[[-1.  3.]]") == 2
    with pytest.raises(ValueError, match="expected a model that is exported with debug=True for"):
        Printing().export_tvm(spec)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: Rows().export_tvm({"forward": {"y": int}}),
            "expected an argument of 'forward', got 'y'",
        ),
        (
            lambda: Total().export_tvm({"forward": {"y": nn.spec.Tensor((2,))}}),
            "expected 'x' of 'forward' before 'y'",
        ),
        (
            lambda: Rows().export_tvm({"forward": {**INPUTS, "$": {"param_mode": "pack"}}}),
            "expected param_mode and effect_mode of 'forward' to be one of plain, packed, none, "
            "got param_mode 'pack'",
        ),
        (
            lambda: Rows().export_tvm({"forward": {**INPUTS, "$": {"param_mode": "none"}}}),
            "expected 'linear.weight' among the parameters of 'forward', got x, count",
        ),
    ],
)
def test_errors(wrong, message):
    with pytest.raises(ValueError, match=message) as error:
        wrong()
    assert "\n" not in str(error.value)
