"""Optimizers as graph functions: ``(params, gradients, states)`` to ``(params, states)``.

::

    sgd = relax.training.optimizer.SGD(0.1).init([w, b])
    mod["SGD"] = sgd.get_function()
    ...
    params, sgd.state = vm["SGD"](params, gradients, sgd.state)

TVM's ``relax.training.optimizer``; the updates are those of `torch.optim`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np

from ...builder import op
from ...builder.block_builder import BlockBuilder
from ...dialects.dtypes import is_float
from ...ir.base_function import BaseFunc
from ...ir.expr import Constant, TupleGetItem, Var
from ...ir.expr import Tuple as RelaxTuple
from ...ir.struct_info import TensorStructInfo, TupleStructInfo
from ...runtime.dtype import to_bfloat16
from ...runtime.tensor import Tensor, from_numpy


class Optimizer(ABC):
    """The update of parameters by their gradients, with states that start as `state`.

    `init` sets the parameters, of one dtype of floats, which states and numbers have too.
    """

    def __init__(self, name: str):
        self.name = name
        self.param_list: list[Var] = []
        self.dtype = ""
        self.state: tuple[Tensor, ...] | None = None

    def init(self, params: Var | Sequence[Var]) -> Self:
        """Set the parameters and the first states.

        Raises ValueError with one line for what is no variable, no tensor of floats, or of another
        dtype, for one without a shape of numbers, and for a parameter that comes twice.
        """
        given = [params] if isinstance(params, Var) else list(params)
        for position, param in enumerate(given):
            self._check(param, given[:position])
        self.param_list = given
        self.dtype = given[0].dtype if given else "float32"
        self.state = (_tensor((), "int64", 0), *self.first_states())
        return self

    def _check(self, param: Any, before: Sequence[Var]) -> None:
        if not isinstance(param, Var):
            raise ValueError(f"expected variables as parameters of '{self.name}', got {param}")
        info, name = param.struct_info, param.name_hint
        if not isinstance(info, TensorStructInfo) or not info.dtype or not is_float(info.dtype):
            raise ValueError(f"expected '{name}' to be a tensor of floats, got {info}")
        if info.shape is None or not all(isinstance(d, int) for d in info.shape):
            raise ValueError(f"expected '{name}' to have a shape of numbers, got {info}")
        if before and info.dtype != before[0].dtype:
            raise ValueError(
                f"expected parameters of '{self.name}' of one dtype, "
                f"got {before[0].dtype} and {info.dtype}"
            )
        if param in before:
            raise ValueError(f"expected distinct parameters of '{self.name}', got '{name}' twice")

    @abstractmethod
    def first_states(self) -> list[Tensor]:
        """The states before the first update, without the number of steps."""

    @abstractmethod
    def update(self, step: Step) -> None:
        """Emit the new states and parameters."""

    def get_function(self) -> BaseFunc:
        """The function of tuples of parameters, gradients and states.

        It returns the tuples of new parameters and states; the first state is the number of steps.
        Raises RuntimeError before `init`.
        """
        if self.state is None:
            raise RuntimeError("Please call init() for the optimizer before calling get_function()")
        types = [p.struct_info for p in self.param_list]
        states = [TensorStructInfo(t.shape, t.dtype) for t in self.state]
        params, gradients = (Var(n, TupleStructInfo(types)) for n in ("params", "gradients"))
        state = Var("optim_states", TupleStructInfo(states))
        builder = BlockBuilder()
        with builder.function(self.name, [params, gradients, state]):
            with builder.dataflow():
                step = Step(self, builder, params, gradients, state)
                self.update(step)
                new_params = builder.emit_output(RelaxTuple(step.new_params), "params_new")
                new_states = builder.emit_output(RelaxTuple(step.new_states), "optim_states_new")
            builder.emit_func_output((new_params, new_states))
        return builder.get()[self.name].with_attr("global_symbol", self.name)

    def zeros(self) -> list[Tensor]:
        """A state of zeros for each parameter."""
        return [_tensor(p.shape or (), self.dtype, 0) for p in self.param_list]


class Step:
    """One update while it is emitted; `new_states` starts with the number of steps."""

    def __init__(self, optimizer: Optimizer, builder: BlockBuilder, *values: Var):
        self.optimizer, self.builder = optimizer, builder
        self.params, self.gradients, self.states = values
        self.new_params: list[Any] = []
        count = builder.emit(TupleGetItem(self.states, 0), "num_steps")
        self.new_states: list[Any] = [
            builder.emit(op.add(count, Constant(1, "int64")), "num_steps_new")
        ]

    def number(self, value: float) -> Constant:
        """A number of the parameters' dtype."""
        return Constant(value, self.optimizer.dtype)

    def emit(self, value: Any, name: str) -> Any:
        """Bind a value to a name."""
        return self.builder.emit(value, name)

    def state(self, index: int, name: str) -> Any:
        """A state before the step."""
        return self.emit(TupleGetItem(self.states, index), name)

    def decayed(self, grad: Any, name: str, value: Any, weight_decay: float) -> Any:
        """A gradient with that of the weight decay."""
        if not weight_decay:
            return grad
        share = op.multiply(self.number(weight_decay), value)
        return self.emit(op.add(share, grad), f"{name}_grad_new")


class SGD(Optimizer):
    """``p - lr * (g + weight_decay * p)``; `torch.optim.SGD`."""

    def __init__(self, lr: float, weight_decay: float = 0):
        super().__init__("SGD")
        self.lr, self.weight_decay = float(lr), float(weight_decay)

    def first_states(self) -> list[Tensor]:
        return []

    def update(self, step: Step) -> None:
        for index, param in enumerate(self.param_list):
            name = param.name_hint
            p = step.emit(TupleGetItem(step.params, index), name)
            g = step.emit(TupleGetItem(step.gradients, index), f"{name}_grad")
            g = step.decayed(g, name, p, self.weight_decay)
            change = op.multiply(step.number(self.lr), g)
            step.new_params.append(step.emit(op.subtract(p, change), f"{name}_new"))


class MomentumSGD(Optimizer):
    """SGD with velocities ``v = momentum * v + (1 - dampening) * g``; `torch.optim.SGD`.

    With `nesterov` the step is along ``g + momentum * v``, else along ``v``. The states are the
    velocities. Unlike PyTorch's, the first velocity is dampened too.
    """

    def __init__(
        self,
        lr: float,
        momentum: float,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
    ):
        super().__init__("MomentumSGD")
        self.lr, self.momentum = float(lr), float(momentum)
        self.dampening, self.weight_decay = float(dampening), float(weight_decay)
        self.nesterov = nesterov

    def first_states(self) -> list[Tensor]:
        return self.zeros()

    def update(self, step: Step) -> None:
        momentum, rest = step.number(self.momentum), step.number(_rest(self.dampening))
        for index, param in enumerate(self.param_list):
            name = param.name_hint
            p = step.emit(TupleGetItem(step.params, index), name)
            g = step.emit(TupleGetItem(step.gradients, index), f"{name}_grad")
            v = step.state(index + 1, f"{name}_v")
            g = step.decayed(g, name, p, self.weight_decay)
            kept = op.multiply(momentum, v)
            new = step.emit(
                op.add(kept, op.multiply(rest, g) if self.dampening else g), f"{name}_v_new"
            )
            along = new
            if self.nesterov:
                along = step.emit(op.add(g, op.multiply(momentum, new)), f"{name}_g_nest")
            change = op.multiply(step.number(self.lr), along)
            step.new_params.append(step.emit(op.subtract(p, change), f"{name}_new"))
            step.new_states.append(new)


class Adam(Optimizer):
    """The means of gradients and of their squares, without the bias to 0; `torch.optim.Adam`.

    The states are the powers of both `betas`, then the means, then those of the squares.
    """

    def __init__(
        self,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
    ):
        super().__init__("Adam")
        self.lr, self.eps, self.weight_decay = float(lr), float(eps), float(weight_decay)
        self.betas = float(betas[0]), float(betas[1])

    def first_states(self) -> list[Tensor]:
        powers = [_tensor((), self.dtype, 1) for _ in self.betas]
        return [*powers, *self.zeros(), *self.zeros()]

    def update(self, step: Step) -> None:
        powers = [
            step.emit(
                op.multiply(TupleGetItem(step.states, n + 1), step.number(beta)),
                f"beta{n + 1}_prod",
            )
            for n, beta in enumerate(self.betas)
        ]
        means: list[Any] = []
        squares: list[Any] = []
        for index in range(len(self.param_list)):
            mean, square = self._update(step, index, powers)
            means.append(mean)
            squares.append(square)
        step.new_states += [*powers, *means, *squares]

    def _update(self, step: Step, index: int, powers: Sequence[Any]) -> tuple[Any, Any]:
        name, count = self.param_list[index].name_hint, len(self.param_list)
        p = step.emit(TupleGetItem(step.params, index), name)
        g = step.emit(TupleGetItem(step.gradients, index), f"{name}_grad")
        m = step.state(3 + index, f"{name}_m")
        v = step.state(3 + count + index, f"{name}_v")
        g = step.decayed(g, name, p, self.weight_decay)
        m_new = self._mean(step, self.betas[0], m, lambda: g, f"{name}_m_new")
        v_new = self._mean(step, self.betas[1], v, lambda: op.multiply(g, g), f"{name}_v_new")
        one = step.number(1)
        m_hat = step.emit(op.divide(m_new, op.subtract(one, powers[0])), f"{name}_m_hat")
        v_hat = step.emit(op.divide(v_new, op.subtract(one, powers[1])), f"{name}_v_hat")
        along = op.divide(m_hat, op.add(op.sqrt(v_hat), step.number(self.eps)))
        change = op.multiply(step.number(self.lr), along)
        step.new_params.append(step.emit(op.subtract(p, change), f"{name}_new"))
        return m_new, v_new

    def _mean(self, step: Step, beta: float, old: Any, new: Any, name: str) -> Any:
        """``beta * old + (1 - beta) * new``."""
        kept = op.multiply(step.number(beta), old)
        return step.emit(op.add(kept, op.multiply(step.number(_rest(beta)), new())), name)


def _rest(part: float) -> float:
    """``1 - part`` of the decimal number that was written: 0.1 for 0.9."""
    return float(1 - Fraction(repr(part)))


def _tensor(shape: Sequence[Any], dtype: str, value: float) -> Tensor:
    """A tensor of one number."""
    if dtype != "bfloat16":
        return from_numpy(np.full(tuple(shape), value, dtype))
    tensor = from_numpy(to_bfloat16(np.full(tuple(shape), value, np.float32)))
    return Tensor(tensor.address, tensor.layout._replace(dtype=dtype), tensor.owner)
