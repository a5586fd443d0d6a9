"""What is measured: each workload once, as a function of a language, for fixed or drawn sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from models import cnn, mlp, resnet18, transformer

KINDS = ("call", "small", "large", "memory", "windows", "sort", "models", "onnx")
"""Classes of workloads, each with a geometric mean of its own; "onnx" runs only if it is named."""

Arrays = dict[str, np.ndarray]
Tensor = tuple[int, ...]


@dataclass(frozen=True)
class Workload:
    """A program: ``function(language, *inputs, **constants)`` on f32 tensors of these shapes.

    `inputs` are given at each call, `constants` before. `is_numpy` says that NumPy has all of the
    program's operators.
    """

    name: str
    kind: str
    function: Callable[..., Any]
    inputs: dict[str, Tensor]
    constants: dict[str, Tensor]
    is_numpy: bool = True
    tolerance: float = 1e-3
    """The largest error that counts as equal, as a part of the largest value."""

    def arrays(self, shapes: dict[str, Tensor]) -> Arrays:
        """Random values of such a size that results stay near 1; the same in every run."""
        rng = np.random.default_rng(len(self.name))
        return {name: _values(rng, name, shape) for name, shape in shapes.items()}


def _values(rng: np.random.Generator, name: str, shape: Tensor) -> np.ndarray:
    if name == "distinct":  # so that there is one order
        size = int(np.prod(shape))
        return rng.permutation(np.unique(rng.standard_normal(2 * size, np.float32)))[:size].reshape(
            shape
        )
    array = rng.standard_normal(shape, np.float32)
    if len(shape) == 1:  # biases, scales, variances
        return np.abs(array) * np.float32(0.1) + np.float32(0.5)
    fan_in = int(np.prod(shape[1:])) if name.startswith("w") else 1
    return array * np.float32(fan_in**-0.5)


def matmul(m: int, n: int, k: int, kind: str, form: str = "constant") -> Workload:
    """A product with weights that are constant, given at each call, or given transposed."""
    shape = (n, k) if form == "transposed" else (k, n)
    weights = {"w": shape}

    def function(o: Any, x: Any, w: Any) -> Any:
        return o.matmul(x, o.permute(w, (1, 0)) if form == "transposed" else w)

    name = f"matmul {m}x{n}x{k}, {form}"
    given, constants = ({}, weights) if form == "constant" else (weights, {})
    return Workload(name, kind, function, {"x": (m, k), **given}, constants)


def linear(m: int, n: int, k: int, kind: str) -> Workload:
    """A fully connected layer in PyTorch's layout."""
    weights = {"w": (n, k), "b": (n,)}
    return Workload(
        f"linear {m}x{n}x{k}", kind, lambda o, x, w, b: o.linear(x, w, b), {"x": (m, k)}, weights
    )


def convolution(c: int, o: int, pixels: int, size: int, stride: int) -> Workload:
    """A convolution of one image, with as much padding as ResNet has."""

    def function(language: Any, x: Any, w: Any) -> Any:
        return language.conv2d(x, w, stride=stride, padding=size // 2)

    name = f"conv {size}x{size} {c}->{o} {pixels}²" + (f" /{stride}" if stride > 1 else "")
    shapes = {"x": (1, c, pixels, pixels)}, {"w": (o, c, size, size)}
    return Workload(name, "large", function, *shapes, is_numpy=False)


def depthwise(size: int, stride: int, c: int, pixels: int) -> Workload:
    """A depthwise convolution of one image, whose channels are planes."""

    def function(o: Any, x: Any, w: Any) -> Any:
        return o.depthwise(x, w, stride, size // 2)

    name = f"depthwise {size}x{size} {c} {pixels}²" + (f" /{stride}" if stride > 1 else "")
    shapes = {"x": (1, c, pixels, pixels)}, {"w": (c, 1, size, size)}
    return Workload(name, "windows", function, *shapes, is_numpy=False)


def max_pool(size: int, stride: int, padding: int, c: int, pixels: int) -> Workload:
    """A max pool of one image, whose channels are planes."""

    def function(o: Any, x: Any) -> Any:
        return o.max_pool(x, size, stride, padding)

    name = f"max pool {size}x{size} {c} {pixels}²" + (f" /{stride}" if stride > 1 else "")
    name += ", padded" if padding else ""
    return Workload(name, "windows", function, {"x": (1, c, pixels, pixels)}, {}, is_numpy=False)


def average_pool(size: int, stride: int, c: int, pixels: int) -> Workload:
    """An average pool of one image, whose channels are planes."""

    def function(o: Any, x: Any) -> Any:
        return o.average_pool(x, size, stride)

    name = f"average pool {size}x{size} {c} {pixels}²" + (f" /{stride}" if stride > 1 else "")
    return Workload(name, "windows", function, {"x": (1, c, pixels, pixels)}, {}, is_numpy=False)


def attention(tokens: int, heads: int, is_causal: bool) -> Workload:
    """Attention of one sequence, of heads of size 64."""

    def function(o: Any, q: Any, k: Any, v: Any) -> Any:
        return o.attention(q, k, v, is_causal)

    name = f"attention {tokens} tokens, {heads} heads" + ", causal" * is_causal
    return Workload(name, "large", function, dict.fromkeys("qkv", (1, tokens, heads, 64)), {})


def memory_bound(rows: int, columns: int) -> Iterator[Workload]:
    """Functions of every element or row of a matrix."""
    x = {"x": (rows, columns)}
    size = f"{rows}x{columns}"
    pair = {**x, "y": (rows, columns)}
    norm = {"scale": (columns,), "shift": (columns,)}

    def chain(o: Any, x: Any, y: Any) -> Any:
        return o.relu(o.add(o.multiply(x, y), x))

    def layer_norm(o: Any, x: Any, scale: Any, shift: Any) -> Any:
        return o.layer_norm(x, scale, shift)

    yield Workload(f"softmax {size}", "memory", lambda o, x: o.softmax(x), x, {})
    yield Workload(f"layer norm {size}", "memory", layer_norm, x, norm)
    yield Workload(f"GELU {size}", "memory", lambda o, x: o.gelu(x), x, {}, is_numpy=False)
    yield Workload(f"relu(x*y+x) {size}", "memory", chain, pair, {})
    yield Workload(f"row sums {size}", "memory", lambda o, x: o.row_sums(x), x, {})


def sorting(rows: int, columns: int) -> Iterator[Workload]:
    """Each row in order: its elements, their indices, and the indices of the largest."""
    functions: dict[str, Callable[..., Any]] = {
        "sort": lambda o, distinct: o.sort(distinct),
        "argsort": lambda o, distinct: o.argsort(distinct),
        "topk 5": lambda o, distinct: o.topk_indices(distinct, 5),
        "topk 50": lambda o, distinct: o.topk_indices(distinct, 50),
    }
    for name, function in functions.items():
        x = {"distinct": (rows, columns)}
        yield Workload(f"{name} {rows}x{columns}", "sort", function, x, {})


SORTED = ((64, 128), (64, 1000), (1, 65536), (16, 65536), (1, 1 << 20))

DEPTHWISE = (
    (3, 1, 32, 112),
    (3, 2, 96, 112),
    (3, 1, 144, 56),
    (3, 1, 192, 28),
    (5, 1, 672, 14),
    (5, 2, 672, 14),
    (3, 1, 960, 7),
)
"""Sizes of windows, strides, channels and pixels."""

MAX_POOLS = ((3, 2, 1, 64, 112), (3, 1, 1, 192, 28), (2, 2, 0, 32, 26), (5, 1, 2, 256, 20))
"""Sizes of windows, strides, padding, channels and pixels."""

RESNET_CONVOLUTIONS = (
    (3, 64, 224, 7, 2),
    (64, 64, 56, 3, 1),
    (64, 128, 56, 3, 2),
    (64, 128, 56, 1, 2),
    (128, 128, 28, 3, 1),
    (128, 256, 28, 3, 2),
    (128, 256, 28, 1, 2),
    (256, 256, 14, 3, 1),
    (256, 512, 14, 3, 2),
    (256, 512, 14, 1, 2),
    (512, 512, 7, 3, 1),
)


def standard() -> Iterator[Workload]:
    """The table of the project."""
    yield Workload("MLP, batch 1", "call", *mlp(1, (784, 128, 10)))
    for size in (64, 128, 256):
        yield matmul(size, size, size, "small")
    for m, n, k in ((333, 777, 555), (100, 77, 130), (8, 1024, 1024), (64, 1024, 1024)):
        for form in ("constant", "per call"):
            yield matmul(m, n, k, "small", form)
    for size in (512, 1024, 2048, 4096):
        yield matmul(size, size, size, "large")
    for form in ("per call", "transposed"):
        yield matmul(512, 512, 512, "large", form)
        yield matmul(1024, 1024, 1024, "large", form)
    for sizes in RESNET_CONVOLUTIONS:
        yield convolution(*sizes)
    for tokens in (128, 512, 2048):
        yield attention(tokens, 12, False)
        yield attention(tokens, 12, True)
    yield linear(1, 4096, 4096, "memory")
    yield from memory_bound(4096, 1024)
    yield from memory_bound(4, 1024)
    for sizes in DEPTHWISE:
        yield depthwise(*sizes)
    for sizes in MAX_POOLS:
        yield max_pool(*sizes)
    yield average_pool(2, 2, 128, 56)
    for rows, columns in SORTED:
        yield from sorting(rows, columns)
    for batch in (64, 1024):
        yield Workload(f"MLP, batch {batch}", "models", *mlp(batch, (784, 128, 10)))
    yield Workload("CNN, batch 4", "models", *cnn(4, 28, 32), is_numpy=False)
    yield Workload("ResNet-18 224²", "models", *resnet18(224, 64), is_numpy=False)
    for tokens in (1, 128):
        name = f"transformer layer, {tokens} tokens"
        yield Workload(name, "models", *transformer(1, tokens, 768, 12), is_numpy=False)
    name = "12 transformer layers, 128 tokens"
    yield Workload(name, "models", *transformer(12, 128, 768, 12), is_numpy=False)


def drawn(seed: int) -> list[Workload]:
    """Other sizes of each class, the same for a seed."""
    return sorted(_drawn(seed), key=lambda workload: KINDS.index(workload.kind))


def _drawn(seed: int) -> Iterator[Workload]:
    rng = np.random.default_rng(seed)

    def between(low: int, high: int, step: int = 1) -> int:
        return int(rng.integers(low // step, high // step + 1)) * step

    def form() -> str:
        return str(rng.choice(["constant", "per call", "transposed"]))

    def layers(hidden: int = 1024) -> tuple[int, ...]:
        return tuple(between(8, 1024 if i == 0 else hidden) for i in range(between(3, 4)))

    for _ in range(2):  # most have weights of several megabytes, which are what is waited for
        yield Workload(f"MLP {(sizes := layers())}, batch 1", "memory", *mlp(1, sizes))
    for _ in range(6):
        m, n, k = between(1, 200), between(3, 900), between(3, 900)
        yield matmul(m, n, k, "small", form())
    for _ in range(4):
        m, n, k = (between(400, 1800) for _ in range(3))
        yield matmul(m, n, k, "large", form())
    for _ in range(4):
        size, stride = int(rng.choice([1, 3, 5])), between(1, 2)
        yield convolution(between(16, 256), between(16, 256), between(7, 64), size, stride)
    yield attention(between(20, 700), between(2, 16), bool(rng.integers(2)))
    yield linear(between(1, 3), between(1000, 4000), between(1000, 4000), "memory")
    yield from memory_bound(between(200, 3000), between(100, 3000))
    yield from memory_bound(between(1, 20), between(10, 700))
    yield from sorting(between(1, 200), between(50, 3000))
    yield from sorting(between(1, 4), between(3000, 300000))
    yield Workload(f"MLP {(sizes := layers())}, batch 96", "models", *mlp(96, sizes))
    image, channels = between(20, 40), between(8, 48)
    yield Workload(f"CNN {channels}, {image}²", "models", *cnn(3, image, channels), is_numpy=False)
    image, channels = between(96, 256, 32), between(16, 48, 8)
    name = f"ResNet-18 of width {channels}, {image}²"
    yield Workload(name, "models", *resnet18(image, channels), is_numpy=False)
    heads, tokens = between(4, 14), between(2, 200)
    name = f"transformer layer of {heads} heads, {tokens} tokens"
    yield Workload(name, "models", *transformer(1, tokens, 64 * heads, heads), is_numpy=False)
    for _ in range(2):  # as in the standard table, of some hundred kilobytes
        sizes = layers(hidden=256)
        yield Workload(f"MLP {sizes}, batch 1", "call", *mlp(1, sizes))
    for _ in range(2):
        size, stride = int(rng.choice([3, 5, 7])), between(1, 2)
        yield depthwise(size, stride, between(8, 512, 8), between(7, 64))
    yield max_pool(int(rng.choice([2, 3])), 2, between(0, 1), between(8, 256), between(7, 112))


def quick(workloads: Iterator[Workload]) -> list[Workload]:
    """The first two of each class."""
    found: list[Workload] = []
    for workload in workloads:
        if sum(w.kind == workload.kind for w in found) < 2:
            found.append(workload)
    return found
