"""From the files of a model to compiled functions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..driver import build
from ..ir.module import IRModule
from ..ir.operators import tensor_data
from ..relax.transform import BindParams, DeadCodeElimination
from ..runtime.executable import Executable
from .architectures import ARCHITECTURES
from .architectures.weights import Weights
from .gguf_file import GgufFile
from .gguf_formats import quantized
from .model_folder import ModelFolder
from .options import Options
from .steps import Functions
from .tokenizer import Tokenizer

FUNCTIONS = ("decode", "prefill", "choose")
KEPT = ("position_embd.weight",)
"""Matrices that stay floats: tables that are added to others."""


def compile_files(path: Path, options: Options) -> tuple[dict[str, Any], list[str], Executable]:
    """Configuration and vocabulary of a file or folder, the other files, and the functions.

    Raises what `load` does.
    """
    notes, others, module = read_files(path, options)
    return notes, others, build(module, options.target)


def read_files(path: Path, options: Options) -> tuple[dict[str, Any], list[str], IRModule]:
    """What `compile_files` returns, before the compilation of the functions."""
    source = ModelFolder.open(path) if path.is_dir() else GgufFile.open(path)
    config = source.configuration(options.activations, options.cache)
    notes = {"configuration": asdict(config), "vocabulary": source.vocabulary()}
    Tokenizer(notes["vocabulary"])  # what is wrong with it is said before the compilation
    weights = source.weights(config)
    if options.weights is not None:
        _quantize(weights, options.weights.upper())
    try:
        model = ARCHITECTURES[config.architecture](weights, config)
    except KeyError as error:
        raise ValueError(f"expected a weight {error} in '{path}', got none") from None
    if weights.unread:
        raise ValueError(
            f"expected weights that {config.architecture} has in '{path}', got "
            f"'{next(iter(weights.unread))}'"
        )
    return notes, list(map(str, source.others)), module_of(Functions(model, config))


def step_module(path: Path, options: Options, function: str) -> IRModule:
    """One function of a model, with what it calls: "decode", "prefill" or "choose".

    Raises ValueError with one line for other functions, and what `load` does.
    """
    if function not in FUNCTIONS:
        raise ValueError(f"expected a function of {', '.join(FUNCTIONS)}, got '{function}'")
    *_, module = read_files(path, options)
    return DeadCodeElimination([function])(module)


def module_of(functions: Functions) -> IRModule:
    """The functions `decode` and `prefill`, with the weights as constants."""
    module, parameters = functions.export_tvm(functions.spec())
    # One constant for all functions, which would be several arrays in files otherwise.
    values = {name: tensor_data(parameter.data, name) for name, parameter in parameters}
    for name in functions.spec():
        module = BindParams(name, values)(module)
    return module


def _quantize(weights: Weights, kind: str) -> None:
    """Round matrices of floats to blocks of a format."""
    for name, values in weights.items():
        if getattr(values, "ndim", 1) == 2 and name not in KEPT:
            try:
                weights[name] = quantized(kind, values)
            except ValueError as error:
                raise ValueError(f"'{name}': {error}") from None
