"""Models in which sizes depend on data: nonzero, masks, unique, numbers read from tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import xrelax  # noqa: E402
from xrelax.importers.unsupported import UnsupportedError  # noqa: E402


class Function(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def numbers(*shape: int) -> torch.Tensor:
    """Small whole numbers, with some zeros."""
    torch.manual_seed(sum(shape))
    return torch.randint(-2, 3, shape).float()


def check(function: Callable[..., Any], *calls: Any, **options: Any) -> Any:
    """Compile for the first arguments, and compare every call with PyTorch."""
    compiled = xrelax.compile(Function(function), calls[0], **options)
    for args in calls:
        torch.testing.assert_close(compiled(*args), function(*args))
    return compiled


def selected_sum(x: Any) -> Any:
    return x[x > 0].sum() + 1


def rows(x: Any) -> Any:
    chosen = x[x.sum(1) > 0]
    return torch.softmax(chosen, 1), chosen.mean(1)


def columns(x: Any) -> Any:
    return x[:, x[0] > 0]


def mixed(x: Any) -> Any:
    return x[x[:, 0] > 0, 1]


def placed(x: Any) -> Any:
    y = x.clone()
    y[x > 0] = y[x > 0] * 10
    return y


@pytest.mark.parametrize(
    "function",
    [
        torch.nonzero,
        lambda x: torch.nonzero(x, as_tuple=True),
        lambda x: torch.masked_select(x, x[:1] > 0),
        selected_sum,
        rows,
        columns,
        mixed,
        placed,
        lambda x: x[x > 5],
        lambda x: torch.argwhere(x > 0).sum(0),
    ],
)  # fmt: skip
def test_masks(function: Callable[..., Any]) -> None:
    rows = torch.export.Dim("rows", min=2)
    calls = [(numbers(n, 4),) for n in (5, 2, 300)]
    check(function, *calls, dynamic_shapes={"args": ({0: rows},)})


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_unique(inverse: bool, counts: bool) -> None:
    options = {"return_inverse": inverse, "return_counts": counts}
    calls = [(numbers(3, 5),), (-numbers(3, 5),), (torch.zeros(3, 5),)]
    check(lambda x: torch.unique(x, **options), *calls)
    check(lambda x: torch.unique_consecutive(x, **options), *calls)


@pytest.mark.parametrize("further", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_unique_slices(dim: int, further: bool) -> None:
    n = torch.export.Dim("n", min=0)
    calls = [(numbers(size, 2, 2).clamp(0, 1),) for size in (7, 1, 40)]
    options = {"dim": dim, "return_inverse": further, "return_counts": further}
    check(lambda x: torch.unique(x, **options), *calls, dynamic_shapes={"args": ({0: n},)})


def test_unique_slices_of_a_vector() -> None:
    check(lambda x: torch.unique(x, dim=0, return_counts=True), (torch.tensor([3, 1, 3, 0]),))


def test_unique_of_integers_and_of_nothing() -> None:
    n = torch.export.Dim("n", min=0)
    calls = [(torch.tensor([3, 1, 3, 3]),), (torch.zeros(0, dtype=torch.int64),)]
    check(lambda x: torch.unique(x, return_counts=True), *calls, dynamic_shapes={"args": ({0: n},)})


@pytest.mark.parametrize("rows", [None, torch.export.Dim("rows", min=2)])
def test_numbers_read_from_constants(rows: Any) -> None:
    def repeated(x: Any) -> Any:
        places = torch.arange(5).unsqueeze(0).repeat(2, 1)
        return x[:1].repeat(places.max() + 1, 2), torch.arange((places * 2).sum())

    calls = [(numbers(n, 4),) for n in (5, 2, 5)[: 3 if rows else 1]]
    check(repeated, *calls, dynamic_shapes={"args": ({0: rows},)})


def read(x: Any, n: Any) -> Any:
    size = n.item()
    torch._check(size >= 0)
    torch._check(size <= x.shape[0])
    return torch.arange(size) * 2, torch.zeros(size, 3) + x.sum(), size


def test_a_number_as_a_size() -> None:
    calls = [(numbers(6, 2), torch.tensor(n)) for n in (4, 0, 6)]
    compiled = check(read, *calls)
    with pytest.raises(ValueError, match="expected a dim of at most 6, got 7"):
        compiled(numbers(6, 2), torch.tensor(7))
    with pytest.raises(ValueError, match="expected a dim of at least 0, got -1"):
        compiled(numbers(6, 2), torch.tensor(-1))


def test_floats_read_from_tensors() -> None:
    def scaled(x: Any) -> Any:
        mean = x.mean().item()
        return x.half() * mean, x * (mean / 3 + 1), mean, mean * 2

    check(scaled, (numbers(5, 4),), (torch.zeros(5, 4),))

    def raised(x: Any, y: Any) -> Any:
        return y.item(), y + 1, (x + 9) ** y.item()

    check(raised, (numbers(5), torch.tensor(1 / 3, dtype=torch.float64)))


def test_two_masks_that_select_equally_many() -> None:
    def added(x: Any) -> Any:
        y = x.clone()
        y[x > 0] += x[x > 0] * 10
        return y

    check(added, (numbers(5, 4),), (-numbers(5, 4),), (torch.zeros(5, 4),))


def test_sizes_of_parts_with_an_asserted_sum() -> None:
    def parts(x: Any, counts: Any) -> Any:
        first, second, third = x.split(counts.tolist())
        return torch.cat([first * 2, second * 3, third * 5]) + x

    x = numbers(6, 2)
    calls = [(x, torch.tensor(counts)) for counts in ([1, 2, 3], [0, 0, 6], [0, 6, 0])]
    compiled = check(parts, *calls)
    with pytest.raises(ValueError, match="expected a dim of 3, got 4"):
        compiled(x, torch.tensor([1, 2, 4]))


def test_numbers_without_a_limit() -> None:
    def unlimited(x: Any, n: Any) -> Any:
        size = n.item()
        return torch.zeros(size, 2) + x.sum(), torch.arange(size), x.sum()

    check(unlimited, *((numbers(3), torch.tensor(n)) for n in (3, 0, 100)))
    with pytest.raises(UnsupportedError, match=r"call torch\._check\(0 <= n\)"):
        xrelax.compile(Function(torch.Tensor.item), (torch.tensor(3),))


def test_a_model_after_a_choice_of_tokens() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.score, self.layer = torch.nn.Linear(8, 1), torch.nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            kept = x[self.score(x).squeeze(-1) > 0]
            return torch.nn.functional.gelu(self.layer(kept))

    torch.manual_seed(0)
    model = Model().eval()
    compiled = xrelax.compile(
        model, (torch.randn(20, 8),), dynamic_shapes=({0: torch.export.Dim("n")},)
    )
    for count in (20, 2, 200):
        x = torch.randn(count, 8)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x), atol=1e-5, rtol=1e-5)
