"""Language models with random weights of 4 bits, in the sizes of published ones, and their memory.

A first process compiles a model and saves it, a second one maps the file and runs it. What the
second one adds to its memory is compared with the bytes of the weights and of the cache.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CONTEXT = 1024
"""Positions of the cache."""


@dataclass(frozen=True)
class Size:
    """The sizes of a Llama; `is_tied` says whether the head has the weights of the embedding."""

    layers: int
    width: int
    heads: int
    key_heads: int
    hidden: int
    vocabulary: int
    is_tied: bool = False

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the weights, by their names in GGUF files."""
        width, keys = self.width, self.key_heads * self.width // self.heads
        found = {"token_embd": (self.vocabulary, width), "output_norm": (width,)}
        if not self.is_tied:
            found["output"] = (self.vocabulary, width)
        for layer in range(self.layers):
            own = {
                "attn_q": (width, width), "attn_k": (keys, width), "attn_v": (keys, width),
                "attn_output": (width, width), "ffn_gate": (self.hidden, width),
                "ffn_up": (self.hidden, width), "ffn_down": (width, self.hidden),
                "attn_norm": (width,), "ffn_norm": (width,),
            }  # fmt: skip
            found |= {f"blk.{layer}.{name}": shape for name, shape in own.items()}
        return {f"{name}.weight": shape for name, shape in found.items()}


SIZES = {
    "tiny": Size(2, 256, 4, 2, 512, 512),
    "1b": Size(16, 2048, 32, 8, 8192, 128256, True),  # Llama 3.2 1B
    "3b": Size(28, 3072, 24, 8, 8192, 128256, True),  # Llama 3.2 3B
    "7b": Size(32, 4096, 32, 32, 11008, 32000),  # Llama 2 7B
}


class _RandomWeights(dict[str, Any]):
    """Weights that are drawn when they are read, so that one layer at a time is in memory twice."""

    def __init__(self, size: Size):
        self._shapes, self._rng, self.bytes = size.shapes(), np.random.default_rng(0), 0
        super().__init__(dict.fromkeys(self._shapes))

    def __getitem__(self, name: str) -> Any:
        from xrelax.llm.block_weights import BlockWeight
        from xrelax.llm.gguf_formats import FORMATS

        shape = self._shapes[name]
        if len(shape) == 1:
            return np.ones(shape, np.float32)
        format, (rows, columns) = FORMATS["Q4_0"], shape
        blocks, panels = columns // format.block, -(-rows // 16)
        words = self._rng.integers(0, 1 << 32, (panels, blocks, 4, 16), np.uint32)
        # Products of normal numbers keep their magnitude.
        drawn = self._rng.uniform(0.1, 0.3, (panels, blocks, 16)) / columns**0.5
        scales = drawn.astype(np.float16)
        self.bytes += words.nbytes + scales.nbytes
        return BlockWeight(format, rows, words, scales)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default


def configuration(size: Size) -> Any:
    """The configuration of a size."""
    from xrelax.llm.configuration import Configuration

    return Configuration(
        "llama", size.layers, size.width, size.heads, size.key_heads, size.width // size.heads,
        size.vocabulary, CONTEXT, 1e-5, 500000.0,
    )  # fmt: skip


def compile_model(name: str, path: Path) -> int:
    """Compile a random model, and save its functions; returns the bytes of the weights."""
    from xrelax.driver import build
    from xrelax.llm.architectures import ARCHITECTURES
    from xrelax.llm.compilation import module_of
    from xrelax.llm.steps import Functions

    size = SIZES[name]
    weights, config = _RandomWeights(size), configuration(size)
    model = ARCHITECTURES[config.architecture](weights, config)
    # As in the cache of models: with the weights that are computed on load, and no others.
    build(module_of(Functions(model, config))).save(path, packed=True)
    return weights.bytes


def seconds(model: Any, word: int, prompt: int, new: int) -> tuple[float, float]:
    """Seconds until the first token after a prompt of some length, and for each further token."""
    with model.sequence() as sequence:
        begin = time.perf_counter()
        token = int(model.prefill(sequence, [word] * prompt).argmax())
        first = time.perf_counter()
        for _ in range(new - 1):
            token = int(model.decode([sequence], [token])[0].argmax())
        end = time.perf_counter()
    return first - begin, (end - first) / max(1, new - 1)


def run_model(name: str, path: Path, threads: int) -> Iterator[tuple[str, float]]:
    """Load and run a saved model; yields seconds of a token, and bytes, by name."""
    from xrelax.llm import LanguageModel
    from xrelax.runtime import set_num_threads
    from xrelax.runtime.executable import load

    set_num_threads(threads)
    before = _resident()
    model = LanguageModel(configuration(SIZES[name]), None, load(path), CONTEXT)  # type: ignore
    seconds(model, 1, 2, 2)
    yield "prompt", seconds(model, 1, 128, 1)[0] / 128
    yield "token", min(seconds(model, 1, 2, 9)[1] for _ in range(3))
    pages = model.config.pages
    yield "cache", pages.bytes_of_position * CONTEXT
    yield "memory", _resident("VmHWM") - before


def _resident(field: str = "VmRSS") -> int:
    """Bytes of this process that are in memory now, or were at most (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) * 1024


def measure(name: str, threads: int) -> dict[str, float]:
    """The measures of a size, of a process that has not compiled it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        command = [sys.executable, __file__, name, str(path), str(threads)]
        found: dict[str, float] = {}
        for phase in ("compile", "run"):
            run = subprocess.run([*command, phase], check=True, stdout=subprocess.PIPE, text=True)
            found |= {k: float(v) for k, v in (line.split() for line in run.stdout.splitlines())}
        return found


def _main() -> None:
    name, path, threads, phase = sys.argv[1:]
    if phase == "compile":
        print("weights", compile_model(name, Path(path)))
        return
    for key, value in run_model(name, Path(path), int(threads)):
        print(key, value)


if __name__ == "__main__":
    _main()
