"""Small models of `transformers` with random weights, and their errors when compiled."""

import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

logging.getLogger("transformers").setLevel(logging.ERROR)


@dataclass(frozen=True)
class Entry:
    """A model: how to make it, its inputs for a batch and a length, and its dynamic dims."""

    name: str
    make: Callable[[Any], torch.nn.Module]
    inputs: Callable[[int, int], torch.Tensor]
    has_length: bool = True
    float32_inside: bool = False
    """Whether the model computes parts of itself in float32, whatever its dtype."""

    def tolerance(self, dtype: torch.dtype) -> float:
        """The largest difference from PyTorch that is allowed, over the largest number."""
        inside = torch.float32 if self.float32_inside else dtype
        return max(TOLERANCE[dtype], TOLERANCE[inside])

    def model(self, dtype: torch.dtype = torch.float32) -> torch.nn.Module:
        import transformers

        torch.manual_seed(0)
        return self.make(transformers).eval().to(dtype)

    def example(self, batch: int, length: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        given = self.inputs(batch, length)
        return given.to(dtype) if given.is_floating_point() else given

    def options(self) -> dict[str, Any]:
        return {"use_cache": False} if self.name in ("gpt2", "llama") else {}

    def exported(self, model: torch.nn.Module, dynamic: bool) -> torch.export.ExportedProgram:
        """The program of a model, with a batch of 2, and symbols in its place."""
        dtype = next(model.parameters()).dtype
        shapes = self.dynamic_shapes(model) if dynamic else None
        return torch.export.export(
            model, (self.example(2, 16, dtype),), self.options(), dynamic_shapes=shapes
        )

    def sizes(self, dynamic: bool) -> list[tuple[int, int]]:
        """Batches and lengths to try a program with."""
        return [(2, 16), (1, 7), (5, 33)] if dynamic else [(2, 16)]

    def dynamic_shapes(self, model: torch.nn.Module) -> dict[str, Any]:
        dims: dict[int, Any] = {0: torch.export.Dim("batch", min=1, max=16)}
        if self.has_length:
            dims[1] = torch.export.Dim("length", min=2, max=64)
        parameter = next(iter(inspect.signature(model.forward).parameters))
        return {parameter: dims, **dict.fromkeys(self.options())}


def tokens(batch: int, length: int) -> torch.Tensor:
    return torch.randint(0, 99, (batch, length), generator=torch.Generator().manual_seed(batch))


def images(batch: int, _: int) -> torch.Tensor:
    return torch.randn(batch, 3, 32, 32, generator=torch.Generator().manual_seed(batch))


def bert(transformers: Any) -> torch.nn.Module:
    return transformers.BertModel(
        transformers.BertConfig(
            vocab_size=99,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            max_position_embeddings=64,
        )
    )


def gpt2(transformers: Any) -> torch.nn.Module:
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=99,
            n_embd=64,
            n_layer=2,
            n_head=4,
            n_positions=64,
            bos_token_id=1,
            eos_token_id=2,
            use_cache=False,
        )
    )


def vit(transformers: Any) -> torch.nn.Module:
    return transformers.ViTModel(
        transformers.ViTConfig(
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            image_size=32,
            patch_size=8,
        )
    )


def resnet(transformers: Any) -> torch.nn.Module:
    return transformers.ResNetModel(
        transformers.ResNetConfig(
            embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic"
        )
    )


def llama(transformers: Any) -> torch.nn.Module:
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=99,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            intermediate_size=128,
            max_position_embeddings=64,
            use_cache=False,
        )
    )


def t5(transformers: Any) -> torch.nn.Module:
    return transformers.T5EncoderModel(
        transformers.T5Config(
            vocab_size=99, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4
        )
    )


ZOO = {
    e.name: e
    for e in (
        Entry("bert", bert, tokens),
        Entry("gpt2", gpt2, tokens),
        Entry("vit", vit, images, has_length=False),
        Entry("resnet", resnet, images, has_length=False),
        Entry("llama", llama, tokens, float32_inside=True),
        Entry("t5-encoder", t5, tokens, float32_inside=True),
    )
}

TOLERANCE = {
    torch.float32: 1e-4,
    torch.float64: 1e-10,
    torch.float16: 1e-2,
    torch.bfloat16: 6e-2,
}
"""The largest difference from PyTorch over the largest number, by dtype of the computation.

Short floats differ by more than one rounding: sums in another order, and results that one side
rounds in between, go through all layers.
"""


def error(entry: Entry, dtype: torch.dtype = torch.float32, dynamic: bool = False) -> float:
    """The largest difference of a compiled model from PyTorch, over the largest number."""
    import xrelax

    model = entry.model(dtype)
    compiled = xrelax.compile(entry.exported(model, dynamic))
    worst = 0.0
    for batch, length in entry.sizes(dynamic):
        given = entry.example(batch, length, dtype)
        with torch.no_grad():
            worst = max(worst, difference(compiled(given, **entry.options()),
                                          model(given, **entry.options())))  # fmt: skip
    return worst


def difference(got: Any, expected: Any) -> float:
    """The largest difference of outputs of equal structure, over the largest number of each."""
    assert type(got) is type(expected)
    leaves = torch.utils._pytree.tree_leaves
    worst = 0.0
    for a, b in zip(leaves(got), leaves(expected), strict=True):
        if isinstance(b, torch.Tensor):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            a, b = a.double(), b.double()
            assert torch.isfinite(a).all() and torch.isfinite(b).all()
            worst = max(worst, ((a - b).abs().max() / b.abs().max()).item())
    return worst
