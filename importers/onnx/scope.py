"""The items of a graph by name, and what imports a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.ir import BlockArgument, SSAValue

from ...dialects.int_expr import IntExpr
from ..emitter import Emitter
from ..key_parameter import KeyParameter
from ..unsupported import Problem
from .model import Model
from .tensor import Tensor

Item: TypeAlias = "Tensor | Sequence[Tensor] | None"
"""What a name of a graph stands for: a tensor, a sequence of tensors, or an absent optional."""


class Failed:
    """What the results of a node stand for that could not be imported."""


@dataclass
class Scope:
    """The items of a graph by name, and those of the graphs around it.

    `used` are the names that it reads, `None` for unknown ones.
    """

    parent: Scope | None = None
    items: dict[str, Item | Failed] = field(default_factory=lambda: {})
    used: Collection[str] | None = None

    def find(self, name: str) -> Item | Failed:
        """The item of a name; raises ValueError for one that nothing before it has defined."""
        if name in self.items:
            return self.items[name]
        if self.parent is None:
            raise ValueError(f"expected a value '{name}' of an earlier node, got none")
        return self.parent.find(name)

    def has(self, name: str) -> bool:
        """Whether a node before has defined a name."""
        return name in self.items or (self.parent is not None and self.parent.has(name))


@dataclass
class GraphImporter(ABC):
    """Imports the nodes of graphs into the block of an emitter, and notes problems."""

    model: Model
    emitter: Emitter
    problems: list[Problem] = field(default_factory=lambda: [])
    needed: set[BlockArgument] = field(default_factory=lambda: set())
    """Parameters whose values operators need as numbers, such as a shape."""
    needed_sizes: set[str] = field(default_factory=lambda: set())
    """Symbols of sizes that operators need as numbers."""
    sizes: set[IntExpr] = field(default_factory=lambda: set())
    """Dims of tensors that nodes have read, which are not negative."""
    count: int = 0
    """The number of nodes so far."""
    names: dict[int, str] = field(default_factory=lambda: {})
    """The names of nodes by their number, which is the line of locations."""
    random: KeyParameter | None = None
    """The key of random numbers; `None` where they are not supported."""
    copies: int = 1
    """How often unrolled loops repeat the graph."""
    knows_inputs: bool = True
    """Whether the values of inputs may become known: by a call, which compiles for them."""
    reads_sizes: bool = True
    """Whether sizes may be read from data: not in branches, and bodies of loops."""
    read: dict[SSAValue, list[IntExpr]] = field(default_factory=lambda: {})
    """The symbols of sizes that calls read from values."""

    @abstractmethod
    def reads(self, value: SSAValue) -> bool:
        """Whether calls read sizes from a value, as they cannot compile for its numbers."""

    @abstractmethod
    def run_graph(self, graph: Any, scope: Scope, wanted: Sequence[str] | None = None) -> None:
        """Import what the outputs of a graph, or the wanted names, depend on."""
