"""Models as classes: parameters and their paths, export, layers against PyTorch."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.relax.frontend import nn
from xrelax.script import relax as R


class MLP(nn.Module):
    def __init__(self, bias=True):
        self.layers = nn.ModuleList([nn.Linear(6, 8, bias), nn.ReLU(), nn.Linear(8, 3, bias)])

    def forward(self, x):
        return self.layers(x)

    def twice(self, x, y):
        return self.forward(x), (self.forward(y), x)


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def fill(model):
    for i, parameter in enumerate(model.parameters()):
        parameter.data = random(*parameter.shape, seed=i + 1)
    return [p.data for p in model.parameters()]


def test_parameters():
    model = MLP()
    assert [n for n, _ in model.named_parameters()] == [
        "layers.0.weight",
        "layers.0.bias",
        "layers.2.weight",
        "layers.2.bias",
    ]
    assert [p.shape for p in model.parameters()] == [(8, 6), (8,), (3, 8), (3,)]
    assert len(list(MLP(bias=False).parameters())) == 2
    shared = nn.ModuleList([nn.Linear(2, 2)] * 2)
    assert [n for n, _ in shared.named_parameters()] == ["0.weight", "0.bias"]


def test_export():
    model = MLP()
    tensor = nn.spec.Tensor(("n", 6), "float32")
    mod, params = model.export_tvm({"forward": {"x": tensor}, "twice": {"x": tensor, "y": tensor}})
    assert isinstance(mod, tvm.IRModule) and params == list(model.named_parameters())
    names = [p.name_hint for p in mod["forward"].params]
    assert names == ["x", *(n for n, _ in params)]
    values = fill(model)
    x, y = random(5, 6), random(2, 6, seed=9)
    ex = relax.build(mod)

    def wanted(data):
        w0, b0, w1, b1 = (v.numpy() for v in values)
        return np.maximum(data @ w0.T + b0, 0) @ w1.T + b1

    np.testing.assert_allclose(ex["forward"](x, *values).numpy(), wanted(x), rtol=1e-4, atol=1e-5)
    first, (second, third) = ex["twice"](x, x, *values)
    for result in (first, second):
        np.testing.assert_allclose(result.numpy(), wanted(x), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(third.numpy(), x)
    bound = relax.transform.BindParams("forward", model.state_dict())(mod)
    assert [p.name_hint for p in bound["forward"].params] == ["x"]
    result = relax.build(bound)["forward"](y).numpy()
    np.testing.assert_allclose(result, wanted(y), rtol=1e-4, atol=1e-5)


def test_struct_infos_are_specs():
    mod, _ = MLP().export_tvm({"forward": {"x": R.Tensor((1, 6), "float32")}})
    assert mod["forward"].params[0].struct_info.shape == (1, 6)
    assert nn.spec.Int() == relax.PrimStructInfo("int64")


LAYERS = {
    "linear": (nn.Linear(6, 4), lambda t: t.nn.Linear(6, 4), (5, 6)),
    "linear without bias": (
        nn.Linear(6, 4, bias=False),
        lambda t: t.nn.Linear(6, 4, bias=False),
        (2, 5, 6),
    ),
    "convolution": (
        nn.Conv2D(4, 6, 3, stride=2, padding=1, groups=2),
        lambda t: t.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2),
        (2, 4, 7, 8),
    ),
    "layer norm": (nn.LayerNorm(6), lambda t: t.nn.LayerNorm(6), (5, 6)),
    "rms norm": (nn.RMSNorm(6), lambda t: t.nn.RMSNorm(6, eps=1e-5), (5, 6)),
    "relu": (nn.ReLU(), lambda t: t.nn.ReLU(), (5, 6)),
    "gelu": (nn.GELU(), lambda t: t.nn.GELU(), (5, 6)),
    "silu": (nn.SiLU(), lambda t: t.nn.SiLU(), (5, 6)),
}


@pytest.mark.parametrize(("layer", "make", "shape"), LAYERS.values(), ids=LAYERS)
def test_layers_against_torch(layer, make, shape):
    torch = pytest.importorskip("torch")
    theirs = make(torch)
    x = random(*shape)
    mod, _ = layer.export_tvm({"forward": {"x": nn.spec.Tensor(shape, "float32")}})
    for i, parameter in enumerate(layer.parameters()):
        parameter.data = random(*parameter.shape, seed=i + 1)
    with torch.no_grad():
        for name, value in theirs.named_parameters():
            ours = dict(layer.named_parameters())[name].data
            value.copy_(torch.from_numpy(ours.numpy()).reshape(value.shape))
        wanted = theirs(torch.from_numpy(x)).numpy()
    got = relax.build(mod)["forward"](x, *(p.data for p in layer.parameters())).numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_embeddings():
    layer = nn.Embedding(7, 3)
    mod, _ = layer.export_tvm({"forward": {"x": nn.spec.Tensor(("n",), "int64")}})
    (table,) = fill(layer)
    x = np.array([0, 6, 3, 3])
    np.testing.assert_array_equal(relax.build(mod)["forward"](x, table).numpy(), table.numpy()[x])


def test_values_are_loaded():
    model, other = MLP(), MLP()
    fill(model)
    other.load_state_dict(model.state_dict())
    assert all(a is b for a, b in zip(model.parameters(), model.parameters(), strict=True))
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(a.data.numpy(), b.data.numpy())


def test_values_of_torch_are_loaded():
    torch = pytest.importorskip("torch")
    layer = nn.Linear(2, 3)
    theirs = torch.nn.Linear(2, 3)
    layer.load_state_dict(dict(theirs.named_parameters()))
    np.testing.assert_array_equal(layer.weight.data.numpy(), theirs.weight.detach().numpy())


class Nothing(nn.Module):
    pass


def set_weight(value):
    nn.Linear(2, 3).weight.data = value


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: set_weight(random(2, 3)),
            r"expected values of shape \(3, 2\) and dtype float32, got \(2, 3\) and float32",
        ),
        (
            lambda: nn.Linear(2, 3).load_state_dict({"weight": random(3, 2)}),
            "expected values of weight, bias, got no 'bias'",
        ),
        (
            lambda: nn.ReLU().load_state_dict({"weight": random(3, 2)}),
            "got an unknown 'weight'",
        ),
        (
            lambda: nn.RMSNorm(3).load_state_dict({"weight": random(4)}),
            r"parameter 'weight': expected values of shape \(3,\) and dtype float32, got \(4,\)",
        ),
        (
            lambda: MLP().export_tvm({"backward": {}}),
            "expected a method of 'MLP', got 'backward'",
        ),
        (
            lambda: MLP().export_tvm({"forward": {"x": nn.spec.Tensor((1, 5), "float32")}}),
            r"data \(…, k\) and weight \(m, k\) of 'relax.linear' to be compatible, got \(1, 5\)",
        ),
        (
            lambda: Nothing().export_tvm({"forward": {}}),
            "expected a method of 'Nothing', got 'forward'",
        ),
    ],
)
def test_errors(wrong, message):
    with pytest.raises(ValueError, match=message) as error:
        wrong()
    assert "\n" not in str(error.value)
