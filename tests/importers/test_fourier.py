"""Fourier transforms of PyTorch programs, and models with them, against PyTorch."""

from typing import Any

import numpy as np
import pytest

from xrelax.importers.fourier import last_factor, transform_weights

torch = pytest.importorskip("torch")
fft = torch.fft

BATCH = {0: "batch"}


def drawn(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.complex64)


@pytest.mark.parametrize(("size", "norm"), [(1, None), (6, "ortho"), (7, "forward")])
def test_transforms(check: Any, size: int, norm: Any):
    def transforms(x: Any, r: Any) -> Any:
        return (
            fft.fft(x, norm=norm), fft.ifft(x, norm=norm), fft.fft(r, norm=norm),
            fft.rfft(r, norm=norm), fft.irfft(x, size, norm=norm), fft.irfft(x, 11, norm=norm),
            fft.fft(x, 4, norm=norm), fft.rfft(r, 9, norm=norm), fft.ihfft(r, norm=norm),
        )  # fmt: skip

    x, r = drawn(3, size), torch.randn(3, size)
    others = [(x[:1], r[:1])]
    check(transforms, x, r, dynamic=[BATCH, BATCH], others=others)


def test_transforms_of_several_dims(check: Any):
    def transforms(x: Any, r: Any) -> Any:
        return (
            fft.fft2(x), fft.ifftn(x, dim=(1, 3), norm="ortho"), fft.fft(x, dim=1, norm="forward"),
            fft.rfft2(r, norm="forward"), fft.rfftn(r, dim=(3, 1)), fft.fft2(r, norm="ortho"),
            fft.irfft2(x), fft.irfftn(x, (5, 8), dim=(1, 2), norm="forward"),
            fft.fftshift(x, dim=(2, 3)),
        )  # fmt: skip

    x, r = drawn(3, 2, 4, 6), torch.randn(3, 2, 4, 6)
    check(transforms, x, r, dynamic=[BATCH, BATCH], others=[(x[:1], r[:1])])


def test_double_precision(check: Any):
    x = torch.randn(2, 300, dtype=torch.float64)
    check(lambda x: (fft.rfft(x), fft.irfft(fft.rfft(x)), fft.fft(x + 1j)), x)


@pytest.mark.parametrize("size", [400, 1155])
def test_long_transforms_with_factors(check: Any, size: int):
    """1155 has three steps."""
    assert last_factor(size) is not None and last_factor(size, real=True) is not None

    def transforms(x: Any, r: Any) -> Any:
        return fft.ifft(x), fft.rfft(r), fft.irfft(x, n=size), fft.fft(r)

    check(transforms, drawn(2, size), torch.randn(2, size), dynamic=[BATCH, BATCH])


def test_lengths_in_steps():
    assert [last_factor(n) for n in (64, 101, 512, 521)] == [None, None, 16, None]
    assert last_factor(4096) is not None and last_factor(4096 // last_factor(4096)) is not None


@pytest.mark.parametrize("onesided", [False, True])
@pytest.mark.parametrize("size", [1, 6, 7])
def test_weights(size: int, onesided: bool):
    x = np.random.default_rng(0).standard_normal((size, 1))
    weights = transform_weights(size, 1, onesided=onesided)
    got = np.einsum("np,npkq->kq", x, weights)
    wanted = (np.fft.rfft if onesided else np.fft.fft)(x[:, 0])
    np.testing.assert_allclose(got[:, 0] + 1j * got[:, 1], wanted, atol=1e-12)


def test_short_time_transforms(check: Any):
    window = torch.hann_window(8)

    def transform(x: Any) -> Any:
        return torch.stft(x, 8, 4, window=window, return_complex=True)

    x = torch.randn(2, 30)
    check(transform, x, dynamic=[BATCH], others=[(torch.randn(3, 30),)])
    frames = transform(x)
    check(lambda f: torch.istft(f, 8, 4, window=window), frames, dynamic=[BATCH])


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_lengths_that_are_dynamic(check: Any, norm: Any):
    def transforms(x: Any, r: Any) -> Any:
        return (
            fft.fft2(x, norm=norm), fft.ifft(x, norm=norm), fft.fft(r, norm=norm),
            fft.rfft(r, norm=norm), fft.irfft(x, n=2 * x.shape[1] - 2, norm=norm),
            fft.irfft(x, n=2 * x.shape[1] - 1, norm=norm), fft.rfftn(r, norm=norm),
        )  # fmt: skip

    given = [(drawn(3, n), torch.randn(3, n)) for n in (6, 7, 40)]
    dims = [{1: "time"}, {1: "time"}]
    check(transforms, *given[0], dynamic=dims, others=given[1:])


class Mixer(torch.nn.Module):
    """A layer of FNet: the real part of transforms over positions and features."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.dense = torch.nn.LayerNorm(8), torch.nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        return self.dense(self.norm(x + fft.fftn(x, dim=(1, 2)).real))


class Filter(torch.nn.Module):
    """A layer of GFNet: complex weights of the frequencies of a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.randn(6, 4, 5, 2) * 0.1)

    def forward(self, x: Any) -> Any:
        found = fft.rfft2(x, dim=(1, 2), norm="ortho") * torch.view_as_complex(self.weights)
        return fft.irfft2(found, s=x.shape[1:3], dim=(1, 2), norm="ortho")


class Blocks(torch.nn.Module):
    """A layer of AFNO: matmuls of the channels of each frequency, by both parts."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.randn(2, 2, 4, 4, dtype=torch.complex64) * 0.2)

    def forward(self, x: Any) -> Any:
        found = fft.rfft2(x, dim=(1, 2), norm="ortho")
        found = found.reshape(*found.shape[:3], 2, 4)
        for weights in self.weights:
            found = torch.einsum("...bi,bio->...bo", found, weights)
            found = torch.complex(torch.relu(found.real), torch.relu(found.imag))
        found = found.flatten(3)
        return fft.irfft2(found, s=x.shape[1:3], dim=(1, 2), norm="ortho") + x


class Spectrogram(torch.nn.Module):
    """The features of Whisper: the logarithm of the powers in bands of frequencies."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(40))
        self.register_buffer("bands", torch.rand(8, 21))

    def forward(self, x: Any) -> Any:
        found = torch.stft(x, 40, 16, window=self.window, return_complex=True)
        powers = self.bands @ (found[..., :-1].abs() ** 2)
        logs = torch.clamp(powers, min=1e-10).log10()
        return (torch.maximum(logs, logs.amax((1, 2), keepdim=True) - 8.0) + 4.0) / 4.0


MODELS = {
    "FNet": (Mixer, (5, 8)), "GFNet": (Filter, (6, 6, 5)), "AFNO": (Blocks, (6, 6, 8)),
    "Whisper": (Spectrogram, (200,)),
}  # fmt: skip


@pytest.mark.parametrize(("model", "shape"), MODELS.values(), ids=MODELS)
def test_models(check: Any, model: Any, shape: Any):
    inputs = [torch.randn(batch, *shape) for batch in (3, 1, 4)]
    others = [(x,) for x in inputs[1:]]
    check(model().eval(), inputs[0], dynamic=[BATCH], others=others)
