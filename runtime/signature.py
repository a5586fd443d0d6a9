"""The interfaces of native functions for their callers, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from .dtype import dtype_info

Dim: TypeAlias = "int | str | tuple[str, Dim, Dim]"
"""A number, the name of a symbol, or (operator, lhs, rhs) with an operator of `OPERATORS`."""

Node: TypeAlias = "int | tuple[Any, ...]"
"""The structure of an argument or result; see `structure`."""

NOTHING: Node = ("nothing",)
"""The result of a function that returns None."""

OPERATORS = {"add": "+", "mul": "*", "floordiv": "//", "floormod": "%", "min": "", "max": ""}
"""Every operator of a dim, with its infix spelling if it has one."""


def evaluate_dim(dim: Dim, symbols: Mapping[str, int]) -> int:
    """The value of a dim; raises ValueError for a division by zero, KeyError for a free symbol."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, str):
        return symbols[dim]
    lhs, rhs = evaluate_dim(dim[1], symbols), evaluate_dim(dim[2], symbols)
    match dim[0]:
        case "add":
            return lhs + rhs
        case "mul":
            return lhs * rhs
        case "min":
            return min(lhs, rhs)
        case "max":
            return max(lhs, rhs)
        case "floordiv" | "floormod":
            if rhs == 0:
                raise ValueError(f"division by zero in dim {dim_text(dim)}")
            return lhs // rhs if dim[0] == "floordiv" else lhs % rhs
        case _:
            raise ValueError(f"expected a dim operator ({', '.join(OPERATORS)}), got '{dim[0]}'")


def dim_symbols(dim: Dim) -> Iterator[str]:
    """The names of the symbols in a dim, with repeats."""
    if isinstance(dim, str):
        yield dim
    elif not isinstance(dim, int):
        yield from dim_symbols(dim[1])
        yield from dim_symbols(dim[2])


def dim_text(dim: Dim, *, nested: bool = False) -> str:
    """A dim as Python writes it: `n * 4 + 1`."""
    if not isinstance(dim, tuple):
        return str(dim)
    infix = OPERATORS[dim[0]]
    if not infix:
        return f"{dim[0]}({dim_text(dim[1])}, {dim_text(dim[2])})"
    text = f"{dim_text(dim[1], nested=True)} {infix} {dim_text(dim[2], nested=True)}"
    return f"({text})" if nested else text


def shape_text(shape: Iterable[Dim]) -> str:
    """A shape as Python writes a tuple: `(n, 4)`, `(4,)`."""
    dims = [dim_text(d) for d in shape]
    return f"({dims[0]},)" if len(dims) == 1 else f"({', '.join(dims)})"


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """The element type and shape of a tensor that native code reads or writes."""

    dtype: str
    shape: tuple[Dim, ...]

    def __post_init__(self) -> None:
        _verify(self)


@dataclass(frozen=True, slots=True)
class ParamSpec:
    """A parameter: a tensor with a name; a `written` one must be writable memory."""

    name: str
    dtype: str
    shape: tuple[Dim, ...]
    written: bool = False

    def __post_init__(self) -> None:
        _verify(self)


@dataclass(frozen=True, slots=True)
class Signature:
    """The names and structures of arguments and results that are not single tensors."""

    names: tuple[str, ...]
    arguments: tuple[Node, ...]
    result: Node


@dataclass(frozen=True, slots=True)
class PackedSite:
    """A place where native code calls the registered function `name` on `args`, outputs last.

    The function's result is copied to the last `returned` arguments. With a `text`, the function is
    a built-in one of the runtime, which gets it as a format. `kept` has, for each value that the
    function returns, the numbers of the results of unknown shape that it is. The `signature` has
    the structure of what is not a tensor for each argument. Its dims and numbers are numbers of
    words, which native code passes after the dims of `args`.
    """

    name: str
    args: tuple[TensorSpec, ...]
    returned: int = 0
    text: str | None = None
    kept: tuple[tuple[int, ...], ...] = ()
    signature: Signature | None = None


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """The interface of one native function `i32 entry(ptr ctx, ptr argv)`.

    argv holds i64 words: the data pointers of `params`, then of `results` (which the caller
    allocates), then the values of `symbols`. `arena_size` is the scratch memory of a call in bytes.
    `checks[i]` is the message of the run-time check with id i, where `{0}` and `{1}` stand for the
    values that native code reports. `takes_memory` says that native code allocates memory for
    nested calls while it runs. A `signature` replaces `params` as the interface for users. The last
    results hold the values of the `reported` symbols, which dims of other results depend on. Raises
    ValueError for an inconsistent interface.
    """

    name: str
    entry: str
    params: tuple[ParamSpec, ...]
    symbols: tuple[str, ...] = ()
    results: tuple[TensorSpec, ...] = ()
    returns_tuple: bool = False
    arena_size: Dim = 0
    packed_sites: tuple[PackedSite, ...] = ()
    checks: tuple[str, ...] = ()
    takes_memory: bool = False
    signature: Signature | None = None
    reported: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_function(self)

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        if self.signature is not None:
            return self.signature.names
        return tuple(p.name for p in self.params)

    def to_json(self) -> dict[str, Any]:
        """The interface as lists, dicts, strings and numbers."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> FunctionSpec:
        """The interface that `to_json` wrote, also after conversion to JSON text and back."""
        return FunctionSpec(
            name=data["name"],
            entry=data["entry"],
            params=tuple(
                ParamSpec(p["name"], p["dtype"], _dims(p["shape"]), p["written"])
                for p in data["params"]
            ),
            symbols=tuple(data["symbols"]),
            results=_tensors(data["results"]),
            returns_tuple=data["returns_tuple"],
            arena_size=_dim(data["arena_size"]),
            packed_sites=tuple(
                PackedSite(
                    s["name"],
                    _tensors(s["args"]),
                    s["returned"],
                    s["text"],
                    _node(s["kept"]),
                    _signature(s["signature"]),
                )
                for s in data["packed_sites"]
            ),
            checks=tuple(data["checks"]),
            takes_memory=data["takes_memory"],
            signature=_signature(data["signature"]),
            reported=tuple(data["reported"]),
        )


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """The function without parameters that computes values from constants on load.

    `sources` are the positions of the constants that no other function reads.
    """

    function: FunctionSpec
    sources: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As `FunctionSpec.to_json`."""
        return {"function": self.function.to_json(), "sources": list(self.sources)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> LoadSpec:
        """As `FunctionSpec.from_json`."""
        return LoadSpec(FunctionSpec.from_json(data["function"]), tuple(data["sources"]))


def _verify(spec: TensorSpec | ParamSpec) -> None:
    """Check a new spec, and make its dtype the name that native code compares by identity."""
    check_tensor(spec.dtype, spec.shape)
    object.__setattr__(spec, "dtype", dtype_info(spec.dtype).name)


def check_tensor(dtype: str, shape: Iterable[Dim]) -> None:
    """Raise ValueError unless the dtype is known and every dim is well formed."""
    dtype_info(dtype)
    for dim in shape:
        _check_dim(dim)


def _check_dim(dim: Dim) -> None:
    if isinstance(dim, int):
        if dim < 0:
            raise ValueError(f"expected a dim of at least 0, got {dim}")
    elif isinstance(dim, tuple):
        if dim[0] not in OPERATORS:
            raise ValueError(f"expected a dim operator ({', '.join(OPERATORS)}), got '{dim[0]}'")
        # A negative number is valid inside an expression: n - 1 is ("add", "n", -1).
        for operand in dim[1:]:
            if not isinstance(operand, int):
                _check_dim(operand)


def _check_function(spec: FunctionSpec) -> None:
    names = [p.name for p in spec.params]
    if len(set(names)) != len(names):
        raise ValueError(
            f"expected distinct parameter names in '{spec.name}', got {', '.join(names)}"
        )
    solvable = {d for p in spec.params for d in p.shape if isinstance(d, str)}
    if spec.signature is not None:
        solvable |= {d for node in spec.signature.arguments for d in _numbers(node)}
    for symbol in spec.symbols:
        if symbol not in solvable:
            raise ValueError(f"symbol '{symbol}' of '{spec.name}' is no dim of a parameter")
    used = [*(p.shape for p in spec.params), *(r.shape for r in spec.results), (spec.arena_size,)]
    for symbol in (s for shape in used for d in shape for s in dim_symbols(d)):
        if symbol not in spec.symbols:
            raise ValueError(f"symbol '{symbol}' is used in '{spec.name}' but not declared")
    if len(spec.results) > 1 and not spec.returns_tuple and not spec.reported:
        raise ValueError(f"'{spec.name}' has {len(spec.results)} results but returns no tuple")


def _numbers(node: Node) -> Iterator[str]:
    """The symbols that shapes and integers of a node declare."""
    if isinstance(node, int):
        return
    if node[0] == "tuple":
        for field in node[1:]:
            yield from _numbers(field)
    else:
        yield from (d for d in node[1 if node[0] == "shape" else 2 :] if isinstance(d, str))


def _signature(data: Any) -> Signature | None:
    if data is None:
        return None
    return Signature(
        tuple(data["names"]), tuple(map(_node, data["arguments"])), _node(data["result"])
    )


def _node(data: Any) -> Any:
    return tuple(map(_node, data)) if isinstance(data, list | tuple) else data  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _dim(data: Any) -> Dim:
    return data if isinstance(data, int | str) else (data[0], _dim(data[1]), _dim(data[2]))


def _dims(data: Iterable[Any]) -> tuple[Dim, ...]:
    return tuple(_dim(d) for d in data)


def _tensors(data: Iterable[Mapping[str, Any]]) -> tuple[TensorSpec, ...]:
    return tuple(TensorSpec(t["dtype"], _dims(t["shape"])) for t in data)
