"""Models as modules: what `xrelax.compile` and `xrelax.quantize` know of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

from xdsl.ir import Operation

from ..driver import build
from ..ir.module import IRModule
from ..lowering.functions import functions_by_name
from .compilable import Compilable
from .random_keys import RandomKeys

Arguments: TypeAlias = tuple[Sequence[Any], Mapping[str, Any]]
"""The arguments of a function by position and by name."""


@dataclass(frozen=True)
class Imported(Compilable):
    """A module, and how the model that it was imported from is called.

    This class is for a module that is a model itself.
    """

    module: IRModule
    keys: RandomKeys = field(default_factory=lambda: RandomKeys(0), kw_only=True)

    def with_module(self, module: IRModule) -> Self:
        """The same model with another module, which has the parameters and results of this one."""
        return replace(self, module=module)

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Arguments:
        """The arguments of the function for a call of the model; raises as the call does."""
        return args, kwargs

    def names(self) -> Mapping[Operation, str]:
        """What the model calls operations of the module, as far as it names them."""
        return {}

    def compile(self, **options: Any) -> Any:
        """Native code with the calls of the model; `options` are those of `build`."""
        return build(self.module, **options)

    def with_key(self, tensors: Sequence[Any]) -> Sequence[Any]:
        """The tensors of a call, and after them the key of a model with random numbers."""
        main: Any = functions_by_name(self.module.op)["main"]
        is_random = len(main.body.block.args) > len(tensors)
        return [*tensors, self.keys.next()] if is_random else tensors
