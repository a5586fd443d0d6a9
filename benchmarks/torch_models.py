"""ResNet and MobileNetV3-large in PyTorch, as in their papers, with random weights."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

RESNETS = {
    "resnet18": (2, (2, 2, 2, 2), 1),
    "resnet50": (3, (3, 4, 6, 3), 4),
}
"""Convolutions in a block, blocks in each stage, and channels out over channels inside."""

MOBILENET = (
    (3, 16, 16, False, False, 1),
    (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1),
    (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2),
    (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1),
    (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2),
    (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1),
)
"""Table 1 of "Searching for MobileNetV3": kernel, channels inside and out, whether there is
squeeze-and-excite, whether h-swish takes relu's place, stride."""


def convolution(
    inputs: int,
    outputs: int,
    size: int,
    stride: int = 1,
    groups: int = 1,
    activation: type[nn.Module] | None = nn.ReLU,
) -> nn.Sequential:
    """A convolution that keeps the size of an image but for `stride`, its norm and activation."""
    convolve = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    last = [] if activation is None else [activation()]
    return nn.Sequential(convolve, nn.BatchNorm2d(outputs), *last)


class Residual(nn.Module):
    """Layers whose input is added to their result, through `shortcut`, before `last`."""

    def __init__(self, layers: nn.Module, shortcut: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.layers, self.shortcut, self.last = layers, shortcut, last

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.layers(x) + self.shortcut(x))


class SqueezeExcite(nn.Module):
    """Channels by a weight each, which two layers make of the mean of every channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inside = max(8, (channels // 4 + 4) // 8 * 8)
        self.weights = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, inside, 1),
            nn.ReLU(),
            nn.Conv2d(inside, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.weights(x) * x


def resnet(convolutions: int, stages: Sequence[int], widening: int) -> nn.Sequential:
    """ResNet of basic blocks (2 convolutions) or bottlenecks (3), for images of 3 channels."""
    layers: list[nn.Module] = [convolution(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(stages):
        inside = 64 << stage
        for block in range(count):
            stride = 2 if stage and not block else 1
            layers.append(_resnet_block(inputs, inside, inside * widening, stride, convolutions))
            inputs = inside * widening
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def _resnet_block(inputs: int, inside: int, outputs: int, stride: int, convolutions: int):
    if convolutions == 2:
        first, last = convolution(inputs, inside, 3, stride), (inside, outputs, 3)
        layers = nn.Sequential(first, convolution(*last, activation=None))
    else:
        first, middle = convolution(inputs, inside, 1), convolution(inside, inside, 3, stride)
        layers = nn.Sequential(first, middle, convolution(inside, outputs, 1, activation=None))
    is_same = stride == 1 and inputs == outputs
    shortcut = convolution(inputs, outputs, 1, stride, activation=None)
    return Residual(layers, nn.Identity() if is_same else shortcut, nn.ReLU())


def mobilenet_v3_large() -> nn.Sequential:
    """MobileNetV3-large for images of 3 channels."""
    layers: list[nn.Module] = [convolution(3, 16, 3, 2, activation=nn.Hardswish)]
    inputs = 16
    for size, inside, outputs, has_weights, is_swish, stride in MOBILENET:
        kind = nn.Hardswish if is_swish else nn.ReLU
        block = [] if inside == inputs else [convolution(inputs, inside, 1, activation=kind)]
        block.append(convolution(inside, inside, size, stride, inside, kind))
        block += [SqueezeExcite(inside)] if has_weights else []
        block.append(convolution(inside, outputs, 1, activation=None))
        is_residual = stride == 1 and inputs == outputs
        parts = nn.Sequential(*block)
        layers.append(Residual(parts, nn.Identity(), nn.Identity()) if is_residual else parts)
        inputs = outputs
    layers += [convolution(inputs, 960, 1, activation=nn.Hardswish), nn.AdaptiveAvgPool2d(1)]
    layers += [nn.Flatten(), nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers)


def image_model(name: str) -> nn.Module:
    """A model by its name, the same weights each time, for inference."""
    torch.manual_seed(0)
    model = mobilenet_v3_large() if name == "mobilenet_v3_large" else resnet(*RESNETS[name])
    return model.eval()
