"""Convert PyTorch's symbolic sizes to integer expressions over named symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import add, mul
from typing import Any, cast

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i64
from xdsl.ir import Attribute

from ...dialects.bounds import Interval, simplify
from ...dialects.int_expr import Atom, IntExpr, Sym, floordiv, floormod, maximum, minimum, sym
from ...dialects.relax import SYMBOL_BOUNDS
from ...dialects.sym import RESERVED
from ..unsupported import Unsupported

Size = int | torch.SymInt

_FUNCTIONS: dict[str, Callable[..., IntExpr]] = {
    "Add": lambda *args: reduce(add, args),
    "CleanDiv": floordiv,
    "FloorDiv": floordiv,
    "Max": lambda *args: reduce(maximum, args),
    "Min": lambda *args: reduce(minimum, args),
    "Mod": floormod,
    "Mul": lambda *args: reduce(mul, args),
    "PythonMod": floormod,
}


class Symbols:
    """The names of a graph's symbols, those of `torch.export.Dim` are kept, and their ranges.

    `constraints` are PyTorch's value ranges of its own symbols. Least values of 0, and ranges of
    symbols whose values depend on data, are no attributes, unless `all_ranges`.
    """

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        constraints: Mapping[Any, Any] | None = None,
        *,
        all_ranges: bool = False,
    ):
        self.all_ranges = all_ranges
        self.names = dict(names or {})
        self.ranges = {
            self.names.get(str(symbol), str(symbol)): _bounds(range_)
            for symbol, range_ in (constraints or {}).items()
        }
        """The least and the greatest value of each symbol, `None` for no upper bound."""
        self.intervals: dict[Atom, Interval] = {
            Sym(name): Interval(IntExpr.of(low), sym(name) if high is None else IntExpr.of(high))
            for name, (low, high) in self.ranges.items()
            if not depends_on_data(name)
        }
        """The ranges of those that calls check."""
        self.data: set[str] = set()
        """The symbols whose values operations of the graph give."""
        self.equal: dict[str, Any] = {}
        """Symbols that equal expressions of others, by the model's assertions, or numbers."""

    def expr(self, size: Any) -> IntExpr:
        """A size or sympy expression as `IntExpr`; raises Unsupported for unknown functions."""
        if isinstance(size, int):
            return IntExpr.of(size)
        if isinstance(size, torch.SymInt):
            return self.expr(_node(size).expr)
        match size:
            case sympy.Integer():
                return IntExpr.of(int(size))
            case sympy.Symbol() if str(size) in self.equal:
                return self.expr(self.equal[str(size)])
            case sympy.Symbol():
                return sym(self.name(size))
            case sympy.Pow(args=(base, sympy.Integer() as power)) if int(power) > 0:
                return reduce(mul, [self.expr(base)] * int(power))
            case _ if type(size).__name__ in _FUNCTIONS:
                found = _FUNCTIONS[type(size).__name__](*map(self.expr, size.args))
                return simplify(found, self.intervals)
            case _:
                raise Unsupported(f"expected a size of integers and symbols, got {size}")

    def name(self, symbol: sympy.Symbol) -> str:
        """The name of a symbol; raises Unsupported for one whose value depends on data."""
        text = str(symbol)
        if depends_on_data(text) and text not in self.names and text not in self.data:
            raise Unsupported(
                f"expected a size that the arguments' shapes determine, got '{text}'",
                "the value depends on data",
            )
        return self.names.get(text, text)

    def declare(self, result: Any) -> None:
        """Accept the sizes of a node's results that depend on data: the node computes them."""
        for value in pytree.tree_leaves(result):
            sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
            for size in sizes:
                if isinstance(size, torch.SymInt):
                    names = {str(s) for s in _node(size).expr.free_symbols}
                    self.data |= set(filter(depends_on_data, names))

    def range_attributes(self, names: Iterable[str]) -> dict[str, Attribute]:
        """The ranges of symbols as attributes of a function, TVM's ``tir_var_lower_bound`` etc."""
        listed = dict.fromkeys([*names, *(sorted(self.data) if self.all_ranges else ())])
        limits = [(name, *self.ranges[name]) for name in listed if name in self.ranges]
        lower = {
            name: IntegerAttr(low, i64) for name, low, _ in limits if low > 0 or self.all_ranges
        }
        upper = {name: IntegerAttr(high, i64) for name, _, high in limits if high is not None}
        entries = zip(SYMBOL_BOUNDS, (lower, upper), strict=True)
        return {name: DictionaryAttr(found) for name, found in entries if found}

    def set_number(self, symbol: torch.SymInt, number: int) -> IntExpr:
        """Use a number for a symbol whose value the graph reads from a constant."""
        self.equal[str(_node(symbol).expr)] = number
        return IntExpr.of(number)

    def dims(self, tensor: torch.Tensor) -> list[IntExpr]:
        """The dims of a tensor of the graph."""
        return [self.expr(size) for size in tensor.shape]

    def dims_of_input(self, value: Any) -> list[IntExpr]:
        """The dims of a tensor, or an input that is a number."""
        return self.dims(value) if isinstance(value, torch.Tensor) else [self.expr(value)]


def _bounds(range_: Any) -> tuple[int, int | None]:
    lower, upper = (int(b) if b.is_Integer else None for b in (range_.lower, range_.upper))
    return lower or 0, upper


def depends_on_data(name: str) -> bool:
    """Whether the name is that of a symbol whose value is read from a tensor."""
    return name.startswith("u")


_UNLIMITED = 1 << 40
"""Bounds from here on are those of integers, and say nothing about a size."""


def is_size(shape_env: Any, symbol: sympy.Symbol) -> bool:
    """Whether PyTorch knows that a number that depends on data is at least 0."""
    known: Any = shape_env.var_to_range.get(symbol)
    return known is not None and bool(known.lower >= 0)


def upper_bound(shape_env: Any, symbol: sympy.Symbol) -> Any:
    """The largest value of a size that depends on data by `torch._check`s; None without a limit."""
    known: Any = shape_env.var_to_range.get(symbol)
    if known is not None and known.lower < 0:
        return None
    for check in shape_env.deferred_runtime_asserts.get(symbol, ()):
        found = _limit(check.expr, symbol)
        if found is not None:
            return found
    if known is None or not known.upper.is_Integer or int(known.upper) >= _UNLIMITED:
        return None
    return known.upper


def _limit(relation: Any, symbol: sympy.Symbol) -> Any:
    """What a relation says that a symbol is at most, in terms of others."""
    sides: Any = relation.args
    if isinstance(relation, sympy.Ge | sympy.Gt):
        sides = sides[::-1]
    elif not isinstance(relation, sympy.Le | sympy.Lt):
        return None
    rest: Any = (symbol - (sides[0] - sides[1])).expand()
    if rest.has(symbol) or any(depends_on_data(str(s)) for s in rest.free_symbols):
        return None
    return rest - 1 if isinstance(relation, sympy.Lt | sympy.Gt) else rest


def dim_names(shape_env: Any) -> dict[str, str]:
    """The names of `torch.export.Dim`s, by the names of PyTorch's own symbols."""
    names: dict[str, str] = {}
    given: Mapping[str, str] = getattr(shape_env, "source_name_to_debug_name", {})
    for symbol, sources in dict(getattr(shape_env, "var_to_sources", {})).items():
        found = [given.get(_source_name(source), "") for source in sources]
        current = shape_env.replace(symbol)
        for name in found:
            usable = name.isidentifier() and name not in RESERVED and name not in names.values()
            if usable and isinstance(current, sympy.Symbol):
                names.setdefault(str(current), name)
    return names


def _source_name(source: Any) -> str:
    return str(source.name() if callable(source.name) else source.name)


def _node(size: torch.SymInt) -> Any:
    """PyTorch's `SymNode` of a symbolic size."""
    return cast(Any, size).node


def shape_env_of(graph: torch.fx.Graph) -> Any:
    """The `ShapeEnv` of a graph, `None` if no size is symbolic."""
    for node in graph.nodes:
        value = node.meta.get("val")
        sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
        for size in sizes:
            if isinstance(size, torch.SymInt):
                return _node(size).shape_env
    return None
