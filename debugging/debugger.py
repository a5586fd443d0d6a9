"""Finds the operation of a compiled graph that goes wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp

from ..backend.target import Target
from ..runtime.executable import Executable

if TYPE_CHECKING:
    from .operations import Label
    from .report import DebugReport
    from .runs import Runs

FLOAT64 = "f64"
"""The reference that is the graph itself, evaluated in float64."""


@dataclass
class Debugger:
    """The module of an executable, with what runs it and a reference when that is first used."""

    module: ModuleOp
    target: Target
    labels: dict[str, Sequence[Label]] = field(default_factory=lambda: {})
    """What front ends call the operations of functions."""

    def debug(
        self,
        name: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        reference: Any = FLOAT64,
        **options: Any,
    ) -> DebugReport:
        """The report of a call of a function, with the options of `Runs.debug`.

        The reference is "f64", an executable or what has one, or a mapping of values by name.
        """
        given = self._reference(reference, name)
        return self.runs.debug(name, args, kwargs, given, **options)

    def _reference(self, reference: Any, name: str) -> Runs | Mapping[str, Any] | None:
        """What to compare with; raises ValueError for what is no reference."""
        if isinstance(reference, Mapping):
            return cast("Mapping[str, Any]", reference)
        if isinstance(reference, str) and reference == FLOAT64:
            return None
        executable = getattr(reference, "executable", reference)
        if not isinstance(executable, Executable):
            kind = f"'{reference}'" if isinstance(reference, str) else type(reference).__name__
            raise ValueError(
                f"expected reference 'f64', another build, or values by name, got {kind}; 'torch' "
                "is for models that were imported from PyTorch"
            )
        other = executable.debugger
        if not isinstance(other, Debugger) or name not in executable:
            raise ValueError(
                f"expected a reference that this process has built with a function '{name}', "
                f"got {executable!r}"
            )
        return other.runs

    @cached_property
    def runs(self) -> Runs:
        """Runs of the compiled code and of the reference evaluator."""
        from .runs import Runs  # of which builds need nothing

        return Runs(self.module, self.target, self.labels)
