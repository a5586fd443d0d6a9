"""The graph operators as tensor expressions, in TVM's ``topi`` names: `add`, `matmul`, `softmax`.

A function takes tensors (or numbers, for operands that broadcast) and the operator's attributes,
and gives the tensors that the operator is lowered to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from ..dialects.diagnostics import suggestion
from ..dialects.dtypes import is_float
from ..dialects.relax.operators import OPERATORS
from ..dialects.relax.operators.base import OperatorOp, evaluated
from ..dialects.relax.operators.steps import PlainFormOp
from .arithmetic import index_value
from .broadcast import ConstantTensor
from .expr import Imm
from .intrinsics import FLOAT_ONLY
from .tensor import Tensor, compute

RENAMED = {
    "cast": "relax.astype",
    "concatenate": "relax.concat",
    "linear": "relax.linear",
    "dense": "relax.linear",
    "transpose": "relax.permute_dims",
}
"""Names that TVM's topi has for operators with other names in the graph."""


def _tensors(operands: list[Any]) -> list[Any]:
    """Numbers among the operands as tensors without dims, of the dtype that the tensors have."""
    dtypes = [o.dtype for o in operands if isinstance(o, Tensor)]

    def tensor(operand: Any) -> Any:
        if isinstance(operand, Tensor):
            return operand
        value = operand.value if isinstance(operand, Imm) else operand
        if not isinstance(value, bool | int | float):
            raise TypeError(f"expected a tensor or a number, got {type(operand).__name__}")
        return ConstantTensor(value, dtypes[0] if dtypes else "float32")

    return [tensor(o) for o in operands]


def _verify_dtypes(name: str, operands: Sequence[Any]) -> None:
    """Raise TypeError for integers where the function of the name takes floats."""
    for operand in operands if name in FLOAT_ONLY else ():
        if isinstance(operand, Tensor) and not is_float(operand.dtype):
            raise TypeError(
                f"topi.{name} only supports floating-point inputs, but got {operand.dtype}"
            )


def compute_operator(
    operator: type[OperatorOp],
    tensors: Sequence[Tensor],
    attributes: dict[str, Any],
    plain: bool = False,
) -> tuple[Tensor, ...]:
    """The tensors that an operator is lowered to; its attributes are complete.

    If it is `plain`, those of TVM's kernel, for a `PlainFormOp`.
    """
    te: Any = sys.modules[__package__ or ""]
    compute: Any = operator.compute
    if plain and issubclass(operator, PlainFormOp):
        compute = operator.compute_plain
    found = compute(te, tensors, evaluated(attributes, index_value))
    return tuple(found) if isinstance(found, tuple | list) else (found,)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _function(name: str, operator: type[OperatorOp]) -> Callable[..., Any]:
    def function(*args: Any, **named: Any) -> Any:
        operands, attributes = operator.bind(args, named)
        _verify_dtypes(name, operands)
        complete = operator.decode(operator.encode(attributes))
        outputs = compute_operator(operator, _tensors(operands), complete)
        return outputs[0] if len(outputs) == 1 else outputs

    function.__name__ = function.__qualname__ = name
    function.__doc__ = operator.__doc__
    return function


def identity(x: Tensor) -> Tensor:
    """A copy of a tensor."""
    return compute(x.shape, lambda *i: x(*i), name="T_identity")


def full(shape: Sequence[Any], *args: Any, **named: Any) -> Tensor:
    """A tensor of one number: ``full(shape, dtype, fill_value)``, or in the graph's order."""
    if args and isinstance(args[0], str):
        dtype, value = args
        number = value.value if isinstance(value, Imm) else value
        args = (value if isinstance(value, Tensor) else ConstantTensor(number, dtype),)
        named = {"dtype": dtype, **named}
    return _function("full", OPERATORS["relax.full"])(shape, *args, **named)


def trilu(data: Tensor, k: Any, upper: bool) -> Tensor:
    """The upper triangle from diagonal `k` on, or the lower one up to it; the rest is 0."""
    name = "triu" if upper else "tril"
    return _function(name, OPERATORS[f"relax.{name}"])(data, k=k.value if isinstance(k, Imm) else k)


def pool2d(
    data: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCHW",
    count_include_pad: bool = True,
) -> Any:
    """The largest elements or means of windows over two dims: `pool_type` "max" or "avg".

    Raises ValueError for another type.
    """
    if pool_type not in ("max", "avg"):
        raise ValueError(f"expected pool_type 'max' or 'avg', got '{pool_type}'")
    options: dict[str, Any] = {
        "pool_size": kernel,
        "strides": stride,
        "dilation": dilation,
        "padding": padding,
        "ceil_mode": ceil_mode,
        "layout": layout,
    }
    if pool_type == "avg":
        options["count_include_pad"] = count_include_pad
    name = f"{pool_type}_pool2d"
    return _function(name, OPERATORS[f"relax.nn.{name}"])(data, **options)


_UPSAMPLING = {"nearest_neighbor": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic"}


def upsampling(
    data: Tensor,
    scale_h: float,
    scale_w: float,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Any:
    """Interpolate two spatial dims to multiples of their sizes; TVM's ``topi.nn.upsampling``.

    `method` is "nearest_neighbor", "bilinear" or "bicubic". Raises ValueError for another one.
    """
    if method not in _UPSAMPLING:
        raise ValueError(f"expected a method ({', '.join(_UPSAMPLING)}), got '{method}'")
    scales = zip("HW", (scale_h, scale_w), strict=True)
    return _function("upsampling", OPERATORS["relax.image.resize2d"])(
        data,
        [round(data.shape[layout.index(letter)] * scale) for letter, scale in scales],
        layout=layout,
        method=_UPSAMPLING[method],
        cubic_alpha=-0.5,
        coordinate_transformation_mode="align_corners" if align_corners else "asymmetric",
        rounding_method="round" if align_corners else "floor",
    )


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{n.rpartition(".")[2]: _function(n.rpartition(".")[2], op) for n, op in OPERATORS.items()},
    **{name: _function(name, OPERATORS[full]) for name, full in RENAMED.items()},
    "full": full,
    "identity": identity,
    "trilu": trilu,
}


def adaptive_pool(
    data: Tensor, output_size: Sequence[int], pool_type: str, layout: str = "NCHW"
) -> Tensor:
    """Means ("avg") or maxima ("max") of `output_size` windows; TVM's ``topi.nn.adaptive_pool``.

    Raises ValueError for another `pool_type`.
    """
    if pool_type not in ("avg", "max"):
        raise ValueError(f"expected a pool_type (avg, max), got '{pool_type}'")
    return _FUNCTIONS[f"adaptive_{pool_type}_pool2d"](data, output_size, layout=layout)


def global_pool(data: Tensor, pool_type: str, layout: str = "NCHW") -> Tensor:
    """The mean ("avg") or maximum ("max") of each channel; TVM's ``topi.nn.global_pool``."""
    return adaptive_pool(data, (1, 1), pool_type, layout)


nn = SimpleNamespace(
    **{n: f for n, f in _FUNCTIONS.items() if f"relax.nn.{n}" in OPERATORS},
    adaptive_pool=adaptive_pool,
    dense=_FUNCTIONS["dense"],
    global_pool=global_pool,
    matmul=_FUNCTIONS["matmul"],
    pool2d=pool2d,
    upsampling=upsampling,
)
"""The functions of neural networks, and what TVM has among them: ``topi.nn.dense``."""


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    registered = [op for full, op in OPERATORS.items() if full.rpartition(".")[2] == name]
    if registered:
        return _function(name, registered[-1])
    raise AttributeError(
        f"module '{__name__}' has no attribute '{name}'{suggestion(name, __dir__())}"
    )


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)


Tensor.topi = _FUNCTIONS
