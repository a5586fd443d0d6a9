"""Models as Python classes; TVM's ``relax.frontend.nn``.

::

    class MLP(nn.Module):
        def __init__(self):
            self.hidden, self.out = nn.Linear(784, 128), nn.Linear(128, 10)

        def forward(self, x):
            return self.out(relax.op.nn.relu(self.hidden(x)))

    mod, params = MLP().export_tvm({"forward": {"x": nn.spec.Tensor(("n", 784), "float32")}})

The functions of the module take the inputs, then the parameters in the order of `params`. What
`forward` computes on are expressions of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from ..ir.expr import Expr, Var
from ..ir.module import IRModule
from ..ir.struct_info import PrimStructInfo, TensorStructInfo, to_type
from ..runtime.tensor import Tensor as Values
from ..runtime.tensor import as_tensor
from . import op
from .block_builder import BlockBuilder
from .nn_calls import Tensor as Tensor
from .nn_calls import extern as extern
from .nn_calls import tensor_expr_op as tensor_expr_op
from .nn_calls import tensor_ir_op as tensor_ir_op

__script_path__ = "relax.frontend.nn"

spec = SimpleNamespace(Int=lambda dtype="int64": PrimStructInfo(dtype), Tensor=TensorStructInfo)
"""What inputs are: ``spec.Tensor(shape, dtype)``, ``spec.Int()``; struct infos do as well."""


class Parameter(Var):
    """A tensor that a module learns: a variable of the graph, and its values if they are set."""

    def __init__(self, shape: Any, dtype: str | None = None):
        super().__init__("parameter", TensorStructInfo(shape, dtype or "float32"))
        self._data: Values | None = None

    @property
    def data(self) -> Values | None:
        """The values, `None` before they are set."""
        return self._data

    @data.setter
    def data(self, values: Any) -> None:
        detach = getattr(values, "detach", None)
        given = as_tensor(values if detach is None else detach())
        expected = tuple(self.shape or ()), self.dtype
        if (given.shape, given.dtype) != expected:
            raise ValueError(
                f"expected values of shape {expected[0]} and dtype {expected[1]}, "
                f"got {given.shape} and {given.dtype}"
            )
        self._data = given


class Module:
    """A part of a model: parameters and modules as attributes, and `forward`."""

    forward: Callable[..., Any]
    """What the module computes; subclasses define it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Each parameter once, under its path: ``layers.0.weight``."""
        seen: set[Parameter] = set()
        for name, parameter in self._parameters(prefix):
            if parameter not in seen:
                seen.add(parameter)
                yield name, parameter

    def _parameters(self, prefix: str) -> Iterator[tuple[str, Parameter]]:
        for name, value in self._children():
            path = f"{prefix}.{name}" if prefix else name
            if isinstance(value, Parameter):
                yield path, value
            elif isinstance(value, Module):
                yield from value._parameters(path)

    def _children(self) -> list[tuple[str, Any]]:
        return list(vars(self).items())

    def parameters(self) -> Iterator[Parameter]:
        """The parameters."""
        return (parameter for _, parameter in self.named_parameters())

    def state_dict(self) -> dict[str, Values | None]:
        """The values of the parameters by their paths."""
        return {name: parameter.data for name, parameter in self.named_parameters()}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Set the values of all parameters; raises ValueError with one line where they differ."""
        own = dict(self.named_parameters())
        missing, unknown = sorted(own.keys() - state_dict), sorted(state_dict.keys() - own)
        if missing or unknown:
            what = f"no '{missing[0]}'" if missing else f"an unknown '{unknown[0]}'"
            raise ValueError(f"expected values of {', '.join(own)}, got {what}")
        for name, parameter in own.items():
            try:
                parameter.data = state_dict[name]
            except ValueError as error:
                raise ValueError(f"parameter '{name}': {error}") from None

    def export_tvm(
        self, spec: Mapping[str, Mapping[str, Any]], debug: bool = False
    ) -> tuple[IRModule, list[tuple[str, Parameter]]]:
        """The module of graph functions, one for each method in `spec`, and the parameters.

        `spec` gives the struct info of each argument. Raises ValueError with one line for an
        unknown method.
        """
        parameters = list(self.named_parameters())
        for name, parameter in parameters:
            parameter.rename(name)
        bb = BlockBuilder()
        for method, inputs in spec.items():
            self._export(bb, method, inputs, [p for _, p in parameters])
        return bb.finalize(), parameters

    def _export(
        self, bb: BlockBuilder, method: str, inputs: Mapping[str, Any], parameters: Sequence[Var]
    ) -> None:
        function = getattr(self, method, None)
        if function is None:
            raise ValueError(f"expected a method of '{type(self).__name__}', got '{method}'")
        variables = [Var(name, to_type(info)) for name, info in inputs.items()]
        with bb.function(method, [*variables, *parameters]):
            with bb.dataflow():
                result = _emit_outputs(bb, function(*variables))
            bb.emit_func_output(result)


def _emit_outputs(bb: BlockBuilder, result: Any) -> Any:
    if isinstance(result, list | tuple):
        return tuple(_emit_outputs(bb, r) for r in result)  # pyright: ignore[reportUnknownVariableType]
    return bb.emit_output(result)


class ModuleList(Module):
    """Modules in order; called, one after the other."""

    def __init__(self, modules: Sequence[Module]):
        self.modules = list(modules)

    def _children(self) -> list[tuple[str, Any]]:
        return [(str(i), module) for i, module in enumerate(self.modules)]

    def __iter__(self) -> Iterator[Module]:
        return iter(self.modules)

    def __getitem__(self, index: int) -> Module:
        return self.modules[index]

    def __len__(self) -> int:
        return len(self.modules)

    def append(self, module: Module) -> None:
        """Add a module at the end."""
        self.modules.append(module)

    def forward(self, x: Expr) -> Expr:
        """What the last module makes of what the ones before make of `x`."""
        for module in self.modules:
            x = module(x)
        return x


class Linear(Module):
    """``x @ weight.T + bias`` with weight (out, in); `torch.nn.Linear`."""

    def __init__(
        self, in_features: Any, out_features: Any, bias: bool = True, dtype: str | None = None
    ):
        self.weight = Parameter((out_features, in_features), dtype)
        self.bias = Parameter((out_features,), dtype) if bias else None

    def forward(self, x: Expr) -> Expr:
        """The product, of shape (…, out)."""
        return op.linear(x, self.weight, self.bias)


class Conv2D(Module):
    """A convolution of images (n, channels, height, width); `torch.nn.Conv2d`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str | None = None,
    ):
        kernel = _pair(kernel_size)
        self.weight = Parameter((out_channels, in_channels // groups, *kernel), dtype)
        self.bias = Parameter((out_channels, 1, 1), dtype) if bias else None
        self.options: dict[str, Any] = {
            "strides": _pair(stride),
            "padding": _pair(padding),
            "dilation": _pair(dilation),
            "groups": groups,
        }

    def forward(self, x: Expr) -> Expr:
        """The images, with as many channels as `out_channels`."""
        result = op.nn.conv2d(x, self.weight, **self.options)
        return result if self.bias is None else result + self.bias


def _pair(value: int | Sequence[int]) -> tuple[int, int]:
    first, second = (value, value) if isinstance(value, int) else value
    return first, second


class LayerNorm(Module):
    """Normalization over the last dim; `torch.nn.LayerNorm`."""

    def __init__(self, normalized_shape: int, eps: float = 1e-5, dtype: str | None = None):
        self.weight = Parameter((normalized_shape,), dtype)
        self.bias = Parameter((normalized_shape,), dtype)
        self.eps = eps

    def forward(self, x: Expr) -> Expr:
        """The normalised tensor, of the shape of `x`."""
        return op.nn.layer_norm(x, self.weight, self.bias, axes=[-1], epsilon=self.eps)


class RMSNorm(Module):
    """Division by the root of the mean square over the last dim; `torch.nn.RMSNorm`."""

    def __init__(self, hidden_size: int, epsilon: float = 1e-5, dtype: str | None = None):
        self.weight = Parameter((hidden_size,), dtype)
        self.epsilon = epsilon

    def forward(self, x: Expr) -> Expr:
        """The normalised tensor, of the shape of `x`."""
        return op.nn.rms_norm(x, self.weight, axes=[-1], epsilon=self.epsilon)


class Embedding(Module):
    """Rows of a table by their numbers; `torch.nn.Embedding`."""

    def __init__(self, num: int, dim: int, dtype: str | None = None):
        self.weight = Parameter((num, dim), dtype)

    def forward(self, x: Expr) -> Expr:
        """The rows, of shape (…, dim)."""
        return op.take(self.weight, x, axis=0)


class ReLU(Module):
    """``max(x, 0)``."""

    def forward(self, x: Expr) -> Expr:
        """The tensor, elementwise."""
        return op.nn.relu(x)


class GELU(Module):
    """``x`` times the normal distribution function of ``x``; `torch.nn.GELU`."""

    def forward(self, x: Expr) -> Expr:
        """The tensor, elementwise."""
        return op.nn.gelu(x)


class SiLU(Module):
    """``x * sigmoid(x)``; `torch.nn.SiLU`."""

    def forward(self, x: Expr) -> Expr:
        """The tensor, elementwise."""
        return op.nn.silu(x)
