"""Operators of quantized programs: ``quantized_decomposed`` of PT2E, and those of torchao."""

import re
from copy import deepcopy

import pytest

import xrelax
from xrelax.inspection import stage_text

torch = pytest.importorskip("torch")
pytest.importorskip("torch.ao.quantization.fx._decomposed")  # registers the operators

OPS = torch.ops.quantized_decomposed
DOTS = "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4"


class Calls(torch.nn.Module):
    """A function as a module, with tensors that are constants of it."""

    def __init__(self, function, *constants):
        super().__init__()
        self.function, self.count = function, len(constants)
        for number, constant in enumerate(constants):
            self.register_buffer(f"constant_{number}", constant)

    def forward(self, *args):
        constants = [getattr(self, f"constant_{n}") for n in range(self.count)]
        return self.function(*args, *constants)


def verify(function, *args, constants=(), **tolerance):
    """Compare compiled code with PyTorch, to the bit without a tolerance; return the model."""
    module = Calls(function, *constants)
    model = xrelax.compile(module, args)
    found, wanted = model(*args), module(*args)
    tolerance = tolerance or {"rtol": 0, "atol": 0}
    torch.testing.assert_close(found, wanted, **tolerance)
    return model


def halves(*shape):
    """Numbers with many that are between two integers when they are divided by 0.25."""
    return torch.randint(-600, 600, shape) / 8


RANGES = [
    (torch.int8, -128, 127, -3),
    (torch.uint8, 0, 255, 131),
    (torch.int8, -127, 127, 0),
    (torch.uint8, 0, 127, 64),
    (torch.int16, -32768, 32767, 5),
    (torch.int32, -1000, 1000, 7),
]


@pytest.mark.parametrize(("dtype", "low", "high", "zero"), RANGES)
def test_one_scale(dtype, low, high, zero):
    """As numbers, and as tensors of one element; integers are equal to PyTorch's."""
    x, scale = halves(5, 33), torch.tensor([0.25], dtype=torch.float64)

    def numbers(x):
        q = OPS.quantize_per_tensor(x, 0.25, zero, low, high, dtype)
        return q, OPS.dequantize_per_tensor(q, 0.25, zero, low, high, dtype)

    def tensors(x, scale, shift):
        q = OPS.quantize_per_tensor.tensor(x, scale, shift, low, high, dtype)
        return q, OPS.dequantize_per_tensor.tensor(q, scale, shift, low, high, dtype)

    verify(numbers, x)
    verify(tensors, x, scale, torch.tensor([zero]))
    verify(tensors, x, constants=(scale, torch.tensor([zero])))


def test_half_precision():
    x = halves(5, 33).to(torch.bfloat16)

    def function(x):
        q = OPS.quantize_per_tensor(x, 0.25, 3, -128, 127, torch.int8)
        out = torch.bfloat16
        return q, OPS.dequantize_per_tensor(q, 0.25, 3, -128, 127, torch.int8, out_dtype=out)

    verify(function, x)


@pytest.mark.parametrize("scale", [0.03, 1 / 3, 7.1])
def test_scales_that_are_no_powers_of_two(scale):
    """Integers may differ by one, where PyTorch multiplies by a rounded reciprocal."""
    x = torch.randn(100, 100)
    verify(lambda x: OPS.quantize_per_tensor(x, scale, 3, -128, 127, torch.int8), x, rtol=0, atol=1)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("dtype", "low", "high", "zero"), RANGES[:4])
def test_a_scale_for_each_channel(axis, dtype, low, high, zero):
    x = halves(3, 4, 5)
    count = x.shape[axis]
    scales = 2.0 ** torch.arange(-2, count - 2)
    shifts = zero + torch.arange(count) % 2

    def function(x, scales, shifts):
        q = OPS.quantize_per_channel(x, scales, shifts, axis, low, high, dtype)
        dequantize = OPS.dequantize_per_channel
        return (
            q,
            dequantize(q, scales, shifts, axis, low, high, dtype),
            dequantize(q, scales, None, axis, low, high, dtype),
        )

    verify(function, x, scales, shifts)
    verify(function, x, constants=(scales, shifts))


def test_floats_as_zero_points():
    x, scales, shifts = halves(3, 4), 2.0 ** torch.arange(3), torch.tensor([0.5, 1.0, -0.25])

    def function(x, scales, shifts):
        q = OPS.quantize_per_channel(x, scales, shifts, 0, -128, 127, torch.int8)
        return OPS.dequantize_per_channel(q, scales, shifts, 0, -128, 127, torch.int8)

    verify(function, x, scales, shifts)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("dtype", "low", "high"), [(torch.uint8, 0, 255), (torch.int8, -128, 127)])
@pytest.mark.parametrize("values", ["both", "positive", "zeros"])
def test_parameters_are_chosen_at_run_time(symmetric, dtype, low, high, values):
    torch.manual_seed(0)
    x = {"both": torch.randn(4, 9), "positive": torch.rand(4, 9), "zeros": torch.zeros(4, 9)}
    choose = OPS.choose_qparams_symmetric if symmetric else OPS.choose_qparams

    def function(x):
        scale, shift = choose.tensor(x, low, high, 1e-5, dtype)
        q = OPS.quantize_per_tensor.tensor(x, scale, shift, low, high, dtype)
        return scale, shift, q

    verify(function, x[values])


def test_a_scale_for_each_row():
    x = torch.randn(2, 3, 16)
    x[1] *= 100
    x[0, 0] = 0

    def function(x):
        scales, shifts = OPS.choose_qparams_per_token(x, torch.int8)
        q = OPS.quantize_per_token(x, scales, shifts, -128, 127, torch.int8)
        return OPS.dequantize_per_token(q, scales, shifts, -128, 127, torch.int8, torch.float32)

    verify(function, x, rtol=1e-6, atol=1e-6)

    def asymmetric(x):
        scales, shifts = OPS.choose_qparams_per_token_asymmetric(x, torch.int8)
        q = OPS.quantize_per_token(x, scales, shifts, -128, 127, torch.int8)
        return OPS.dequantize_per_token(q, scales, shifts, -128, 127, torch.int8, torch.float32)

    largest_step = float((x.amax(-1) - x.amin(-1)).max()) / 255
    verify(asymmetric, x, rtol=0, atol=largest_step * 1.01)


@pytest.mark.parametrize("size", [8, 32])
def test_a_scale_for_each_group(size):
    q = torch.randint(-8, 8, (6, 32), dtype=torch.int8)
    scales, shifts = torch.rand(6, 32 // size), torch.randint(-3, 3, (6, 32 // size))

    def function(q, scales, shifts):
        return OPS.dequantize_per_channel_group(
            q, scales, shifts, -8, 7, torch.int8, size, torch.float32
        )

    verify(function, q, scales, shifts, rtol=1e-6, atol=0)


def test_layers_contract_integers():
    """What PT2E makes of a convolution and a linear layer."""
    weights = [torch.randint(-127, 128, s, dtype=torch.int8) for s in ((6, 4, 3, 3), (5, 6))]
    scales = [2.0 ** -torch.randint(6, 9, (n,)) for n in (6, 5)]

    def function(x, kernel, first, weight, second):
        u8 = (0, 255, torch.uint8)
        x = OPS.quantize_per_tensor(x, 0.25, 100, *u8)
        x = OPS.dequantize_per_tensor(x, 0.25, 100, *u8)
        i8 = (0, -127, 127, torch.int8)
        k = OPS.dequantize_per_channel(kernel, first, torch.zeros_like(first).long(), *i8)
        w = OPS.dequantize_per_channel(weight, second, torch.zeros_like(second).long(), *i8)
        y = torch.relu(torch.nn.functional.conv2d(x, k)).amax((2, 3))
        y = OPS.quantize_per_tensor(y, 2.0, 0, *u8)
        return torch.nn.functional.linear(OPS.dequantize_per_tensor(y, 2.0, 0, *u8), w)

    constants = [weights[0], scales[0], weights[1], scales[1]]
    model = verify(function, halves(2, 4, 7, 7), constants=constants, rtol=1e-5, atol=1e-5)
    text = stage_text(model.module, "relax", DOTS)
    assert len(re.findall(r"relax\.nn\.(?:matmul|conv2d)_words", text)) == 2


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
def test_a_matmul_of_integers(dtype):
    x = torch.randint(0, 127, (17, 32)).to(dtype)
    weight = torch.randint(-128, 128, (8, 32), dtype=torch.int8)
    model = xrelax.compile(Calls(lambda x, w: torch._int_mm(x, w.t()), weight), (x,))
    assert torch.equal(model(x).long(), x.long() @ weight.long().t())
    assert "matmul_words" in stage_text(model.module, "relax", DOTS)


@pytest.mark.filterwarnings("ignore")  # of packages that it loads
class TestTorchao:
    """Models that torchao has quantized."""

    @pytest.fixture(autouse=True)
    def _installed(self):
        pytest.importorskip("torchao", reason="torchao is not installed")

    @pytest.mark.parametrize(
        ("config", "options"),
        [
            ("Int8DynamicActivationInt8WeightConfig", {}),
            ("Int8WeightOnlyConfig", {}),
            ("Int8DynamicActivationIntxWeightConfig", {"weight_dtype": torch.int4}),
            ("IntxWeightOnlyConfig", {"weight_dtype": torch.int4}),
        ],
    )
    def test_weights_of_few_bits(self, config, options):
        from torchao import quantization

        net = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.ReLU(), torch.nn.Linear(96, 32))
        quantized = deepcopy(net).eval()
        quantization.quantize_(quantized, getattr(quantization, config)(**options))
        x = torch.randn(64, 64)
        model = xrelax.compile(quantized, (x,))
        torch.testing.assert_close(model(x), quantized(x).detach(), rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("is_dynamic", [False, True])
    def test_pt2e(self, is_dynamic):
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
        from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

        net = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 4)
        ).eval()
        x = torch.randn(2, 3, 8, 8)
        quantizer = x86.X86InductorQuantizer()
        quantizer.set_global(
            x86.get_default_x86_inductor_quantization_config(is_dynamic=is_dynamic)
        )
        prepared = prepare_pt2e(torch.export.export(net, (x,)).module(), quantizer)
        prepared(x)
        converted = convert_pt2e(prepared)
        model = xrelax.compile(torch.export.export(converted, (x,)))
        torch.testing.assert_close(model(x), converted(x).detach(), rtol=1e-2, atol=1e-2)
        assert "matmul_words" in stage_text(model.module, "relax", DOTS)

    @pytest.mark.parametrize("blocks", [[1, 16], [4, 16], [1, 4], [4, 1]])
    def test_blocks(self, blocks):
        from torchao.quantization.quant_primitives import dequantize_affine, quantize_affine

        x = halves(4, 16)
        scale = 2.0 ** torch.randint(-3, 0, (4 // blocks[0], 16 // blocks[1]))
        shift = torch.zeros_like(scale).int()

        def function(x, scale, shift):
            q = quantize_affine(x, blocks, scale, shift, torch.int8, -100, 127)
            return q, dequantize_affine(q, blocks, scale, shift, torch.int8)

        verify(function, x, scale, shift)

    def test_blocks_of_several_rows_are_refused(self):
        from torchao.quantization.quant_primitives import dequantize_affine

        q, scale = torch.zeros(4, 16, dtype=torch.int8), torch.ones(2, 4)
        module = Calls(lambda q, s: dequantize_affine(q, [2, 4], s, None, torch.int8))
        with pytest.raises(ValueError, match=r"expected blocks of whole rows or of parts of them"):
            xrelax.compile(module, (q, scale))
