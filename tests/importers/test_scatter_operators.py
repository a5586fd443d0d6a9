"""Scatters with reductions, compared with PyTorch."""

from typing import Any

import pytest
from drawn_tensors import each, integers, numbers

torch = pytest.importorskip("torch")
NAN, INF = float("nan"), float("inf")
REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_scatter_reduce(check, dtype, include_self):
    def reduced(kind: str) -> Any:
        return lambda x, i, s: x.scatter_reduce(1, i, s, kind, include_self=include_self)

    x, source = (integers(4, 5, low=-9, high=9).to(dtype) for _ in range(2))
    if dtype.is_floating_point:
        x[0, 1], source[1, 0], source[2, 2] = INF, NAN, -INF
    check(each(**{k: reduced(k) for k in REDUCTIONS}), x, integers(3, 4, low=0, high=5), source)


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("include_self", [True, False])
def test_index_reduce(check, include_self):
    def reduced(kind: str) -> Any:
        return lambda x, i, s: x.index_reduce(1, i, s, kind, include_self=include_self)

    kinds = ("prod", "mean", "amax", "amin")
    index = torch.tensor([3, 0, 3, 3])
    check(each(**{k: reduced(k) for k in kinds}), numbers(2, 5, 3), index, numbers(2, 4, 3, seed=1))


@pytest.mark.filterwarnings("ignore:index_reduce")
def test_tensors_of_rank_0(check):
    check(
        each(
            scattered=lambda x, i, s: x.scatter_reduce(0, i, s, "mean", include_self=False),
            placed=lambda x, i, s: x.index_reduce(0, i.reshape(1), s, "prod"),
        ),
        torch.tensor(2.0), torch.tensor(0), torch.tensor(5.0),
    )  # fmt: skip


def test_segments_of_a_number_that_varies(check):
    """The mean over the neighbors of each node of a graph."""

    def mean(x: Any, i: Any, s: Any) -> Any:
        return x.scatter_reduce(0, i[:, None].expand_as(s), s, "mean", include_self=False)

    def given(nodes: int, edges: int) -> list[Any]:
        return [numbers(nodes, 3), integers(edges, low=0, high=nodes), numbers(edges, 3, seed=1)]

    dims = [{0: "nodes"}, {0: "edges"}, {0: "edges"}]
    check(mean, *given(4, 7), dynamic=dims, others=[given(9, 30)])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bags(check, mode):
    def bags(**options: Any) -> Any:
        return lambda w, i, o: torch.nn.functional.embedding_bag(i, w, o, mode=mode, **options)

    def matrix(w: Any, i: Any, o: Any) -> Any:
        return torch.nn.functional.embedding_bag(i.reshape(4, 2), w, mode=mode)

    functions = {"plain": bags(), "padded": bags(padding_idx=2), "matrix": matrix}
    functions["ended"] = bags(include_last_offset=True)
    if mode == "sum":
        weights = numbers(8, seed=2)
        functions["weighted"] = bags(per_sample_weights=weights)
    given = numbers(6, 3), torch.tensor([1, 2, 2, 5, 0, 2, 3, 1]), torch.tensor([0, 1, 3, 3, 8])
    check(each(**functions), *given)


def test_bags_of_a_layer_of_any_length(check):
    layer = torch.nn.EmbeddingBag(7, 3, mode="mean").eval()
    given = integers(5, low=0, high=7), torch.tensor([0, 2])
    others = [[integers(9, low=0, high=7), torch.tensor([0, 4])]]
    check(layer, *given, dynamic=[{0: "n"}, {}], others=others)


def test_elements_put_at_flat_indices(check):
    x, index = numbers(3, 4), torch.tensor([[0, -1], [5, 5]])
    check(
        each(
            put=lambda x, i, s: x.put(i[:, :1], s[:, :1]),
            added=lambda x, i, s: x.put(i, s, accumulate=True),
        ),
        x, index, numbers(2, 2, seed=1),
    )  # fmt: skip
