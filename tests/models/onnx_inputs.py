"""Inputs for models of other people: drawn text, a voice, a chord, and the bytes of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def text_image(text: str, width: int, height: int, size: int) -> Array:
    """Black text on a white image (height, width, 3), as numbers from 0 to 1."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (width, height), "white")
    font = ImageFont.load_default(size)
    pen = ImageDraw.Draw(image)
    pen.text((width / 2, height / 2), text, "black", font, anchor="mm")
    return np.asarray(image, np.float32) / 255


def page() -> Array:
    """A line of text on a page."""
    return text_image("Hello world", 320, 160, 40)


def batch_of(*images: Array) -> Array:
    """Images (height, width, channels) as one batch, channels first."""
    return np.ascontiguousarray(np.stack(images).transpose(0, 3, 1, 2), np.float32)


def signed(image: Array) -> Array:
    """Numbers from -1 to 1."""
    return image * 2 - 1


def like_imagenet(image: Array) -> Array:
    """Numbers with the mean and the deviation of ImageNet removed."""
    return (image - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)


def chord(pitches: list[float], seconds: float, rate: int) -> Array:
    """Notes with harmonics that decay."""
    time = np.arange(int(seconds * rate)) / rate
    tones = [np.sin(2 * np.pi * p * k * time) / k**1.5 for p in pitches for k in range(1, 7)]
    envelope = np.minimum(time * 50, 1) * np.exp(-time)
    return (np.sum(tones, axis=0) * envelope / len(pitches) / 3).astype(np.float32)


FORMANTS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (570, 840, 2410))
"""Resonances of the vowels a, i, u and o in hertz; Peterson and Barney (1952)."""


def voice(seconds: float, rate: int = 16000) -> Array:
    """Vowels: pulses of a gliding pitch through resonances that follow the vowels."""
    time = np.arange(int(seconds * rate)) / rate
    pitch = 120 + 25 * np.sin(2 * np.pi * 0.7 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    which = (time / 0.25).astype(int) % len(FORMANTS)
    resonances = np.array(FORMANTS)[which].T
    found = np.zeros_like(time)
    for k in range(1, 40):
        frequency = k * pitch
        gain = sum(1 / (1 + ((frequency - f) / 90) ** 2) for f in resonances)
        found += np.where(frequency < rate / 2, gain / k**0.5, 0) * np.sin(k * phase)
    syllables = np.sin(np.pi * (time / 0.25 % 1)) ** 0.5
    found *= syllables
    return (0.5 * found / np.abs(found).max()).astype(np.float32)


def noise(seconds: float, rate: int = 16000) -> Array:
    """Quiet white noise."""
    drawn = np.random.default_rng(0).standard_normal(int(seconds * rate))
    return (0.01 * drawn).astype(np.float32)


def parts(samples: Array, size: int = 512, before: int = 64) -> Array:
    """Parts of a recording at 16 kHz, each after the last samples of the one before."""
    padded = np.pad(samples, (before, 0))
    count = len(samples) // size
    return np.stack([padded[i * size :][: size + before] for i in range(count)])


def log_mel(samples: Array, rate: int = 16000, bands: int = 80) -> Array:
    """The logarithm of a mel spectrogram (bands, frames), in windows of 25 ms every 10 ms.

    The scale is that of Whisper: the largest value less 8, at most, and a mean near 0.
    """
    size, step = rate // 40, rate // 100
    padded = np.pad(samples, size // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::step][: len(samples) // step]
    power = np.abs(np.fft.rfft(frames * np.hanning(size + 1)[:-1])) ** 2
    logarithm = np.log10(np.maximum(power @ _mel_filters(rate, bands, size).T, 1e-10)).T
    clipped = np.maximum(logarithm, logarithm.max() - 8)
    return ((clipped + 4) / 4).astype(np.float32)


def _mel_filters(rate: int, bands: int, size: int) -> Array:
    """Triangles (bands, frequencies) at equal distances on the mel scale."""
    bins = np.fft.rfftfreq(size, 1 / rate)
    mels = np.linspace(0, 2595 * np.log10(1 + rate / 2 / 700), bands + 2)
    centers = 700 * (10 ** (mels / 2595) - 1)
    rising = (bins - centers[:-2, None]) / np.diff(centers)[:-1, None]
    falling = (centers[2:, None] - bins) / np.diff(centers)[1:, None]
    weights = np.maximum(0, np.minimum(rising, falling))
    return weights * (2 / (centers[2:] - centers[:-2]))[:, None]


def content(path: Path, size: int = 1024, padding: int = 256) -> Array:
    """The first and the last bytes of a text file, `size` each, for `magika`."""
    data = np.frombuffer(path.read_bytes().strip(), np.uint8).astype(np.int32)
    found = np.full(2 * size, padding, np.int32)
    start, end = data[:size], data[-size:]
    found[: len(start)] = start
    found[2 * size - len(end) :] = end
    return found
