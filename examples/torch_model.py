"""Compiles a small transformer of PyTorch, compares it with PyTorch, and prints the ratio of times.

``python examples/torch_model.py`` needs the extra `torch`. With ``--show`` it prints the module.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch

import xrelax


class Block(torch.nn.Module):
    """Attention and a perceptron, each behind a norm and beside a shortcut."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.joint = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.joint(self.first(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))


class Transformer(torch.nn.Module):
    """A language model: tokens in, a score for each possible next token out."""

    def __init__(self, tokens: int = 256, width: int = 64, heads: int = 4, layers: int = 2):
        super().__init__()
        self.embedding = torch.nn.Embedding(tokens, width)
        self.places = torch.nn.Embedding(128, width)
        self.blocks = torch.nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1])
        x = self.blocks(self.embedding(tokens) + self.places(places))
        return self.norm(x) @ self.embedding.weight.t()


def seconds(function: Callable[[], object], rounds: int = 20) -> float:
    """The median time of a call."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Compile, compare, measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--show", action="store_true", help="print the module")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Transformer().eval()
    dims = {0: torch.export.Dim("batch", max=8), 1: torch.export.Dim("length", max=128)}
    example = torch.randint(0, 256, (2, 16))
    start = time.perf_counter()
    compiled = xrelax.compile(model, (example,), dynamic_shapes={"tokens": dims})
    print(f"compiled in {time.perf_counter() - start:.1f} s")
    if options.show:
        compiled.module.show()
    with torch.no_grad():
        for shape in ((1, 8), (2, 16), (4, 100)):
            tokens = torch.randint(0, 256, shape)
            expected = model(tokens)
            error = (compiled(tokens) - expected).abs().max() / expected.abs().max()
            ratio = seconds(lambda t=tokens: model(t)) / seconds(lambda t=tokens: compiled(t))
            print(f"{shape}: difference {error:.1e}, {ratio:.2f} times the speed of PyTorch")
            assert error < 1e-4


if __name__ == "__main__":
    main()
