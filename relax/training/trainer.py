"""`Trainer`: the parameters of a model while it is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...ir.function import Function
from ...ir.module import IRModule
from ...runtime.tensor import Tensor, array
from .setup_trainer import ADJOINT, BACKBONE, OPTIMIZER


class Trainer:
    """Trains the model of a module that `SetupTrainer` made, by a `VirtualMachine` of it.

    ::

        trainer = relax.training.Trainer(train_mod, vm, tvm.cpu())
        trainer.xaiver_uniform_init_params()
        for x, y in batches:
            loss = trainer.update(x, y)
        out = trainer.predict(x)

    Parameters and states are set by `load_params` and `load_states`, or filled; with
    `zero_init_param_state` they start as zeros. TVM's ``relax.training.Trainer``.
    """

    def __init__(
        self, train_mod: IRModule, vm: Any, device: Any, zero_init_param_state: bool = True
    ):
        self.mod, self.vm, self.device = train_mod, vm, device
        attrs = train_mod.attrs
        self.input_num, params, states = (
            int(attrs[n]) for n in ("input_num", "param_num", "state_num")
        )
        func = train_mod[BACKBONE]
        assert isinstance(func, Function)
        values = func.params[self.input_num :]
        self._params = _Values("parameter", values[:params])
        self._states = _Values("state", values[params : params + states])
        self._optim_state: Any = tuple(attrs["optim_state"])
        if zero_init_param_state:
            self.zero_init_params()
            self.zero_init_states()

    def zero_init_params(self) -> None:
        """Let all parameters be zeros."""
        self._params.fill(np.zeros)

    def zero_init_states(self) -> None:
        """Let all states be zeros."""
        self._states.fill(np.zeros)

    def xaiver_uniform_init_params(self) -> None:
        """Let parameters be random by Xavier's rule, and those of rank below 2 zeros."""
        self._params.fill(_xavier)

    xavier_uniform_init_params = xaiver_uniform_init_params

    def load_params(self, params: Sequence[Any] | Mapping[str, Any]) -> None:
        """Set all parameters in order, or some by name; raises ValueError for others."""
        self._params.load(params)

    def load_states(self, states: Sequence[Any] | Mapping[str, Any]) -> None:
        """Set all states in order, or some by name; raises ValueError for others."""
        self._states.load(states)

    def export_params(self) -> dict[str, Tensor]:
        """The parameters by name."""
        return dict(zip(self._params.names, self._params.given(), strict=True))

    def export_states(self) -> dict[str, Tensor]:
        """The states by name."""
        return dict(zip(self._states.names, self._states.given(), strict=True))

    def predict(self, *input_instances: Any) -> Any:
        """The predictions for inputs; raises RuntimeError before parameters are set."""
        result = self.vm[BACKBONE](*self._arguments(input_instances))
        count = len(self._states.names)
        if count == 0:
            return result
        kept = result[:-count]
        return kept[0] if len(kept) == 1 else kept

    def update(self, input_instances: Any, targets: Any) -> Tensor:
        """Make one step for inputs and targets, or lists of them; returns the loss.

        Raises RuntimeError before parameters are set.
        """
        given = self._arguments(_listed(input_instances))
        result, gradients = self.vm[ADJOINT](*given, *map(array, _listed(targets)))
        if self._states.names:
            result, *states = result
            self._states.values = list(states)
        params, self._optim_state = self.vm[OPTIMIZER](
            tuple(self._params.given()), gradients, self._optim_state
        )
        self._params.values = list(params)
        return result

    def _arguments(self, inputs: Sequence[Any]) -> list[Any]:
        if len(inputs) != self.input_num:
            raise ValueError(f"expected {self.input_num} inputs of the model, got {len(inputs)}")
        return [*map(array, inputs), *self._params.given(), *self._states.given()]


class _Values:
    """The values of variables, `None` where they are not set."""

    def __init__(self, what: str, variables: Sequence[Any]):
        self.what = what
        self.names = [v.name_hint for v in variables]
        self.types = [(v.shape, v.dtype) for v in variables]
        self.values: list[Tensor | None] = [None] * len(variables)

    def fill(self, values: Any) -> None:
        """Set all by a function of shape and dtype."""
        self.values = [array(values(s, t)) for s, t in self.types]

    def load(self, given: Sequence[Any] | Mapping[str, Any]) -> None:
        """Set all, or some by name."""
        if isinstance(given, Mapping):
            for name, value in given.items():
                if name not in self.names:
                    known = ", ".join(self.names) or "none"
                    raise ValueError(f"expected a {self.what} ({known}), got '{name}'")
                self.values[self.names.index(name)] = array(value)
        elif len(given) != len(self.names):
            raise ValueError(f"expected {len(self.names)} {self.what}s, got {len(given)}")
        else:
            self.values = [array(v) for v in given]

    def given(self) -> list[Tensor]:
        """The values; raises RuntimeError if one is not set."""
        for name, value in zip(self.names, self.values, strict=True):
            if value is None:
                raise RuntimeError(f"expected {self.what} '{name}' to be initialized")
        return [v for v in self.values if v is not None]


def _listed(values: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", values) if isinstance(values, list) else [values]


def _xavier(shape: Sequence[int], dtype: str) -> Any:
    if len(shape) < 2:
        return np.zeros(shape, dtype)
    window = int(np.prod(shape[2:]))
    bound = np.sqrt(6 / ((shape[0] + shape[1]) * window))
    return np.random.default_rng().uniform(-bound, bound, shape).astype(dtype)
