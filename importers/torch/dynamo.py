"""The backend of `torch.compile`: ``torch.compile(model, backend="xrelax")``."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import _dynamo, fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._subclasses.fake_tensor import unset_fake_temporarily

from .captures import watch
from .decompositions import decompositions
from .partition import compile_graph
from .registry import load_converters

_dynamo.config.allow_rnn = True
"""Without it, TorchDynamo leaves recurrent layers out before any backend is asked."""


def backend(
    graph: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    **further: Any,
) -> Callable[..., Any]:
    """Compile one graph that TorchDynamo has captured; what is between graphs runs in Python.

    PyTorch's AOTAutograd turns it into a graph of ATen operators without side effects, where
    weights are inputs. Operators with a converter stay whole as far as it lets them. `options` are
    those of `build`, and `strict`: operations that cannot be imported raise UnsupportedError,
    within PyTorch's error about the backend, with a line for each. Otherwise PyTorch runs these,
    and an XRelaxWarning names them.
    """
    watch(backend)
    given = {**further, **(options or {})}

    def compiler(graph: fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        with unset_fake_temporarily():  # PyTorch compiles among tensors without data
            return make_boxed_func(compile_graph(graph, **given))

    compiled = aot_autograd(fw_compiler=compiler, decompositions=decompositions(load_converters()))
    with _without_kernels_of_layers():
        return compiled(graph, example_inputs)


@contextmanager
def _without_kernels_of_layers() -> Generator[None]:
    """Meanwhile, PyTorch decomposes an LSTM instead of calling oneDNN for it."""
    flags: Any = torch._C  # pyright: ignore[reportPrivateUsage]
    enabled = flags._get_mkldnn_enabled()
    flags._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        flags._set_mkldnn_enabled(enabled)


def register() -> None:
    """Make the backend known under the name "xrelax", also where the package is not installed."""
    dynamo: Any = _dynamo  # whose types are partly unknown
    watch(backend)
    if "xrelax" not in dynamo.list_backends(exclude_tags=()):
        dynamo.register_backend(compiler_fn=backend, name="xrelax")


watch(backend)
