"""Architectures of language models, by the name that GGUF files have for them."""

from .llama import Llama

ARCHITECTURES = {"llama": Llama, "qwen2": Llama, "qwen3": Llama}
