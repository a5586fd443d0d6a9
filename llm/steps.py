"""The functions of a language model: one token of several sequences, many of one, and choices.

`decode` takes the last token of each sequence, `prefill` further tokens of one sequence. Both store
keys and values in the pages of their parameters, and return the logits after the last token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any

from .. import te
from ..builder import nn, op
from ..builder.block_builder import BlockBuilder
from ..ir.expr import Expr, Var
from ..ir.struct_info import TensorStructInfo
from .choice import chosen
from .configuration import Configuration
from .pages_in_graph import PagesInGraph, page_parameters
from .sampling import FACTORS, NUMBERS


class Step(ABC):
    """What layers know about the tokens of a call: positions, and keys and values before them."""

    def __init__(
        self, config: Configuration, positions: Var, slots: Var, pages: Sequence[Var], count: Any
    ):
        self.config, self.count, self.positions = config, count, positions
        self.pages = PagesInGraph(config.pages, pages, slots)
        self._angles = cache(self._table)

    def _table(self, local: bool) -> list[Expr]:
        """Cosines and sines (n, 1, size / 2) of the positions."""
        shape = (self.count, 1, self.config.size // 2)
        return [
            op.reshape(op.take(op.const(table), self.positions, axis=0), shape)
            for table in self.config.rotations(local)
        ]

    def rotated(self, layer: int, x: Expr) -> Expr:
        """x (n, heads, size) with the pairs of each head rotated by the angles of its position."""
        parts, (cosines, sines) = op.split(x, 2, axis=-1), self._angles(self.config.is_local(layer))
        first, second = parts[0], parts[1]
        rotated = [first * cosines - second * sines, second * cosines + first * sines]
        return op.concat(rotated, axis=-1)

    def named(self, layer: int, x: Expr) -> Expr:
        """The result of a layer, under the name by which reports find it."""
        builder = BlockBuilder.current()
        assert builder is not None
        return builder.emit(x, f"layer_{layer}_result")

    @abstractmethod
    def attend(
        self, layer: int, query: Expr, key: Expr, value: Expr, scale: float | None = None
    ) -> Expr:
        """Store keys and values (n, key heads, size); what the queries (n, heads, size) gather.

        `scale` is the factor of products, by default that of the configuration.
        """

    @abstractmethod
    def last(self, x: Expr) -> Expr:
        """The rows of the last token of each sequence."""


class DecodeStep(Step):
    """One token of each sequence.

    `seen` has a table of pages and lengths in them for each of the configuration's `reaches`.
    """

    def __init__(
        self,
        config: Configuration,
        positions: Var,
        slots: Var,
        seen: Sequence[Var],
        pages: Sequence[Var],
        count: Any,
    ):
        super().__init__(config, positions, slots, pages, count)
        pairs = zip(seen[::2], seen[1::2], strict=True)
        self._seen = dict(zip(config.reaches, pairs, strict=True))

    def attend(
        self, layer: int, query: Expr, key: Expr, value: Expr, scale: float | None = None
    ) -> Expr:
        keys, values, *scales = self.pages.write(layer, key, value)
        return op.nn.paged_attention(
            query,
            keys,
            values,
            *self._seen[self.config.reach(layer)],
            *scales,
            scale=self.config.scale if scale is None else scale,
            window=self.config.window(layer),
            softcap=self.config.softcap,
        )

    def last(self, x: Expr) -> Expr:
        return x


class PrefillStep(Step):
    """Several tokens of one sequence, after those that are in its pages.

    `histories` has the slots of what layers see, for each of the configuration's `reaches`.
    """

    def __init__(
        self,
        config: Configuration,
        positions: Var,
        slots: Var,
        histories: Sequence[Var],
        pages: Sequence[Var],
        count: Any,
    ):
        super().__init__(config, positions, slots, pages, count)
        self._histories = dict(zip(config.reaches, histories, strict=True))

    def attend(
        self, layer: int, query: Expr, key: Expr, value: Expr, scale: float | None = None
    ) -> Expr:
        self.pages.write(layer, key, value)
        dtype, history = self.config.attention, self._histories[self.config.reach(layer)]
        keys, values = self.pages.read(layer, history, dtype)
        found = op.nn.attention(
            op.astype(op.expand_dims(query, axis=0), dtype),
            keys,
            values,
            scale=self.config.scale if scale is None else scale,
            causal_mask="BottomRight",
            softcap=self.config.softcap,
            window_size=self.config.window(layer) or None,
        )
        shape = (self.count, self.config.heads, self.config.size)
        return op.reshape(op.astype(found, "float32"), shape)

    def last(self, x: Expr) -> Expr:
        builder = BlockBuilder.current()
        assert builder is not None
        return builder.call_te(_last_row, x)


def _last_row(x: te.Tensor) -> te.Tensor:
    """The last row of x (n, width), as (1, width)."""

    def element(_: Any, j: Any) -> Any:
        # Without rows there is no place to load from.
        return te.if_then_else(x.shape[0] > 0, x(x.shape[0] - 1, j), te.const(0, x.dtype))

    return te.compute((1, x.shape[1]), element, name="last")


class Functions(nn.Module):
    """The functions of a model, for `export_tvm`."""

    def __init__(self, model: nn.Module, config: Configuration):
        self.model, self._config = model, config

    def decode(self, tokens: Var, positions: Var, slots: Var, *rest: Var) -> Expr:
        """Logits (sequences, vocabulary) after one token of each sequence.

        `rest` are what `DecodeStep` calls `seen`, and the pages.
        """
        count, config = 2 * len(self._config.reaches), self._config
        step = DecodeStep(config, positions, slots, rest[:count], rest[count:], _count(tokens))
        return self.model(tokens, step)

    def prefill(self, tokens: Var, positions: Var, slots: Var, *rest: Var) -> Expr:
        """Logits (1, vocabulary) after further tokens of one sequence.

        `rest` are what `PrefillStep` calls `histories`, and the pages.
        """
        count, config = len(self._config.reaches), self._config
        step = PrefillStep(config, positions, slots, rest[:count], rest[count:], _count(tokens))
        return self.model(tokens, step)

    def choose(self, logits: Var, factors: Var, numbers: Var, seen: Var) -> Expr:
        """The next tokens (n,); see `chosen`."""
        builder = BlockBuilder.current()
        assert builder is not None
        return builder.call_te(chosen, logits, factors, numbers, seen)

    def spec(self) -> dict[str, dict[str, TensorStructInfo]]:
        """The parameters of the functions, before the weights."""

        def numbers(*shape: Any) -> TensorStructInfo:
            return TensorStructInfo(shape, "int32")

        pages = page_parameters(self._config.pages)
        common = {name: numbers("n") for name in ("tokens", "positions", "slots")}
        seen, histories = dict[str, TensorStructInfo](), dict[str, TensorStructInfo]()
        for reach in self._config.reaches:
            prefix = "local_" if reach else ""
            seen[f"{prefix}table"] = numbers("n", f"{prefix}used")
            seen[f"{prefix}lengths"] = numbers("n")
            histories[f"{prefix}history"] = numbers(f"{prefix}total")
        return {
            "decode": {**common, **seen, **pages},
            "prefill": {**common, **histories, **pages},
            "choose": {
                "logits": TensorStructInfo(("n", self._config.vocabulary), "float32"),
                "factors": TensorStructInfo(("n", len(FACTORS)), "float32"),
                "numbers": TensorStructInfo(("n", len(NUMBERS)), "uint32"),
                "seen": numbers("n", "m"),
            },
        }


def _count(tokens: Var) -> Any:
    """The number of tokens, a symbol."""
    info = tokens.struct_info
    assert isinstance(info, TensorStructInfo) and info.shape is not None
    return info.shape[0]
