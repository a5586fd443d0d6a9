"""Architectures of language models, by the name that GGUF files have for them."""

from .gemma import Gemma
from .gpt2 import Gpt2
from .llama import Llama

ARCHITECTURES = {
    "gemma": Gemma,
    "gemma2": Gemma,
    "gemma3": Gemma,
    "gpt2": Gpt2,
    "llama": Llama,
    "qwen2": Llama,
    "qwen3": Llama,
}
