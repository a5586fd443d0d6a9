"""Parameters and modules of models, and lists of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...ir.expr import Expr, Var
from ...ir.module import IRModule
from ...ir.struct_info import TensorStructInfo
from ...runtime.tensor import Tensor as Values
from ...runtime.tensor import as_tensor
from .calls import emitted
from .effects import IOEffect
from .exporter import export


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

    def to(self, dtype: str | None = None) -> None:
        """Give the parameter another dtype; raises ValueError if it has values."""
        if dtype is None or dtype == self.dtype:
            return
        if self._data is not None:
            raise ValueError(f"expected a parameter without values, got one of {self.dtype}")
        super().__init__(self.name_hint, TensorStructInfo(self.shape, dtype))


class Module:
    """A part of a model: parameters and modules as attributes, and `forward`."""

    forward: Callable[..., Any]
    """What the module computes; subclasses define it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # What an argument is made of comes before what the module does.
        given = [emitted(a, "") if isinstance(a, Expr) else a for a in args]
        return self.forward(*given, **kwargs)

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Each parameter once, under its path: ``layers.0.weight``."""
        seen: set[Parameter] = set()
        for name, parameter in self._parameters(prefix):
            if parameter not in seen:
                seen.add(parameter)
                yield name, parameter

    def _parameters(self, prefix: str) -> Iterator[tuple[str, Parameter]]:
        for name, value in self.named_children():
            path = f"{prefix}.{name}" if prefix else name
            if isinstance(value, Parameter):
                yield path, value
            elif isinstance(value, Module):
                yield from value._parameters(path)

    def named_children(self) -> list[tuple[str, Any]]:
        """The attributes by name; of containers, what they contain."""
        return list(vars(self).items())

    def replace_child(self, name: str, value: Any) -> None:
        """Put another value in the place of a child."""
        setattr(self, name, value)

    def parameters(self) -> Iterator[Parameter]:
        """The parameters."""
        return (parameter for _, parameter in self.named_parameters())

    def to(self, dtype: str | None = None) -> None:
        """Give all parameters another dtype."""
        for parameter in list(self.parameters()):
            parameter.to(dtype)

    def state_dict(self) -> dict[str, Values | None]:
        """The values of the parameters by their paths."""
        return {name: parameter.data for name, parameter in self.named_parameters()}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> tuple[list[str], list[str]]:
        """Set the values of parameters; returns the paths that have none, and unknown ones.

        Values are arrays or other parameters. Raises ValueError with one line where they differ
        from the parameters, and, if `strict`, for missing and unknown paths.
        """
        own = dict(self.named_parameters())
        missing, unknown = sorted(own.keys() - state_dict), sorted(state_dict.keys() - own)
        if strict and (missing or unknown):
            what = f"no '{missing[0]}'" if missing else f"an unknown '{unknown[0]}'"
            raise ValueError(f"expected values of {', '.join(own)}, got {what}")
        for name, parameter in own.items():
            if name in missing:
                continue
            value = state_dict[name]
            try:
                parameter.data = value.data if isinstance(value, Parameter) else value
            except ValueError as error:
                raise ValueError(f"parameter '{name}': {error}") from None
        return missing, unknown

    def export_tvm(
        self,
        spec: Mapping[str, Mapping[str, Any]],
        debug: bool = False,
    ) -> tuple[IRModule, list[tuple[str, Parameter]]]:
        """The module of graph functions, one for each method in `spec`, and the parameters.

        `spec` gives the struct info of each argument by its name, or `int` for an integer, such as
        ``{"forward": {"x": nn.spec.Tensor(("n", 4)), "offset": int}}``. The parameters follow as
        arguments of each function; with ``"$": {"param_mode": "packed"}`` among those of a method
        they are one tuple, with "none" there are none. With `debug` the functions also take and
        return the state of printing, which `effect_mode` says in the same way, and
        ``_initialize_effect`` returns its first value. Raises ValueError with one line for an
        unknown method, argument or mode.
        """
        parameters = list(self.named_parameters())
        for name, parameter in parameters:
            parameter.rename(name)
        io = IOEffect() if debug else None
        return export(self, spec, [p for _, p in parameters], io), parameters


class ModuleList(Module):
    """Modules in order; called, one after the other."""

    def __init__(self, modules: Sequence[Module] = ()):
        self.modules = list(modules)

    def named_children(self) -> list[tuple[str, Any]]:
        """The modules by their numbers."""
        return [(str(i), module) for i, module in enumerate(self.modules)]

    def replace_child(self, name: str, value: Any) -> None:
        """Put another module in the place of one."""
        self.modules[int(name)] = value

    def __iter__(self) -> Iterator[Module]:
        return iter(self.modules)

    def __getitem__(self, index: int) -> Module:
        return self.modules[index]

    def __setitem__(self, index: int, module: Module) -> None:
        self.modules[index] = module

    def __len__(self) -> int:
        return len(self.modules)

    def append(self, module: Module) -> None:
        """Add a module at the end."""
        self.modules.append(module)

    def forward(self, x: Any) -> Any:
        """What the last module makes of what the ones before make of `x`."""
        for module in self.modules:
            x = module(x)
        return x
