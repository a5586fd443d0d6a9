"""Tensors that tests of operators of PyTorch are given."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
SOME = [torch.float32, torch.bfloat16]


def numbers(*shape: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return made.to(dtype)


def integers(*shape: int, low: int = -5, high: int = 6, dtype: Any = torch.int64) -> Any:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(3)).to(dtype)


X, Y = numbers(3, 4), numbers(3, 4, seed=1)
N, M = integers(3, 4), integers(3, 4, low=1, high=7)
B = X > 0


def each(**functions: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """One model of many functions of the same arguments: its results by name."""

    def model(*args: Any) -> dict[str, Any]:
        return {name: function(*args) for name, function in functions.items()}

    return model
