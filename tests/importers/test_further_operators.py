"""Operators that PyTorch decomposes, and those that few models have, compared with PyTorch."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

NAN, INF = float("nan"), float("inf")


def numbers(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def as_model(function: Any) -> Any:
    class Model(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return function(*args)

    return Model()


def each(**functions: Any) -> Any:
    """One model of many functions of the same arguments: its results by name."""

    def model(*args: Any) -> dict[str, Any]:
        return {name: function(*args) for name, function in functions.items()}

    return model


RESIZED = each(
    nearest=lambda x: F.interpolate(x, size=(4, 9)),
    bilinear=lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    corners=lambda x: F.interpolate(x, size=(9, 5), mode="bilinear", align_corners=True),
)


def test_resized_images(check):
    check(RESIZED, numbers(2, 3, 6, 7))


def test_resized_images_of_any_size(check):
    dims = [{0: "batch", 2: "height", 3: "width"}]
    check(RESIZED, numbers(2, 3, 6, 7), dynamic=dims, others=[[numbers(3, 3, 5, 4)]])


def test_floats_of_sizes(check):
    def model(x: Any, i: Any) -> Any:
        n, m = x.shape
        return x / n + m**0.5, i * (n / m), x.half() * (1 / n), torch.full((2,), n / 3)

    first, second = ([numbers(n, 4), torch.arange(n)] for n in (3, 7))
    check(model, *first, dynamic=[{0: "n"}, {0: "n"}], others=[second])


def test_parts_along_diagonals_and_windows(check):
    def filled(x: Any) -> Any:
        x = x.clone()
        x.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return x

    check(
        each(
            diagonal=lambda x: x.diagonal(),
            above=lambda x: x.diagonal(1, -2, -1),
            below=lambda x: x.diagonal(-2, 2, 0),
            filled=filled,
            windows=lambda x: x.unfold(1, 3, 2),
            patches=lambda x: x.unfold(1, 2, 2).unfold(2, 3, 3),
            triangle=lambda x: x[:, *torch.tril_indices(4, 4)],
        ),
        numbers(4, 5, 6),
    )


def test_middle_elements(check):
    x = numbers(4, 6)
    x[1, 2] = NAN
    check(
        each(
            median=lambda x: x.median(1),
            all=lambda x: x[2:].median(),
            broken=lambda x: x.median(),
            second=lambda x: x[2:].kthvalue(2, dim=0, keepdim=True),
            larger=lambda x: torch.fmax(x, -x[:, :1]),
            smaller=lambda x: torch.fmin(x[:, 2:3], x),
        ),
        x,
    )


def test_assignments_with_slices_and_masks(check):
    def put(x: Any, i: Any, v: Any) -> Any:
        a, b, c = x.clone(), x.clone(), x.clone()
        a[:, i] = v[0]
        b[i, :, i] = v[0, 0, 0]
        c[x[:, :, 0] > 0] = v[0, 0]
        return a, b, c

    check(
        each(
            put=put,
            spread=lambda x, i, v: x.masked_scatter(x > 0, v),
            added=lambda x, i, v: x.scatter(0, i.reshape(1, 2, 1), 2.0, reduce="add"),
            largest=lambda x, i, v: x.scatter_reduce(0, i.reshape(1, 2, 1), v, "amax"),
            taken=lambda x, i, v: x.take(i - 4),
            counted=lambda x, i, v: torch.bucketize(x, v.flatten().sort().values, right=True),
        ),
        numbers(3, 5, 3), torch.tensor([0, 2]), numbers(5, 2, 3, seed=1),
    )  # fmt: skip


def test_dims_that_pytorch_leaves_unrelated_are_checked_at_run_time():
    import xrelax

    def model(x: Any, i: Any, v: Any) -> Any:
        return x.index_put((i,), v)

    given = numbers(5, 4), torch.tensor([3, 0]), numbers(2, 4)
    dims = tuple({0: torch.export.Dim(name)} for name in ("rows", "places", "values"))
    compiled = xrelax.compile(as_model(model), given, dynamic_shapes=(dims,))
    torch.testing.assert_close(compiled(*given), model(*given))
    with pytest.raises(ValueError, match="got"):
        compiled(*given[:-1], numbers(3, 4))


def test_tensors_of_rank_0(check):
    check(
        each(
            softmax=lambda x: x.softmax(0) + x.log_softmax(-1),
            sorted=lambda x: (x.topk(1), x.sort(), x.argsort()),
            found=lambda x: x.gather(0, torch.tensor([0])),
        ),
        torch.tensor(2.0),
    )


def test_softmax_where_everything_is_masked(check):
    safe = torch.ops.aten._safe_softmax
    check(lambda x: (safe(x, -1), x.softmax(-1)), torch.tensor([[1, 2, -INF], [-INF, -INF, -INF]]))


def test_attention_of_higher_rank(check):
    attention = F.scaled_dot_product_attention
    q = numbers(2, 2, 3, 5, 8)
    check(
        each(
            plain=attention,
            masked=lambda q, k, v: attention(q, k, v, attn_mask=k[0, :, :, :, :5]),
            shared=lambda q, k, v: attention(q[0], k[0, :1], v[1, :1]),
        ),
        q, q + 1, numbers(2, 2, 3, 5, 8, seed=1),
    )  # fmt: skip


def test_operators_without_any_decomposition_are_named():
    import xrelax

    with pytest.raises(ValueError, match=r"aten\.poisson\.default.*register a converter"):
        xrelax.compile(as_model(lambda x: x + torch.poisson(x.exp())), (numbers(2),))
