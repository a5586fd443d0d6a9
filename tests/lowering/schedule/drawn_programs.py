"""Graph functions of drawn shapes and dtypes, as text, with operands and how exact results are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from choices import Choices

SMALL = (0, 1, 2, 3, 5, 7, 8, 13, 16, 17)
SIZES = (*SMALL, 24, 31, 32, 33, 48, 64, 65, 97, 100, 128, 131, 200, 257, 300)
FLOATS = ("float32", "float64", "float16")
NUMBERS = (*FLOATS, "int32", "int64")


class Dim(int):
    """A size, and how the program's text writes it: the number, or a symbol."""

    text: str


def dim(size: int, text: str | None = None) -> Dim:
    found = Dim(size)
    found.text = str(size) if text is None else repr(text)
    return found


@dataclass(frozen=True)
class Operand:
    """A parameter; `below` makes it one of indices, and `is_constant` one that is bound."""

    name: str
    shape: tuple[Dim, ...]
    dtype: str
    below: int | None = None
    is_constant: bool = False

    @property
    def declaration(self) -> str:
        dims = "".join(f"{d.text}, " for d in self.shape)
        return f'{self.name}: R.Tensor(({dims}), "{self.dtype}")'

    def whole_numbers(self, rng: np.random.Generator) -> np.ndarray:
        """Small numbers, whose sums and products are exact; in f16 only -1, 0 and 1."""
        most = 1 if self.dtype == "float16" else 3
        low, high = (-most, most + 1) if self.below is None else (0, self.below)
        return rng.integers(low, high, self.shape).astype(self.dtype)

    def numbers(self, rng: np.random.Generator) -> np.ndarray:
        if self.below is not None or not self.dtype.startswith("float"):
            return self.whole_numbers(rng)
        return rng.standard_normal(self.shape).astype(self.dtype)


@dataclass
class Program:
    """A function of some operands.

    `terms` is how many numbers an element of the result is the sum of. An exact program has the
    same bits for whole numbers in any order of summation. Others, as a softmax, are only close, for
    numbers that are random.
    """

    operands: list[Operand]
    result: str
    terms: int = 0
    is_exact: bool = True
    name: str = field(default="main")

    @property
    def text(self) -> str:
        declared = ", ".join(o.declaration for o in self.operands)
        return f"@R.function\ndef {self.name}({declared}):\n    return {self.result}\n"


class Draw(Choices):
    """Choices for one program, the same for a seed."""

    def __init__(self, seed: str, dtypes: Sequence[str] = NUMBERS):
        self.rng = random.Random(seed)
        self.dtypes = dtypes
        self.operands: list[Operand] = []
        self.dtype = self.pick(dtypes)

    def among(self, dtypes: Sequence[str]) -> str:
        """Let the dtype be one of these."""
        if self.dtype not in dtypes:
            self.dtype = self.pick([d for d in dtypes if d in self.dtypes])
        return self.dtype

    def dims(self, names: str, most: int = 1 << 21, least: int = 0) -> list[Dim]:
        """A size for each letter, some of them symbols, of which the product is at most `most`."""
        sizes = [s for s in (SMALL if self.chance(30) else SIZES) if s >= least]
        while True:
            found = [self.pick(sizes) for _ in names]
            if np.prod(found) <= most:
                break
        share = self.pick((0, 0, 50, 100))
        return [
            dim(size, name if self.chance(share) else None)
            for name, size in zip(names, found, strict=True)
        ]

    def tensor(self, *shape: int, below: int | None = None, constant: bool = False) -> str:
        """The name of a new operand of the dtype, or of indices below a number."""
        dims = tuple(d if isinstance(d, Dim) else dim(d) for d in shape)
        is_constant = constant and all(d.text.isdigit() for d in dims)
        name = f"a{len(self.operands)}"
        dtype = self.dtype if below is None else self.pick(("int32", "int64"))
        self.operands.append(Operand(name, dims, dtype, below, is_constant))
        return name

    def weight(self, *shape: int) -> str:
        """An operand that may be a constant."""
        return self.tensor(*shape, constant=self.chance(40))

    def epilogue(self, value: str, shape: Sequence[int]) -> str:
        """What may follow element by element: a bias along the last dim, another tensor, a relu."""
        if self.chance(50):
            value = f"R.add({value}, {self.tensor(shape[-1])})"
        if self.chance(20):
            value = f"R.multiply({value}, {self.tensor(*shape)})"
        if self.chance(40):
            value = f"R.nn.relu({value})"
        return value

    def program(self, result: str, terms: int = 0, is_exact: bool = True) -> Program:
        return Program(self.operands, result, terms, is_exact)
