"""Tokens per second of a GGUF model, beside other programs that read the same file.

``taskset -c 1 python benchmarks/language_models.py model.gguf --threads 1`` measures a prompt of
512 tokens, and 64 tokens after a prompt of 32, in turns; the median counts. OpenVINO GenAI and
llama.cpp's Python binding take part where they are installed. The read bandwidth is that of a sum
of 256 MB in the same process, by as many threads.

``taskset -c 1 python benchmarks/language_models.py --random 1b 7b`` measures models with random
weights of 4 bits instead, and their memory.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from random_models import measure, seconds

PROMPT, SHORT, NEW = 512, 32, 64
WORD = " the"

Measured = Callable[[int, int], tuple[float, float]]
"""Seconds until the first token after a prompt of some length, and for each further token."""


def _xrelax(path: Path, threads: int, activations: str) -> Measured:
    from xrelax import llm
    from xrelax.runtime import set_num_threads

    set_num_threads(threads)
    model = llm.load(path, context=1024, activations=activations)
    (word,) = model.tokenizer.encode(WORD)
    return partial(seconds, model, word)


def _print_random(names: Sequence[str], threads: int) -> None:
    bandwidth = read_bandwidth(threads)
    print(f"{threads} threads, {bandwidth / 1e9:.1f} GB/s")
    print("| | weights, MB | cache, MB | memory, MB | (memory - cache) / weights | ms a token |"
          " share of the bandwidth |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for name in names:
        found = measure(name, threads)
        weights, cache, memory = (found[k] for k in ("weights", "cache", "memory"))
        share = weights / found["token"] / bandwidth
        print(
            f"| {name} | {weights / 1e6:.0f} | {cache / 1e6:.0f} | {memory / 1e6:.0f} | "
            f"{(memory - cache) / weights:.2f} | {found['token'] * 1e3:.1f} | {share:.0%} |"
        )


def _openvino(path: Path, threads: int) -> Measured:
    import openvino_genai

    pipeline = openvino_genai.LLMPipeline(str(path), "CPU", INFERENCE_NUM_THREADS=threads)

    def run(prompt: int, new: int) -> tuple[float, float]:
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens, config.ignore_eos, config.do_sample = new, True, False
        config.apply_chat_template = False
        metrics = pipeline.generate([WORD * prompt], config).perf_metrics
        return metrics.get_ttft().mean / 1e3, metrics.get_tpot().mean / 1e3

    return run


def _llama_cpp(path: Path, threads: int) -> Measured:
    import llama_cpp

    model = llama_cpp.Llama(
        str(path), n_ctx=1024, n_batch=PROMPT, n_threads=threads, n_threads_batch=threads,
        verbose=False,
    )  # fmt: skip
    (word,) = model.tokenize(WORD.encode(), add_bos=False)

    def run(prompt: int, new: int) -> tuple[float, float]:
        model.reset()
        begin = time.perf_counter()
        tokens = model.generate([word] * prompt, temp=0.0, reset=False)
        next(tokens)
        first = time.perf_counter()
        for _ in range(new - 1):
            next(tokens)
        end = time.perf_counter()
        return first - begin, (end - first) / max(1, new - 1)

    return run


def read_bandwidth(threads: int) -> float:
    """Bytes per second of a sum over 256 MB."""
    import numpy as np

    import xrelax
    from xrelax.relax import BlockBuilder, TensorStructInfo, Var, op
    from xrelax.runtime import set_num_threads

    set_num_threads(threads)
    builder, x = BlockBuilder(), Var("x", TensorStructInfo((1 << 10, 1 << 16), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(op.sum(x, axis=1)))
    run, values = xrelax.compile(builder.get()), np.ones((1 << 10, 1 << 16), np.float32)
    times: list[float] = []
    for _ in range(5):
        begin = time.perf_counter()
        run(values)
        times.append(time.perf_counter() - begin)
    return values.nbytes / min(times)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, nargs="?")
    parser.add_argument("--random", nargs="+", metavar="SIZE", help="tiny, 1b, 3b, 7b")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if options.random:
        _print_random(options.random, options.threads)
        return
    if options.model is None:
        parser.error("expected the path of a model, or --random, got neither")
    path, threads = options.model, options.threads
    ways: dict[str, Any] = {
        "xrelax, 16-bit activations": lambda: _xrelax(path, threads, "int16"),
        "xrelax, 8-bit activations": lambda: _xrelax(path, threads, "int8"),
    }
    if find_spec("openvino_genai"):
        ways["OpenVINO GenAI"] = lambda: _openvino(path, threads)
    if find_spec("llama_cpp"):
        ways["llama.cpp"] = lambda: _llama_cpp(path, threads)
    made = {name: make() for name, make in ways.items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in made}
    for _ in range(options.runs):
        for name, run in made.items():
            times[name].append((run(PROMPT, 1)[0], run(SHORT, NEW)[1]))
    bandwidth = read_bandwidth(threads)
    size = path.stat().st_size
    print(f"{threads} threads, {bandwidth / 1e9:.1f} GB/s")
    print("| | prompt of 512, tokens/s | ms a token | share of the bandwidth |\n|---|---|---|---|")
    for name, found in times.items():
        prompt, token = (statistics.median(column) for column in zip(*found, strict=True))
        share = size / token / bandwidth
        print(f"| {name} | {PROMPT / prompt:.0f} | {token * 1e3:.2f} | {share:.0%} |")


if __name__ == "__main__":
    main()
