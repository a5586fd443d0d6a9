"""From a GGUF file to compiled functions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..driver import build
from ..ir.module import IRModule
from ..relax.transform import BindParams
from ..runtime.executable import Executable
from .architectures import ARCHITECTURES
from .gguf_file import GgufFile
from .steps import Functions
from .tokenizer import Tokenizer


def compile_file(
    path: str | Path, activations: str, cache: str, target: str
) -> tuple[dict[str, Any], Executable]:
    """Configuration and vocabulary of a file, and its functions; raises as `load` does."""
    file = GgufFile.open(path)
    config = file.configuration(activations, cache)
    notes = {"configuration": asdict(config), "vocabulary": file.vocabulary()}
    Tokenizer(file.vocabulary())  # what is wrong with it is said before the compilation
    try:
        model = ARCHITECTURES[config.architecture](file.weights(config), config)
    except KeyError as error:
        raise ValueError(f"expected a weight {error} in '{path}', got none") from None
    return notes, build(module_of(Functions(model, config)), target)


def module_of(functions: Functions) -> IRModule:
    """The functions `decode` and `prefill`, with the weights as constants."""
    module, parameters = functions.export_tvm(functions.spec())
    values = {name: parameter.data for name, parameter in parameters}
    for name in functions.spec():
        module = BindParams(name, values)(module)
    return module
