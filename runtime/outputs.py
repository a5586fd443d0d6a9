"""The argument `out` of a call: memory of the caller for results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from .arguments import Plan, check_static, check_written, overlapping, to_tensor
from .signature import FunctionSpec, ParamSpec
from .tensor import Tensor


def accepts_out(spec: FunctionSpec) -> bool:
    """Whether a function takes `out`: it has results, and no parameter of that name."""
    return bool(spec.results) and "out" not in spec.argument_names


class Outputs:
    """The value `given` as `out`, None for a call without it.

    Raises TypeError unless it is an array, or a tuple for a function that returns a tuple, and
    ValueError for a tuple of the wrong length.
    """

    def __init__(self, spec: FunctionSpec, given: object) -> None:
        self._spec = spec
        self.given = given
        self._names: list[str] = ["out"]
        self._tensors: list[Tensor] = []
        values: Sequence[Any] = (given,)
        if given is not None and _is_tuple(spec):
            count = len(spec.results)
            if not isinstance(given, tuple):
                kind = type(given).__name__
                raise TypeError(f"expected argument 'out' to be a tuple of {count}, got {kind}")
            values = cast("tuple[Any, ...]", given)
            if len(values) != count:
                raise ValueError(f"expected {count} fields of argument 'out', got {len(values)}")
            self._names = [f"out.{i}" for i in range(count)]
        self._values = values

    def tensors(self, plan: Plan) -> list[Tensor]:
        """The tensors for a plan's results; raises TypeError or ValueError naming a wrong one."""
        self._tensors = []
        for name, value, layout in zip(self._names, self._values, plan.results, strict=True):
            param = ParamSpec(name, layout.dtype, layout.shape, written=True)
            tensor = to_tensor(param, value)
            check_static(param, tensor.layout)
            check_written(param, tensor.layout)
            self._tensors.append(tensor)
        return self._tensors

    def are_direct(self, args: Sequence[Tensor], plan: Plan, written: Sequence[int]) -> bool:
        """Whether native code can write to the tensors directly: packed, and shared by no argument.

        Raises ValueError if two outputs, or an output and a written argument, share elements.
        """
        tensors = self._tensors
        for i, target in enumerate(tensors):
            others = [(self._names[j], tensors[j]) for j in range(i)]
            others += [(self._spec.params[j].name, args[j]) for j in written]
            for name, other in others:
                if np.shares_memory(target.view(), other.view()):
                    raise ValueError(
                        f"expected written arguments '{name}' and '{self._names[i]}' not to share "
                        "memory"
                    )
        if plan.staged or not all(t.layout.packed for t in tensors):
            return False
        extents = (*plan.extents, *(t.layout.nbytes for t in tensors))
        positions = range(len(args), len(args) + len(tensors))
        return not overlapping(positions, (*args, *tensors), extents)


def _is_tuple(spec: FunctionSpec) -> bool:
    """Whether the results are a tuple; raises TypeError for nested tuples, shapes and integers."""
    if spec.signature is None:
        return spec.returns_tuple
    node = spec.signature.result
    if isinstance(node, int):
        return False
    if node[0] == "tuple" and all(isinstance(field, int) for field in node[1:]):
        return True
    raise TypeError(f"{spec.name} takes no 'out': it returns more than a tuple of tensors")
