"""Sums of products in Einstein notation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_letters
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def, var_operand_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Text
from .base import OperatorOp
from .conversion import accumulator, product_element, rounded, wide
from .inference import broadcast_dims
from .language import TensorLanguage

ELLIPSIS = "..."


def parse_subscripts(op_name: str, subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The subscripts of each operand and of the result, with ellipses expanded.

    An implicit result has the letters that occur once, in alphabetical order. Raises ValueError
    with one line for letters that do not match the ranks.
    """
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    given = inputs.split(",")
    if len(given) != len(ranks) or not all(map(_fits, given, ranks)):
        raise _misfit(op_name, subscripts, ranks)
    pairs = zip(given, ranks, strict=True)
    hidden = max((r - len(g) + len(ELLIPSIS) for g, r in pairs if ELLIPSIS in g), default=0)
    batch = [c for c in ascii_letters if c not in subscripts][:hidden]
    letters = [_spelled(g, batch, r) for g, r in zip(given, ranks, strict=True)]
    if not arrow:
        named = inputs.replace(ELLIPSIS, "").replace(",", "")
        output = ELLIPSIS + "".join(sorted(c for c in set(named) if named.count(c) == 1))
    result = output.replace(ELLIPSIS, "".join(batch))
    if len(set(result)) != len(result) or not set(result) <= set("".join(letters)):
        raise _misfit(op_name, subscripts, ranks)
    return letters, result


def _misfit(op_name: str, subscripts: str, ranks: Sequence[int]) -> ValueError:
    shown = " and ".join(map(str, ranks))
    return ValueError(
        f"expected subscripts of '{op_name}' for tensors of rank {shown}, got '{subscripts}'"
    )


def _fits(given: str, rank: int) -> bool:
    named = given.replace(ELLIPSIS, "", 1)
    enough = len(named) <= rank if ELLIPSIS in given else len(named) == rank
    return enough and all(c in ascii_letters for c in named)


def _spelled(given: str, batch: Sequence[str], rank: int) -> str:
    """The letters of an operand, with the last ones of `batch` for its ellipsis."""
    hidden = rank - len(given) + len(ELLIPSIS)
    return given.replace(ELLIPSIS, "".join(batch[len(batch) - hidden :]))


def letter_dims(letters: Iterable[str], shapes: Iterable[Sequence[IntExpr]]) -> dict[str, IntExpr]:
    """The dim of each letter; raises ValueError if its dims do not broadcast."""
    dims: dict[str, IntExpr] = {}
    for own, shape in zip(letters, shapes, strict=True):
        for letter, dim in zip(own, shape, strict=True):
            (dims[letter],) = broadcast_dims([dims.get(letter, dim)], [dim])
    return dims


@irdl_op_definition
class EinsumOp(OperatorOp):
    """A sum of products in Einstein notation, ``"ij,jk->ik"``; `numpy.einsum`, `torch.einsum`.

    Letters that are not in the result are summed over. Dims of 1 broadcast; those of an ellipsis
    are aligned at the right.
    """

    name = "relax.einsum"
    tensors = var_operand_def(TensorType)
    subscripts = opt_prop_def(Text())
    assembly_format = "$tensors attr-dict `:` functional-type($tensors, $result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        if not operands:
            raise ValueError(f"expected tensors of '{cls.name}', got none")
        element = product_element(cls.name, operands, None)
        shapes = [o.dims for o in operands if o.dims is not None]
        if len(shapes) < len(operands):
            return TensorType.of(None, element)
        ranks = [len(s) for s in shapes]
        letters, result = parse_subscripts(cls.name, attributes["subscripts"], ranks)
        try:
            dims = letter_dims(letters, shapes)
        except ValueError:
            raise ValueError(
                f"expected shapes of '{cls.name}' to match '{attributes['subscripts']}', "
                f"got {' and '.join(map(shape_text, operands))}"
            ) from None
        return TensorType.of([dims[c] for c in result], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        dtype = accumulator(tensors[0].dtype)
        ranks = [t.ndim for t in tensors]
        letters, result = parse_subscripts(cls.name, attributes["subscripts"], ranks)
        dims = letter_dims(letters, [[te.dim_expr(d) for d in t.shape] for t in tensors])
        sizes = dict(zip(dims, te.tensor.shape_of(list(dims.values())), strict=True))
        axes = {c: te.reduce_axis((0, s), f"r{c}") for c, s in sizes.items() if c not in result}

        def element(*i: Any) -> Any:
            at = axes | dict(zip(result, i, strict=True))
            product: Any = None
            for own, tensor in zip(letters, tensors, strict=True):
                indices = te.broadcast_index(tensor.shape, [at[c] for c in own])
                factor = tensor(*indices).astype(dtype)
                product = factor if product is None else product * factor
            return te.sum(product, axis=list(axes.values())) if axes else product

        found = te.compute([sizes[c] for c in result], element, name="T_einsum")
        return rounded(te, found, tensors[0].dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.einsum(attributes["subscripts"], *(wide(a) for a in arrays))
