"""Models as classes: parameters and their paths, functions of them, layers against PyTorch."""

import numpy as np
import pytest
from built import fill, random

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
    "convolution of sequences": (
        nn.Conv1D(4, 6, 3, padding=1),
        lambda t: t.nn.Conv1d(4, 6, 3, padding=1),
        (2, 4, 7),
    ),
    "convolution of volumes": (
        nn.Conv3D(2, 3, 2, bias=False),
        lambda t: t.nn.Conv3d(2, 3, 2, bias=False),
        (2, 2, 3, 4, 5),
    ),
    "transposed convolution": (
        nn.ConvTranspose1D(4, 6, 3, stride=2),
        lambda t: t.nn.ConvTranspose1d(4, 6, 3, stride=2),
        (2, 4, 7),
    ),
    "group norm": (nn.GroupNorm(2, 6), lambda t: t.nn.GroupNorm(2, 6), (5, 6, 4)),
    "identity": (nn.Identity(), lambda t: t.nn.Identity(), (5, 6)),
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


class Containers(nn.Module):
    def __init__(self):
        self.lists = nn.ParameterList([nn.Parameter((4,)), nn.Parameter((4,))])
        self.dicts = nn.ParameterDict({"scale": nn.Parameter((4,))})
        self.layers = nn.ModuleDict({"relu": nn.ReLU(), "linear": nn.Linear(4, 4, bias=False)})

    def forward(self, x):
        x = x + self.lists[0] + self.lists[1]
        return self.layers["linear"](self.layers["relu"](x * self.dicts["scale"]))


def test_containers():
    model = Containers()
    names = ["lists.0", "lists.1", "dicts.scale", "layers.linear.weight"]
    mod, params = model.export_tvm({"forward": {"x": nn.spec.Tensor((2, 4))}})
    assert [n for n, _ in params] == names
    assert mod["forward"].attrs == {"global_symbol": "forward", "num_input": 1}
    a, b, scale, weight = (v.numpy() for v in fill(model))
    x = random(2, 4)
    wanted = np.maximum((x + a + b) * scale, 0) @ weight.T
    got = relax.build(mod)["forward"](x, a, b, scale, weight).numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    model.lists.append(nn.Parameter((2,)))
    assert len(model.lists) == 3 and list(model.layers) == ["relu", "linear"]
    for wrong in (
        lambda: nn.ParameterList([1]),
        lambda: nn.ModuleDict({"a": nn.Parameter((2,))}),
        lambda: nn.ParameterDict({1: nn.Parameter((2,))}),
    ):
        with pytest.raises(TypeError, match="expected a"):
            wrong()


def test_dtypes_and_missing_values():
    model = nn.Linear(2, 3)
    model.to("float16")
    assert [p.dtype for p in model.parameters()] == ["float16"] * 2
    missing, unknown = model.load_state_dict({"other": 0}, strict=False)
    assert (missing, unknown) == (["bias", "weight"], ["other"])
    fill_one = random(3).astype("float16")
    model.load_state_dict({"bias": fill_one}, strict=False)
    with pytest.raises(ValueError, match="expected a parameter without values, got one of float16"):
        model.to("float32")


class ToFloat32(nn.Mutator):
    def visit_param(self, name, node):
        return nn.Parameter(node.shape, "float32")

    def visit_module(self, name, node):
        return nn.SiLU() if isinstance(node, nn.ReLU) else self.visit(name, node)


def test_parts_of_models_are_replaced():
    model = nn.ModuleList([nn.ReLU(), nn.ModuleDict({"a": nn.Linear(2, 2, dtype="float16")})])
    new = ToFloat32().visit("", model)
    assert isinstance(new[0], nn.SiLU)
    assert [(n, p.dtype) for n, p in new.named_parameters()] == [
        ("1.a.weight", "float32"),
        ("1.a.bias", "float32"),
    ]


def test_functions_on_values():
    class Model(nn.Module):
        def forward(self, x, pair):
            first, second = nn.op.chunk(x, 2, dim=1)
            joined = nn.op.concat([nn.op.unsqueeze(first, 0), nn.op.unsqueeze(second, 0)], dim=0)
            return nn.op.full([2], 3), nn.op.reshape(joined, 2, -1), nn.add(pair[0], pair[1])

    tensor = nn.spec.Tensor((2, 6))
    mod, _ = Model().export_tvm({"forward": {"x": tensor, "pair": (tensor, tensor)}})
    x = random(2, 6)
    full, joined, total = relax.build(mod)["forward"](x, (x, x))
    np.testing.assert_array_equal(full.numpy(), [3, 3])
    wanted = np.stack([x[:, :3], x[:, 3:]]).reshape(2, -1)
    np.testing.assert_array_equal(joined.numpy(), wanted)
    np.testing.assert_allclose(total.numpy(), x + x, 1e-6)
    with pytest.raises(AttributeError, match="expected an operator of models, got 'unknown'"):
        nn.op.unknown


def test_layers_of_diffusion_models():
    model = nn.TimestepEmbedding(8, 6, cond_proj_dim=3)
    spec = {"sample": nn.spec.Tensor((5, 8)), "condition": nn.spec.Tensor((5, 3))}
    mod, _ = model.export_tvm({"forward": spec})
    w1, b1, condition, w2, b2 = (v.numpy() for v in fill(model))
    x, c = random(5, 8), random(5, 3)
    hidden = (x + c @ condition.T) @ w1.T + b1
    wanted = (hidden / (1 + np.exp(-hidden))) @ w2.T + b2
    got = relax.build(mod)["forward"](x, c, w1, b1, condition, w2, b2).numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    mod, _ = nn.Timesteps(4).export_tvm({"forward": {"x": nn.spec.Tensor((3,))}})
    got = relax.build(mod)["forward"](np.arange(3, dtype="float32")).numpy()
    angles = np.arange(3)[:, None] * np.array([[1, 1e-4]])
    np.testing.assert_allclose(got, np.hstack([np.sin(angles), np.cos(angles)]), atol=1e-6)
    attention = nn.Attention(8, heads=2, dim_head=4, norm_num_groups=2)
    mod, params = attention.export_tvm({"forward": {"hidden_states": nn.spec.Tensor((1, 5, 8))}})
    got = relax.build(mod)["forward"](random(1, 5, 8), *fill(attention))
    assert got.shape == (1, 5, 8) and len(params) == 7


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
            r"expected shapes of 'relax.matmul' to be compatible, got \(1, 5\) and \(6, 8\)",
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
