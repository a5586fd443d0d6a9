"""`BasePyModule`: modules with Python functions, kernels and graphs that call each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, cast
from weakref import finalize, ref

from xdsl.dialects.builtin import StringAttr

from .dialects.dims import dims_of
from .dialects.relax import CallPurePackedOp, TensorType
from .driver import build
from .ir.module import IRModule
from .ir.prim_func import PrimFunc
from .ir.struct_info import to_type
from .runtime.call import CompiledFunction
from .runtime.registry import get_global_func, register_func, remove_global_func
from .runtime.signature import Dim, evaluate_dim
from .runtime.tensor import Tensor, as_tensor, empty

_NUMBERS = count()


class BasePyModule:
    """A compiled module whose functions are methods; TVM's ``relax.BasePyModule``.

    ::

        @I.ir_module
        class Model(BasePyModule):
            @T.prim_func
            def kernel(…): …

            @I.pyfunc
            def forward(self, x):
                return self.call_tir(self.kernel, [x], R.Tensor((4,), "float32"))

        result = Model(tvm.cpu()).forward(x)

    Python functions get tensors of PyTorch, and so do callers of graph functions. Graph functions
    call Python functions with ``R.call_py_func``. PyTorch has to be installed.
    """

    def __init__(self, ir_mod: IRModule, device: Any = None, target: Any = None):
        self.ir_mod = ir_mod
        self.device = device
        self.target = target
        self.pyfuncs: dict[str, Callable[..., Any]] = {}
        for name, function in ir_mod.pyfuncs.items():
            self.add_python_function(name, function)
        self._executable = build(_with_names(ir_mod, self._registered()), target)
        for name in self._compiled():
            function = self._executable[name]
            is_kernel = isinstance(ir_mod[name], PrimFunc)
            setattr(self, name, function if is_kernel else partial(_on_torch, self, function))

    def add_python_function(self, name: str, function: Callable[..., Any]) -> None:
        """Add a Python function; one whose first parameter is `self` becomes a method."""
        code = getattr(function, "__code__", None)
        is_method = code is not None and code.co_varnames[: code.co_argcount][:1] == ("self",)
        bound = partial(function, self) if is_method else function
        self.pyfuncs[name] = bound
        setattr(self, name, bound)

    def _registered(self) -> dict[str, str]:
        """The names under which compiled code finds the Python functions of this object."""
        made: dict[str, str] = {}
        for name in self.pyfuncs:
            made[name] = f"{self.ir_mod.name}.{name}.{next(_NUMBERS)}"
            register_func(made[name], partial(_on_tensors, ref(self), name))
            finalize(self, remove_global_func, made[name])
        return made

    def _compiled(self) -> Iterator[str]:
        return (name for name in self._executable if name in self.ir_mod)

    def call_tir(self, func: Any, args: Sequence[Any], out_ty: Any) -> Any:
        """Call a kernel, by name or as an attribute, with new tensors for its results.

        Symbols of the results' types have the values that the kernel's own types give them.
        """
        name = getattr(func, "name_hint", None) or getattr(func, "__name__", func)
        if name not in self._executable:
            known = ", ".join(self._compiled()) or "none"
            raise ValueError(f"expected a kernel of the module ({known}), got '{name}'")
        function = self._executable[name]
        inputs = [as_tensor(a) for a in args]
        outputs = [empty(shape, dtype) for shape, dtype in _results(function, inputs, out_ty)]
        function(*inputs, *outputs)
        return _one_or_tuple([to_torch(o) for o in outputs])

    def call_dps_packed(self, func_name: str, args: Sequence[Any], out_ty: Any) -> Any:
        """Call a registered function that writes its results, or a Python function of the module.

        The latter returns them. Symbols of the results' shapes are the sizes of the first argument
        of as many dims. Raises ValueError for an unknown name, and where there is no such argument.
        """
        if func_name in self.pyfuncs:
            return self.pyfuncs[func_name](*args)
        function = get_global_func(func_name)
        shapes = [self._infer_concrete_shape_from_args(t.dims or (), args) for t in _types(out_ty)]
        dtypes = [t.dtype or "float32" for t in _types(out_ty)]
        outputs = [empty(tuple(s), d) for s, d in zip(shapes, dtypes, strict=True)]
        function(*map(_to_own, args), *outputs)
        return _one_or_tuple([to_torch(o) for o in outputs])

    def call_py_func(self, func_name: str, args: Sequence[Any]) -> Any:
        """Call a Python function with tensors of PyTorch; raises ValueError for an unknown name."""
        if func_name not in self.pyfuncs:
            known = ", ".join(self.pyfuncs) or "none"
            raise ValueError(f"expected a Python function ({known}), got '{func_name}'")
        return self.pyfuncs[func_name](*map(to_torch, args))

    def list_functions(self) -> dict[str, list[str]]:
        """The names of the functions by kind: python, tir and relax."""
        kinds: dict[str, list[str]] = {"python": list(self.pyfuncs), "tir": [], "relax": []}
        for var, function in self.ir_mod.items():
            kinds["tir" if isinstance(function, PrimFunc) else "relax"].append(var.name_hint)
        return kinds

    def script(self) -> str:
        """The kernels and graphs as TVMScript; Python functions are no part of it."""
        return self.ir_mod.script()

    def show(self, style: str | None = None, black_format: bool | None = None) -> None:
        """Show the kernels and graphs as TVMScript."""
        self.ir_mod.show(style, black_format)

    @staticmethod
    def _infer_concrete_shape_from_args(shape: Sequence[Any], in_args: Any) -> list[int]:
        """A shape of numbers: symbols are the sizes of the first argument of as many dims.

        Raises ValueError where there is none.
        """
        dims = [d.constant for d in dims_of(shape)]
        known = [d for d in dims if d is not None]
        if len(known) == len(dims):
            return known
        several = isinstance(in_args, list | tuple)
        given = cast("Sequence[Any]", in_args if several else [in_args])
        shapes: list[tuple[Any, ...]] = [tuple(a.shape) for a in given if hasattr(a, "shape")]
        first = next((s for s in shapes if len(s) == len(dims)), None)
        if first is None:
            shown = ", ".join(map(str, dims_of(shape)))
            raise ValueError(f"Cannot infer concrete output shape: no argument has dims ({shown})")
        return [int(s if d is None else d) for d, s in zip(dims, first, strict=True)]

    @staticmethod
    def _convert_pytorch_to_tvm(tensors: Any) -> Any:
        several = isinstance(tensors, list | tuple)
        return [as_tensor(t) for t in tensors] if several else as_tensor(tensors)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    @staticmethod
    def _convert_tvm_to_pytorch(tensors: Any) -> Any:
        several = isinstance(tensors, list | tuple)
        return [to_torch(t) for t in tensors] if several else to_torch(tensors)  # pyright: ignore[reportUnknownVariableType]


def to_torch(value: Any) -> Any:
    """A tensor as one of PyTorch that shares its memory; other values as they are."""
    if isinstance(value, tuple):
        return tuple(to_torch(v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, Tensor):
        return value
    import torch

    return torch.from_dlpack(value)  # pyright: ignore[reportUnknownMemberType, reportPrivateImportUsage]


def _to_own(value: Any) -> Any:
    return as_tensor(value) if hasattr(value, "__dlpack__") else value


def _on_torch(owner: BasePyModule, function: CompiledFunction, /, *args: Any, **kwargs: Any) -> Any:
    """A graph function; the Python functions that it calls live as long as their `owner`."""
    return to_torch(function(*args, **kwargs))


def _on_tensors(module: ref[BasePyModule], name: str, *args: Any) -> Any:
    """A Python function as compiled code calls it; the registry keeps no module alive."""
    owner = module()
    assert owner is not None
    return owner.call_py_func(name, args)


def _with_names(module: IRModule, names: Mapping[str, str]) -> IRModule:
    """A copy that calls Python functions by the names under which they are registered."""
    copy = module.clone()
    for op in copy.op.walk():
        if isinstance(op, CallPurePackedOp) and op.callee_name in names:
            op.callee = StringAttr(names[op.callee_name])
    return copy


def _types(out: Any) -> list[TensorType]:
    given = out if isinstance(out, list | tuple) else [out]  # pyright: ignore[reportUnknownVariableType]
    types = [to_type(o) for o in given]  # pyright: ignore[reportUnknownVariableType]
    found = [t for t in types if isinstance(t, TensorType) and t.dims is not None]
    if len(found) != len(types):
        raise ValueError(f"expected types of tensors with a shape as out_ty, got {out}")
    return found


def _results(
    function: CompiledFunction, inputs: Sequence[Tensor], out: Any
) -> list[tuple[tuple[int, ...], str]]:
    """Shape and dtype of each result of a kernel, whose last parameters they are."""
    types, params = _types(out), function.spec.params
    if len(inputs) + len(types) != len(params):
        raise ValueError(
            f"'{function.spec.name}' expects {len(params)} tensors, "
            f"got {len(inputs)} inputs and {len(types)} results"
        )
    symbols: dict[str, int] = {}
    for param, value in zip(params, inputs, strict=False):
        pairs = zip(param.shape, value.shape, strict=False)
        symbols |= {dim: size for dim, size in pairs if isinstance(dim, str)}
    shapes: list[tuple[Dim, ...]] = [p.shape for p in params[len(inputs) :]]
    return [
        (tuple(_shape(type_, shape, symbols)), type_.dtype or "float32")
        for type_, shape in zip(types, shapes, strict=True)
    ]


def _shape(type_: TensorType, own: Sequence[Dim], symbols: Mapping[str, int]) -> list[int]:
    dims = type_.dims or ()
    if len(dims) != len(own):
        raise ValueError(f"expected a result of {len(own)} dims, got {type_}")
    return [
        evaluate_dim(dim, symbols) if wanted.constant is None else wanted.constant
        for wanted, dim in zip(dims, own, strict=True)
    ]


def _one_or_tuple(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)
