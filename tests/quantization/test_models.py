"""`quantize` on models of PyTorch and ONNX: their calls, their names, and their errors."""

import sys

import numpy as np
import pytest
from small_networks import draw, mlp

import xrelax
from xrelax.quantization.progress import progress

torch = pytest.importorskip("torch", reason="torch is not installed")

DYNAMIC = {"scheme": "dynamic"}


class Network(torch.nn.Module):
    """A convolution with its norm, a part that runs twice, and a dict as result."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.body = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU())
        self.back = torch.nn.Linear(16, 8)

    def forward(self, x, offset=None):
        y = torch.relu(self.norm(self.first(x))).mean((2, 3))
        y = y if offset is None else y + offset
        y = self.back(self.body(y))
        y = self.back(self.body(y))
        return {"features": y, "sums": (y.sum(1), y @ torch.ones(8, 2))}


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network().eval()


def relative(found, wanted):
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


@pytest.mark.parametrize("options", [{}, {"scheme": "percentile"}, DYNAMIC])
def test_a_module_keeps_its_calls(network, options):
    data = [torch.randn(4, 3, 8, 8) for _ in range(2)]
    found = xrelax.quantize(network, data, **options)
    assert 0 < found.error < 2e-2
    run, wanted = xrelax.compile(found), network(data[0])
    for got in (run(data[0]), run(x=data[0]), found.compile()(data[0])):
        assert list(got) == ["features", "sums"] and type(got["sums"]) is tuple
        assert got["features"].dtype == torch.float32
        assert relative(got["features"], wanted["features"].detach()) < 2e-2
        assert relative(got["sums"][1], wanted["sums"][1].detach()) < 2e-2
    assert run.debug(data[0]).first_bad is None


def test_layers_have_the_paths_of_modules(network):
    found = xrelax.quantize(network, [torch.randn(4, 3, 8, 8)])
    names = [layer.name for layer in found.layers]
    assert names[:5] == ["first", "body.0", "back", "body.0 (2)", "back (2)"]
    assert names[5] == "matmul" and found.layers[5].source.startswith(__file__)
    found = xrelax.quantize(network, [torch.randn(4, 3, 8, 8)], skip=["body.*", "matmul"])
    assert [layer.is_quantized for layer in found.layers] == [True, False, True, False, True, False]


@pytest.mark.parametrize("options", [{}, DYNAMIC])
def test_arguments_by_name_and_of_numpy(network, options):
    data = [{"x": draw(4, 3, 8, 8), "offset": draw(8)} for _ in range(2)]
    found = xrelax.quantize(network, data, **options)
    got = xrelax.compile(found)(**data[0])
    wanted = network(**{n: torch.from_numpy(v) for n, v in data[0].items()})
    assert relative(got["features"].numpy(), wanted["features"].detach().numpy()) < 2e-2


@pytest.mark.parametrize("options", [{}, DYNAMIC])
def test_the_batch_may_be_a_symbol(network, options):
    shapes = {"x": {0: torch.export.Dim("batch", min=1, max=64)}}
    data = [torch.randn(n, 3, 8, 8) for n in (3, 5)]
    found = xrelax.quantize(network, data, dynamic_shapes=shapes, **options)
    x = torch.randn(7, 3, 8, 8)
    got = xrelax.compile(found)(x)
    assert relative(got["features"], network(x)["features"].detach()) < 4e-2


def test_an_exported_program_has_its_own_inputs(network):
    data = [torch.randn(4, 3, 8, 8)]
    exported = torch.export.export(network, (data[0],))
    found = xrelax.quantize(exported, data)
    assert found.layers == xrelax.quantize(network, data).layers
    wanted = network(data[0])["features"].detach()
    assert relative(xrelax.compile(found)(data[0])["features"], wanted) < 2e-2


def test_example_inputs_are_enough_for_dynamic_ranges(network):
    x = torch.randn(4, 3, 8, 8)
    found = xrelax.quantize(network, scheme="dynamic", example_inputs=(x,))
    assert relative(xrelax.compile(found)(x)["features"], network(x)["features"].detach()) < 2e-2
    with pytest.raises(ValueError, match="expected calibration_data or example_inputs"):
        xrelax.quantize(network, scheme="dynamic")


def test_random_numbers_are_the_same_in_both_runs():
    class Noisy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(16, 4)

        def forward(self, x):
            return self.layer(x) + torch.randn(4, 4)

    found = xrelax.quantize(Noisy(), [torch.randn(4, 16), torch.randn(4, 16)])
    assert 0 < found.error < 1e-2
    assert xrelax.compile(found, seed=3)(torch.randn(4, 16)).shape == (4, 4)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (
            [torch.ones(n, 3, 8, 8) for n in (4, 2)],
            ValueError,
            "argument 'x' to have shape",
        ),
        ([{"y": torch.ones(4, 3, 8, 8)}], TypeError, "expected example inputs for Network"),
        (torch.ones(4, 3, 8, 8), ValueError, "to be a list of inputs, got one Tensor"),
    ],
)
def test_data_that_does_not_fit(network, data, error, message):
    with pytest.raises(error, match=message) as caught:
        xrelax.quantize(network, data)
    assert "\n" not in str(caught.value)


def test_options_of_other_models_are_refused(network, onnx_model):
    with pytest.raises(TypeError, match=r"expected options of example_inputs, .* got 'opset'"):
        xrelax.quantize(network, [torch.ones(4, 3, 8, 8)], opset=17)
    with pytest.raises(TypeError, match=r"expected options of shape_dict, .* got 'kwargs'"):
        xrelax.quantize(onnx_model, [draw(4, 16)], kwargs={})


@pytest.fixture
def onnx_model():
    """``Relu(x @ weight) @ weight + bias`` with names that are no identifiers."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    parser, numpy_helper = pytest.importorskip("onnx.parser"), onnx.numpy_helper
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[batch, 16] data) => (float[batch, 16] out, float[batch] total) {
            hidden = MatMul(data, weight)
            active = Relu(hidden)
            out = Gemm<transB = 1>(active, weight, bias)
            axes = Constant<value_ints = [1]>()
            total = ReduceSum<keepdims = 0>(out, axes)
        }
    """)
    weights = {"weight": draw(16, 16, scale=0.25), "bias": draw(16)}
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    for node, name in zip(model.graph.node, ("/a/MatMul", "", "/b/Gemm"), strict=False):
        node.name = name
    model.graph.input[0].name = model.graph.node[0].input[0] = "data:0"
    return model


@pytest.mark.parametrize("options", [{}, DYNAMIC])
def test_an_onnx_model_keeps_its_calls(onnx_model, options, tmp_path):
    """Also from a file; the compiled float model in the cache is another one."""
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_model.SerializeToString())
    exact, x = xrelax.compile(path), draw(5, 16)
    data = [x, (draw(3, 16),), {"data:0": draw(2, 16)}, {"data_0": draw(1, 16)}]
    for model in (onnx_model, path):
        found = xrelax.quantize(model, data, **options)
        assert [layer.name for layer in found.layers] == ["/a/MatMul", "/b/Gemm"]
        run = xrelax.compile(found)
        assert type(run) is type(exact)
        assert (run.input_names, run.output_names) == (exact.input_names, exact.output_names)
        got, wanted = (m.run(None, {"data:0": x}) for m in (run, exact))
        assert all(0 < relative(g, w) < 4e-2 for g, w in zip(got, wanted, strict=True))
    found = xrelax.quantize(onnx_model, data, skip=["/b/*"], **options)
    assert [layer.is_quantized for layer in found.layers] == [True, False]


def test_a_model_for_values_of_inputs_is_refused(onnx_model):
    onnx = pytest.importorskip("onnx")
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[4, 16] x, int64[2] shape) => (float[a, b] out) { out = Reshape(x, shape) }
    """)
    with pytest.raises(ValueError, match=r"input \('shape'\): its values must be known; make"):
        xrelax.quantize(model, [(draw(4, 16), np.array([16, 4]))])
    with pytest.raises(ValueError, match="of inputs"):
        xrelax.quantize(onnx_model, [draw(4, 16)], shape_dict={"y": [4, 16]})


def test_bars_are_shown_on_terminals(monkeypatch):
    """One for each step; they need tqdm, which is not required."""
    tqdm = pytest.importorskip("tqdm", reason="tqdm is not installed")
    shown = []
    monkeypatch.setattr(
        tqdm, "tqdm", lambda steps, desc, **options: shown.append((desc, options)) or steps
    )
    xrelax.quantize(mlp(16, 8, 4), [draw(4, 16)], max_error=0)
    assert [name for name, _ in shown] == ["calibrate", "choose layers", "measure layers"]
    assert all(options["disable"] is None for _, options in shown)  # unless it is a terminal
    assert progress([1, 2], "steps", False) == [1, 2] and len(shown) == 3
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert progress([1, 2], "steps", True) == [1, 2]


@pytest.mark.parametrize(
    ("options", "dtypes"), [({}, ["uint8", "float32"]), (DYNAMIC, ["int8"] * 2)]
)
def test_layers_that_no_input_reaches(options, dtypes):
    """The other branch has no ranges, and no errors."""

    class Branches(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = torch.nn.Linear(16, 4), torch.nn.Linear(16, 4)

        def forward(self, x):
            return torch.cond(x.sum() > 0, self.one, self.two, (x,))

    torch.manual_seed(0)
    model, x = Branches().eval(), torch.rand(4, 16)
    found = xrelax.quantize(model, [x], **options)
    assert [layer.dtype for layer in found.layers] == dtypes
    assert found.layers[0].error > 0 and found.layers[1].error is None
    run = xrelax.compile(found)
    for given in (x, -x):
        assert relative(run(given), model(given).detach()) < 2e-2
