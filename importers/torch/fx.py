"""`from_fx`: import graphs that `torch.fx` traced."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ...ir.module import IRModule
from .dtypes import torch_dtype
from .export import exported_program
from .exported_program import Program, structures
from .graph import GraphImport, Input
from .node_converters import by_overload
from .registry import Converter, load_converters_as_tvm


def from_fx(
    model: torch.fx.GraphModule,
    input_info: Sequence[tuple[Sequence[int], str | torch.dtype]],
    *,
    keep_params_as_input: bool = False,
    unwrap_unit_return_tuple: bool = False,
    no_bind_return_tuple: bool = False,
    custom_convert_map: Mapping[str, Converter] | None = None,
) -> IRModule:
    """Import a traced graph, in evaluation mode, as the function "main" of a module.

    TVM's ``tvm.relax.frontend.torch.from_fx``: `input_info` has the shape and dtype of each input,
    as ``[((1, 784), "float32")]``; parameters of "main" are named ``inp_0``, ``inp_1``, …. The
    graph is exported first, and imported by `from_exported_program`, whose options these are. A
    single result is no tuple. Weights that are inputs are in the order of their names, as in TVM.
    Raises ValueError for an `input_info` that does not match the graph, UnsupportedError with a
    line for each operation that cannot be imported.
    """
    given = traced_import(
        model,
        input_info,
        keep_params_as_input=keep_params_as_input,
        unwrap=unwrap_unit_return_tuple,
        custom_convert_map=custom_convert_map,
    )
    given.tuple_outside = no_bind_return_tuple
    return IRModule(given.module())


def traced_import(
    model: torch.fx.GraphModule,
    input_info: Sequence[tuple[Sequence[int], str | torch.dtype]],
    *,
    keep_params_as_input: bool = False,
    unwrap: bool = False,
    custom_convert_map: Mapping[str, Converter] | None = None,
) -> GraphImport:
    """A traced graph to import with TVM's operators, see `from_fx`."""
    expected = [n.name for n in model.graph.nodes if n.op == "placeholder"]
    if len(expected) != len(input_info):
        raise ValueError(
            f"expected a shape and a dtype for each input ({', '.join(expected)}), "
            f"got {len(input_info)}"
        )
    examples = tuple(torch.zeros(tuple(s), dtype=torch_dtype(d)) for s, d in input_info)
    with _inference(model):
        exported = exported_program(model, examples, {}, None)
    converters = {**load_converters_as_tvm(), **by_overload(custom_convert_map)}
    program = Program(exported, converters)
    given = program.graph_import(keep_params_as_input, whole_output=True, by_name=True)
    count = len(program.parameters())
    renamed = [Input(n.node, f"inp_{i}") for i, n in enumerate(given.inputs[:count])]
    given.inputs = [*renamed, *given.inputs[count:]]
    given.unwrap = unwrap or structures(exported)[1].type in (None, torch.Size)
    given.whole_tuples = True
    return given


@contextmanager
def _inference(model: torch.nn.Module) -> Generator[None]:
    """Set the model to evaluation mode, and restore the mode of every part at the end."""
    modes: dict[Any, bool] = {part: part.training for part in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for part, training in modes.items():
            part.training = training
