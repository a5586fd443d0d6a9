"""The arguments and results of an exported program, as tensors and in the model's structure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from ...dialects.int_expr import IntExpr
from ...runtime.arguments import bind_names
from .composed_dims import symbol_sources
from .exported_program import Program, argument_names, is_computed, structures
from .tensors import as_argument, complex_tensor


class Leaf(NamedTuple):
    """One leaf of the flattened arguments: a parameter, or a value that the export specialized."""

    name: str
    is_parameter: bool
    value: Any = None
    dtype: torch.dtype | None = None
    """The dtype of a complex parameter."""


class Signature:
    """How the arguments of a model become tensors, and tensors its results; can be pickled."""

    def __init__(self, program: Program):
        given = program.program
        self._in_spec, self.out_spec = structures(given)
        self._names = argument_names(given)
        self._leaves = _leaves(program)
        self._outputs = _outputs(program)
        values = [given.node.meta["val"] for given in program.parameters()]
        self._sizes = symbol_sources([program.symbols.dims_of_input(v) for v in values])
        self._count = self._in_spec.child(0).num_children

    @property
    def inputs(self) -> int:
        """How many leaves of the arguments are parameters of the function."""
        return sum(leaf.is_parameter for leaf in self._leaves)

    @property
    def is_plain(self) -> bool:
        """Whether arguments are real tensors by position, and results real tensors."""
        fields = self._in_spec.child(0).children()
        plain = len(self._leaves) == self._count and all(f.is_leaf() for f in fields)
        plain = plain and all(leaf.is_parameter and not leaf.dtype for leaf in self._leaves)
        returned = all(computed and value is None for computed, value in self._outputs)
        return plain and returned

    def tensors(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The tensors of a call, in the order of the parameters, each checked by itself.

        Raises TypeError or ValueError as a call of `CompiledModel`.
        """
        leaves = self.flattened(args, kwargs)
        tensors: list[Any] = []
        for leaf, value in zip(self._leaves, leaves, strict=True):
            if leaf.is_parameter:
                tensors.append(as_argument(leaf.name, value, leaf.dtype))
            elif type(value) is not type(leaf.value) or value != leaf.value:
                raise ValueError(
                    f"expected argument '{leaf.name}' to be {leaf.value!r}, its value in the "
                    f"export, got {value!r}"
                )
        return tensors

    def flattened(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of the arguments of a call; raises TypeError for another structure."""
        if (names := self._names) is not None:
            given = bind_names("the model", names, args, kwargs)
            args = given[: self._count]
            kwargs = dict(zip(names[self._count :], given[self._count :], strict=True))
        leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
        if spec != self._in_spec:
            expected, got = (_one_line(s) for s in (self._in_spec, spec))
            raise TypeError(f"expected arguments of structure {expected}, got {got}")
        return leaves

    def restored(self, results: Sequence[Any], tensors: Sequence[Any]) -> Any:
        """The results in the structure of the model's output."""
        leaves: list[Any] = []
        remaining = iter(results)
        for computed, value in self._outputs:
            if computed:
                result = next(remaining)
                leaves.append(result if value is None else value(result))
            elif isinstance(value, IntExpr):
                leaves.append(value.evaluate(lambda s: self._size(s, tensors)))
            else:
                leaves.append(value)
        return pytree.tree_unflatten(leaves, self.out_spec)

    def _size(self, symbol: Any, tensors: Sequence[Any]) -> int:
        source = self._sizes[symbol.name]
        given = tensors[source.position]
        shape = getattr(given, "shape", ()) or (given,)  # numbers of NumPy have no dims
        return source.value(int(shape[source.axis]))


def _leaves(program: Program) -> list[Leaf]:
    parameters = {given.node for given in program.parameters()}
    return [
        Leaf(n.name, True, dtype=_complex_dtype(n.meta.get("val")))
        if n in parameters
        else Leaf(n.name, False, n.meta.get("val"))
        for n in program.inputs
    ]


def _complex_dtype(value: Any) -> torch.dtype | None:
    return value.dtype if isinstance(value, torch.Tensor) and value.is_complex() else None


_NUMBERS: dict[Any, Any] = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}


def _outputs(program: Program) -> list[tuple[bool, Any]]:
    """For each leaf of the output, whether the function computes it.

    With it, the conversion of the result, if it needs one; else the leaf's value, or the expression
    of it.
    """
    found: list[tuple[bool, Any]] = []
    for node, value in program.outputs:
        result = None if node is None else node.meta.get("val")
        if isinstance(result, torch.Tensor):
            found.append((True, complex_tensor if result.is_complex() else None))
        elif is_computed(result):
            found.append((True, _NUMBERS[type(result)]))
        elif isinstance(result, torch.SymInt):
            found.append((False, program.symbols.expr(result)))
        else:
            found.append((False, value if node is None else result))
    return found


def restored_by(spec: pytree.TreeSpec) -> Callable[[tuple[Any, ...]], Any]:
    """The function that unflattens results; it is trivial for a tuple or one tensor."""
    if spec.is_leaf():
        return operator.itemgetter(0)
    if spec.type is tuple and all(field.is_leaf() for field in spec.children()):
        return tuple
    return lambda results: pytree.tree_unflatten(results, spec)


def _one_line(value: object) -> str:
    return " ".join(str(value).split())
