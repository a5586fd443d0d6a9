"""`load`: a language model from its files."""

from __future__ import annotations

from pathlib import Path

from ..backend.model_cache import model_entry
from ..backend.target import HOST, Target
from ..runtime.executable import Executable
from .configuration import Configuration
from .language_model import LanguageModel
from .options import Options
from .tokenizer import Tokenizer


def load(
    path: str | Path,
    *,
    context: int | None = None,
    activations: str = "int16",
    cache: str = "float16",
    weights: str | None = None,
    target: str = HOST,
) -> LanguageModel:
    """The language model of a GGUF file, or of a model folder of `transformers`.

    Products with weights of few bits are those of integers: activations are rounded to 16 bits,
    with a scale for each row. With `activations` of "int8" each block of the weights' size has a
    scale, prompts are read faster, since their attention is that of bfloat16 too, and tokens may
    differ from those of floats;
    "float32" does not round. `cache` is the dtype of keys and values: float16, float32, bfloat16,
    or int8 with a scale for each position and head. `weights` is a format to which matrices of
    floats are rounded: "q4_0", "q4_1", "q5_0", "q5_1" or "q8_0"; by default they are float32.

    The compiled model is kept in the cache, packed, and mapped from there by later processes.
    `context` is the number of positions that all sequences have together, by default those of one
    that is as long as the model permits, at most 8192. Raises FileNotFoundError, and ValueError
    with one line for what is no model of a supported architecture.
    """
    options = Options(activations, cache, weights, target)
    if context is not None and context < 1:
        raise ValueError(f"expected a context of at least 1, got {context}")
    entry = model_entry(str(path), Target(target), "llm", *options.key)
    cached = None if entry is None else entry.load()
    if cached is not None:
        notes, executable = cached.notes, cached.executable
    else:
        from .compilation import compile_files

        notes, others, executable = compile_files(Path(path), options)
        if entry is not None:
            entry.store(executable, notes, others)
    config, tokenizer = Configuration(**notes["configuration"]), Tokenizer(notes["vocabulary"])
    count = context or min(config.context, 8192)

    def inspect(executable: Executable) -> None:
        from ..driver import inspect_with
        from .compilation import read_files

        *_, module = read_files(Path(path), options)
        inspect_with(executable, module.op, Target(target))

    return LanguageModel(config, tokenizer, executable, count, inspect)
