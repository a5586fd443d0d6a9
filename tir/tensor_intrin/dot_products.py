"""Tensor intrinsics of dot products of four bytes each, for `T.dp4a`.

The implementation has a vectorized loop over the elements of C::

    for i in T.serial(16):                         for i in T.vectorized(16):
        for k in T.serial(4):                        C[i] += T.dp4a(word of A[0:4],
            C[i] += int(A[k]) * int(B[i, k])   ⇒                    word of B[i, 0:4])
"""

from __future__ import annotations

from ...ir.prim_func import PrimFunc
from ...script import from_source
from .intrinsic import TensorIntrin

BYTES = 4
"""The bytes of a word."""

_PARAMETERS = """\
    A: T.Buffer((4,), "{lhs}", offset_factor=1),
    B: T.Buffer(({lanes}, 4), "{rhs}", offset_factor=1),
    C: T.Buffer(({lanes},), "{out}", offset_factor=1),
"""

_DESCRIPTION = (
    """
@T.prim_func
def dot_products(
"""
    + _PARAMETERS
    + """):
    for i, k in T.grid({lanes}, 4):
        with T.block("update"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + T.Cast("{out}", A[vk]) * T.Cast("{out}", B[vi, vk])
"""
)

_IMPLEMENTATION = (
    """
@T.prim_func
def dot_products(
"""
    + _PARAMETERS
    + """):
    for i in T.vectorized({lanes}):
        with T.block("update"):
            vi = T.axis.spatial({lanes}, i)
            C[vi] = C[vi] + {product}
"""
)


def register_dot_products(name: str, lanes: int, lhs: str, rhs: str, out: str) -> str:
    """Register a dot product with each row of a matrix of bytes under a name, which is returned.

    C of shape ``(lanes,)`` and dtype `out`, int32 or uint32, is increased by the products of A of
    shape ``(4,)`` and dtype `lhs` with B of shape ``(lanes, 4)`` and dtype `rhs`. Sums are exact,
    modulo 2^32. The target chooses the instruction, as for `T.dp4a`.
    """
    words = (_word("A[{}]", lhs), _word("B[vi, {}]", rhs))
    product = f"T.dp4a({', '.join(words)})"
    if out != "int32":
        product = f'T.Cast("{out}", {product})'
    facts = {"lanes": lanes, "lhs": lhs, "rhs": rhs, "out": out, "product": product}
    TensorIntrin.register(
        name, _function(_DESCRIPTION.format(**facts)), _function(_IMPLEMENTATION.format(**facts))
    )
    return name


def description_of(name: str) -> PrimFunc:
    """What a registered intrinsic computes."""
    intrinsic = TensorIntrin.get(name)
    assert intrinsic is not None
    return intrinsic.desc


def _function(source: str) -> PrimFunc:
    function = from_source(source)
    assert isinstance(function, PrimFunc)
    return function


def _word(element: str, dtype: str) -> str:
    """The word of four bytes as a script, the first byte in the lowest bits."""
    word = {"int8": "int32", "uint8": "uint32"}[dtype]
    bytes_ = [f'T.Cast("uint8", {element.format(n)})' for n in range(BYTES)]
    parts = [f'T.Cast("{word}", {b}) << T.{word}({8 * n})' for n, b in enumerate(bytes_)]
    return " | ".join(f"({part})" for part in parts)
