"""Probes: functions of the registry that see values of a compiled graph.

::

    %y = relax.linear %x, %w : …

⇒

    %1 = relax.call_dps_packed "xrelax.probe.0.3"(%x) : …       copies %x
    %y = relax.linear %1, %w : …
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Self, TypeAlias

from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ..dialects import relax
from ..runtime.registry import register_func, remove_global_func
from ..runtime.tensor import Tensor

See: TypeAlias = Callable[..., None]
"""Called with an array for each value."""

_numbers = count()


class Probes:
    """The probes of one module, which are registered until the end of the ``with`` statement."""

    def __init__(self) -> None:
        self._prefix, self._names = f"xrelax.probe.{next(_numbers)}", list[str]()

    def insert(self, values: Sequence[SSAValue], before: Operation, see: See) -> Operation:
        """Insert a call of `see` with values; its result is a copy of the first one."""
        name = f"{self._prefix}.{len(self._names)}"
        register_func(name, partial(_call, see))
        self._names.append(name)
        call = relax.CallDPSPackedOp(name, values, values[0].type)
        call.location = before.location
        assert before.parent is not None
        before.parent.insert_op_before(call, before)
        return call

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for name in self._names:
            remove_global_func(name)


def _call(see: See, *tensors: Tensor) -> None:
    *values, out = (t.view() for t in tensors)
    see(*values)
    out[...] = values[0]


Results: TypeAlias = list[list[NDArray[Any]]]
"""The results of calls, as lists of arrays."""
