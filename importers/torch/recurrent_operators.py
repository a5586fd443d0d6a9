"""LSTM, GRU and plain recurrent layers as operators of their own during the export.

PyTorch's export runs them step by step, which fixes the length of the sequence. Here they are
`xrelax::lstm` and the like, which have the arguments of PyTorch's operators, and any length.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import torch
from torch.nn.modules import rnn

KINDS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_LIBRARY = "xrelax"


def recurrent_name(kind: str) -> str:
    """The overload that the export gives a recurrent layer."""
    return f"{_LIBRARY}.{kind}.default"


def _eager(kind: str) -> Callable[..., Any]:
    return getattr(cast(Any, torch)._VF, kind)


@cache
def _operators() -> dict[str, Callable[..., Any]]:
    """The operators by kind; they are defined once in a process."""
    schema = (
        "(Tensor x, Tensor[] states, Tensor[] params, bool has_biases, int num_layers, "
        "float dropout, bool train, bool bidirectional, bool batch_first) -> Tensor[]"
    )
    found: dict[str, Callable[..., Any]] = {}
    for kind in KINDS:
        operator: Any = torch.library.custom_op(
            f"{_LIBRARY}::{kind}", _compute(kind), mutates_args=(), schema=schema
        )
        operator.register_fake(_shapes)
        found[kind] = operator
    return found


def _compute(kind: str) -> Callable[..., Any]:
    def compute(x: Any, states: Any, *options: Any) -> Any:
        found = _eager(kind)(x, list(states) if kind == "lstm" else states[0], *options)
        return [t.clone() for t in found]

    return compute


def _shapes(x: Any, states: Sequence[Any], params: Sequence[Any], *options: Any) -> list[Any]:
    bidirectional = options[4]
    width = states[0].shape[-1] * (2 if bidirectional else 1)
    return [x.new_empty((*x.shape[:-1], width)), *(torch.empty_like(s) for s in states)]


def _replacement(kind: str) -> Callable[..., Any]:
    operator = _operators()[kind]

    def call(x: Any, states: Any, *options: Any) -> Any:
        if isinstance(options[0], torch.Tensor):  # a packed sequence comes with its batch sizes
            return _eager(kind)(x, states, *options)
        given = list(states) if kind == "lstm" else [states]
        return tuple(operator(x, given, *options))

    return call


@contextmanager
def recurrent_operators() -> Generator[None]:
    """Within it, modules of `torch.nn` call these operators."""
    module: Any = rnn
    eager, table = module._VF, dict(module._rnn_impls)
    replacements = {kind: _replacement(kind) for kind in KINDS}
    module._VF = SimpleNamespace(**replacements)
    module._rnn_impls.update(RNN_TANH=replacements["rnn_tanh"], RNN_RELU=replacements["rnn_relu"])
    try:
        with warnings.catch_warnings():
            # The export takes the list that a recurrent module keeps of its weights for state.
            warnings.filterwarnings("ignore", r"The tensor attributes? .*_flat_weights")
            yield
    finally:
        module._VF = eager
        module._rnn_impls.update(table)
