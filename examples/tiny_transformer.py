"""A small transformer written as Python classes, compiled for prompts of any length.

Run ``python examples/tiny_transformer.py``. The weights are random; what the compiled model
computes is compared with the same model in NumPy, and it continues a prompt token by token.
"""

from __future__ import annotations

import argparse

import numpy as np

from xrelax import relax
from xrelax.relax.frontend import nn

VOCABULARY, WIDTH, HEADS, HIDDEN, LAYERS = 64, 32, 4, 96, 2
SEED = 2024


class Attention(nn.Module):
    """Each position looks at those before it, in several heads."""

    def __init__(self):
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        length = x.struct_info.shape[0]
        parts = relax.op.split(self.qkv(x), 3, axis=-1)
        query, key, value = (
            relax.op.reshape(part, (1, length, HEADS, WIDTH // HEADS)) for part in parts
        )
        mixed = relax.op.nn.attention(query, key, value, causal_mask="TopLeft")
        return self.out(relax.op.reshape(mixed, (length, WIDTH)))


class FeedForward(nn.Module):
    """Two layers with a gate between them."""

    def __init__(self):
        self.gate = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x):
        return self.down(relax.op.nn.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Attention and layers, each added to what came in."""

    def __init__(self):
        self.attention_norm, self.attention = nn.RMSNorm(WIDTH), Attention()
        self.feed_norm, self.feed = nn.RMSNorm(WIDTH), FeedForward()

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed(self.feed_norm(x))


class Transformer(nn.Module):
    """Scores of the next token, for each position of a prompt."""

    def __init__(self):
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.embedding(tokens))))


def random_weights(model: Transformer) -> dict[str, np.ndarray]:
    """Weights for every parameter, by its path, the same on every run."""
    rng = np.random.default_rng(SEED)
    weights: dict[str, np.ndarray] = {}
    for name, parameter in model.named_parameters():
        scale = 1 / np.sqrt(parameter.shape[-1]) if len(parameter.shape) == 2 else 1.0
        weights[name] = (rng.standard_normal(parameter.shape) * scale).astype(np.float32)
    return weights


def compile_model(model: Transformer):
    """The model as a function of a prompt, with its weights inside."""
    tokens = nn.spec.Tensor(("n",), "int64")
    mod, _ = model.export_tvm({"forward": {"tokens": tokens}})
    return relax.build(relax.transform.BindParams("forward", model.state_dict())(mod))["forward"]


def numpy_model(weights: dict[str, np.ndarray], tokens: np.ndarray) -> np.ndarray:
    """The same model in NumPy; scores of shape (tokens, vocabulary)."""

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * weights[f"{name}.weight"]

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weights[f"{name}.weight"].T

    def attention(x: np.ndarray, name: str) -> np.ndarray:
        count, size = len(x), WIDTH // HEADS
        parts = np.split(linear(x, f"{name}.qkv"), 3, axis=-1)
        q, k, v = (p.reshape(count, HEADS, size).transpose(1, 0, 2) for p in parts)
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(size)
        scores = np.where(np.tri(count, dtype=bool), scores, -np.inf)
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = chances / chances.sum(-1, keepdims=True) @ v
        return linear(mixed.transpose(1, 0, 2).reshape(count, WIDTH), f"{name}.out")

    def feed(x: np.ndarray, name: str) -> np.ndarray:
        gate = linear(x, f"{name}.gate")
        return linear(gate / (1 + np.exp(-gate)) * linear(x, f"{name}.up"), f"{name}.down")

    x = weights["embedding.weight"][tokens]
    for block in (f"blocks.{i}" for i in range(LAYERS)):
        x = x + attention(norm(x, f"{block}.attention_norm"), f"{block}.attention")
        x = x + feed(norm(x, f"{block}.feed_norm"), f"{block}.feed")
    return linear(norm(x, "norm"), "head")


def continued(scores_of, prompt: list[int], count: int) -> list[int]:
    """The prompt and `count` more tokens, each the one with the highest score."""
    tokens = list(prompt)
    for _ in range(count):
        scores = np.asarray(scores_of(np.array(tokens)))
        tokens.append(int(scores[-1].argmax()))
    return tokens


def main() -> None:
    """Compile the model, compare it with NumPy, and continue a prompt."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompt", type=int, nargs="+", default=[1, 2, 3], metavar="TOKEN")
    parser.add_argument("--count", type=int, default=12, help="tokens to add")
    options = parser.parse_args()
    model = Transformer()
    weights = random_weights(model)
    model.load_state_dict(weights)
    compiled = compile_model(model)
    for length in (1, 5, 17):
        tokens = np.random.default_rng(length).integers(0, VOCABULARY, length)
        expected, scores = numpy_model(weights, tokens), compiled(tokens).numpy()
        print(f"{length:3} tokens: largest error {np.abs(scores - expected).max():.1e}")
        np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-4)
    print("continued:", *continued(compiled, options.prompt, options.count))


if __name__ == "__main__":
    main()
