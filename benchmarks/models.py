"""Models as functions of a language: each gives the function, its inputs and its constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

Shapes = dict[str, tuple[int, ...]]
Model = tuple[Callable[..., Any], Shapes, Shapes]


def mlp(batch: int, sizes: Sequence[int]) -> Model:
    """Fully connected layers with a relu between them."""
    constants: Shapes = {}
    for i, (k, n) in enumerate(pairwise(sizes)):
        constants |= {f"w{i}": (n, k), f"b{i}": (n,)}
    layers = len(sizes) - 1

    def function(o: Any, x: Any, **given: Any) -> Any:
        for i in range(layers):
            x = o.linear(x, given[f"w{i}"], given[f"b{i}"])
            x = o.relu(x) if i < layers - 1 else x
        return x

    return function, {"x": (batch, sizes[0])}, constants


def cnn(batch: int, pixels: int, channels: int) -> Model:
    """The course's network: a convolution, a pool and two fully connected layers."""
    side = (pixels - 2) // 2
    features = channels * side * side
    constants: Shapes = {
        "w0": (channels, 1, 3, 3),
        "b0": (channels,),
        "w1": (100, features),
        "b1": (100,),
        "w2": (10, 100),
        "b2": (10,),
    }

    def function(o: Any, x: Any, **given: Any) -> Any:
        x = o.max_pool(o.relu(o.conv2d(x, given["w0"], given["b0"])), 2, 2)
        x = o.relu(o.linear(o.reshape(x, (batch, features)), given["w1"], given["b1"]))
        return o.linear(x, given["w2"], given["b2"])

    return function, {"x": (batch, 1, pixels, pixels)}, constants


def resnet18(pixels: int, width: int) -> Model:
    """ResNet-18 for one image; `width` channels in the first layers, 64 in the published one."""
    constants: Shapes = {}

    def block_of(name: str, c: int, n: int, size: int) -> None:
        constants[f"w_{name}"] = (n, c, size, size)
        for part in ("scale", "shift", "mean", "variance"):
            constants[f"{part}_{name}"] = (n,)

    blocks = list(_resnet_blocks(width))
    block_of("stem", 3, width, 7)
    for name, c, n, stride in blocks:
        block_of(f"{name}a", c, n, 3)
        block_of(f"{name}b", n, n, 3)
        if stride > 1:
            block_of(f"{name}s", c, n, 1)
    constants |= {"w_out": (1000, width * 8), "b_out": (1000,)}

    def function(o: Any, x: Any, **given: Any) -> Any:
        def convolve(x: Any, name: str, stride: int = 1) -> Any:
            weight = given[f"w_{name}"]
            x = o.conv2d(x, weight, stride=stride, padding=constants[f"w_{name}"][2] // 2)
            parts = (given[f"{p}_{name}"] for p in ("scale", "shift", "mean", "variance"))
            return o.batch_norm(x, *parts)

        x = o.max_pool(o.relu(convolve(x, "stem", 2)), 3, 2, 1)
        for name, _, _, stride in blocks:
            y = convolve(o.relu(convolve(x, f"{name}a", stride)), f"{name}b")
            x = o.relu(o.add(y, convolve(x, f"{name}s", stride) if stride > 1 else x))
        return o.linear(o.mean_of_pixels(x), given["w_out"], given["b_out"])

    return function, {"x": (1, 3, pixels, pixels)}, constants


def _resnet_blocks(width: int):
    """Name, channels in, channels out and stride of each block."""
    c = width
    for stage in range(4):
        n = width << stage
        for block in range(2):
            yield f"{stage}{block}", c, n, 2 if stage and not block else 1
            c = n


def transformer(layers: int, tokens: int, width: int, heads: int) -> Model:
    """Layers of BERT: attention and two fully connected layers, each with a norm after it."""
    constants: Shapes = {}
    for i in range(layers):
        for part in ("q", "k", "v", "o"):
            constants |= {f"w{i}{part}": (width, width), f"b{i}{part}": (width,)}
        constants |= {f"w{i}up": (4 * width, width), f"b{i}up": (4 * width,)}
        constants |= {f"w{i}down": (width, 4 * width), f"b{i}down": (width,)}
        for part in ("scale1", "shift1", "scale2", "shift2"):
            constants[f"{part}_{i}"] = (width,)
    size = width // heads

    def function(o: Any, x: Any, **given: Any) -> Any:
        def linear(x: Any, name: str) -> Any:
            return o.linear(x, given[f"w{name}"], given[f"b{name}"])

        def split(x: Any, axes: tuple[int, ...]) -> Any:
            return o.permute(o.reshape(x, (tokens, heads, size)), axes)

        for i in range(layers):
            q, v = (split(linear(x, f"{i}{part}"), (1, 0, 2)) for part in ("q", "v"))
            k = split(linear(x, f"{i}k"), (1, 2, 0))
            weights = o.softmax(o.multiply(o.matmul(q, k), size**-0.5))
            mixed = o.reshape(o.permute(o.matmul(weights, v), (1, 0, 2)), (tokens, width))
            x = o.add(x, linear(mixed, f"{i}o"))
            x = o.layer_norm(x, given[f"scale1_{i}"], given[f"shift1_{i}"])
            x = o.add(x, linear(o.gelu(linear(x, f"{i}up")), f"{i}down"))
            x = o.layer_norm(x, given[f"scale2_{i}"], given[f"shift2_{i}"])
        return x

    return function, {"x": (tokens, width)}, constants
