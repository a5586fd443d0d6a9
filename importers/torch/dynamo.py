"""The backend of `torch.compile`, and a warning for functions that TorchDynamo cannot capture."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import _dynamo, fx
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.eval_frame import innermost_backend
from torch._dynamo.exc import SkipFrame, Unsupported
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._subclasses.fake_tensor import unset_fake_temporarily
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...ir.module import IRModule
from ...runtime.warning import XRelaxWarning
from .export import decompositions
from .fx import traced_import
from .partition import compile_graph
from .registry import load_converters
from .source_lines import frame_place


def watch(backend: Callable[..., Any]) -> None:
    """Warn about functions that TorchDynamo skips instead of compiling them with a backend.

    The warnings end with `torch._dynamo.reset`.
    """
    handler: Any = getattr(_dynamo, "callback_handler")
    known = {getattr(c, "backend", None) for c in handler.end_callbacks}
    if backend not in known:
        handler.register_end_callback(_Watch(backend))


class _Watch:
    """A callback for the end of each compilation of a function, also of a failed one."""

    def __init__(self, backend: Callable[..., Any]) -> None:
        self.backend = backend

    def __call__(self, _: Any) -> None:
        error = sys.exception()
        attempt = _attempt(sys._getframe())  # pyright: ignore[reportPrivateUsage]
        while isinstance(error, SkipFrame):
            error = error.__cause__ or error.__context__
        if not isinstance(error, Unsupported) or attempt is None or attempt["one_graph"]:
            return
        if _function(attempt["compiler_fn"]) is self.backend:
            _warn(error, attempt["code"])


def _attempt(frame: FrameType | None) -> dict[str, Any] | None:
    """The local variables of the current compilation, for which TorchDynamo has no interface."""
    while frame is not None:
        if {"compiler_fn", "one_graph", "code"} <= frame.f_locals.keys():
            return frame.f_locals
        frame = frame.f_back
    return None


def _function(backend: Any) -> Any:
    """The function that a backend of `torch.compile` calls."""
    found: Any = innermost_backend(backend)
    found = getattr(found, "compiler_fn", found)
    return getattr(found, "func", found)


def _warn(error: Unsupported, code: Any) -> None:
    reason = str(error).strip().partition("\n")[0]
    where = frame_place(error.real_stack)
    warnings.warn(
        f"PyTorch runs '{code.co_name}' in Python, and 0 graphs of it are compiled: "
        f"TorchDynamo could not capture {where}: {reason}",
        XRelaxWarning,
        stacklevel=2,
    )


_dynamo.config.allow_rnn = True
"""Without it, TorchDynamo skips recurrent layers for all backends."""


def backend(
    graph: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    **further: Any,
) -> Callable[..., Any]:
    """Compile one graph that TorchDynamo captured; code between graphs runs in Python.

    PyTorch's AOTAutograd first converts it to a functional graph of ATen operators with weights as
    inputs. Operators with a converter are not decomposed where AOTAutograd allows it. `options` are
    those of `build`, and `strict`: with it, operations that cannot be imported raise
    UnsupportedError with a line for each, inside PyTorch's error about the backend. Otherwise
    PyTorch runs them, and an XRelaxWarning names them.
    """
    watch(backend)
    given = {**further, **(options or {})}

    def compiled(graph: fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        with unset_fake_temporarily():  # PyTorch calls backends in fake tensor mode
            return make_boxed_func(compile_graph(graph, **given))

    lowered = aot_autograd(fw_compiler=compiled, decompositions=decompositions(load_converters()))
    with _without_kernels_of_layers():
        return lowered(graph, example_inputs)


@contextmanager
def _without_kernels_of_layers() -> Generator[None]:
    """Within this context, PyTorch decomposes LSTMs instead of calling oneDNN."""
    flags: Any = torch._C  # pyright: ignore[reportPrivateUsage]
    enabled = flags._get_mkldnn_enabled()
    flags._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        flags._set_mkldnn_enabled(enabled)


def relax_dynamo(pipeline: Any = None) -> Callable[..., Any]:
    """A backend for `torch.compile`: ``torch.compile(model, backend=relax_dynamo())``.

    TVM's ``tvm.relax.frontend.torch.relax_dynamo``; the registered backend "xrelax" is the same.
    The passes `pipeline` run first, see `relax_pipeline` of `build`.
    """
    return partial(backend, options={"relax_pipeline": pipeline})


def dynamo_capture_subgraphs(model: Callable[..., Any], *params: Any, **kwargs: Any) -> IRModule:
    """The graphs that TorchDynamo captures in a call, as functions "subgraph_0", "subgraph_1", ….

    TVM's ``tvm.relax.frontend.torch.dynamo.dynamo_capture_subgraphs``: `model` is a module or a
    function, `params` and `kwargs` are the arguments of the call. Parameters of the functions are
    the weights and tensors that a graph reads, in the order of TorchDynamo, with static shapes; a
    single result is no tuple. The operators are those of `from_fx`. Raises UnsupportedError with a
    line for each operation of a graph that cannot be imported.
    """
    captured: list[tuple[fx.GraphModule, list[Any]]] = []

    def capture(graph: fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        captured.append((graph, [(tuple(t.shape), t.dtype) for t in example_inputs]))
        return graph.forward

    compiler: Any = getattr(torch, "compile")  # its types are partly unknown
    torch.compiler.reset()
    with torch.no_grad():
        compiler(model, backend=capture, dynamic=False)(*params, **kwargs)
    torch.compiler.reset()
    operations: list[Operation] = []
    for number, (graph, inputs) in enumerate(captured):
        given = traced_import(graph, inputs, unwrap=True)
        given.name = f"subgraph_{number}"
        operations += [op.clone() for op in given.module().ops]
    return IRModule(ModuleOp(operations))


def register() -> None:
    """Register the backend as "xrelax", also if the package is not installed."""
    dynamo: Any = _dynamo  # its types are partly unknown
    watch(backend)
    if "xrelax" not in dynamo.list_backends(exclude_tags=()):
        dynamo.register_backend(compiler_fn=backend, name="xrelax")


watch(backend)
