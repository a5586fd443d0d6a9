"""Operators of PyTorch that move, pick, order and sum up elements give what PyTorch gives."""

from typing import Any

import pytest
from drawn_tensors import SOME, B, N, X, Y, each, integers, numbers

import xrelax

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_reductions(check, dtype: Any):
    check(
        each(
            sum=lambda x: x.sum(),
            rows=lambda x: x.sum(1, keepdim=True),
            mean=lambda x: x.mean((0, 2)),
            amax=lambda x: x.amax(-1) + x.amin(-1),
            max=lambda x: x.max() - x.min(),
            pair=lambda x: tuple(x.max(1)),
            least=lambda x: tuple(x.min(-1, keepdim=True)),
            argmax=lambda x: x.argmax(1),
            flat=lambda x: x.argmin(),
            var=lambda x: x.var(1),
            std=lambda x: x.std((0, 1), correction=0),
            var_mean=lambda x: tuple(torch.var_mean(x, 2)),
            prod=lambda x: x[:, 0].prod(0),
            logsumexp=lambda x: torch.logsumexp(x, 1),
            cumsum=lambda x: x.cumsum(-1),
            norm=lambda x: torch.linalg.vector_norm(x, dim=1),
        ),
        numbers(2, 3, 4, dtype=dtype),
    )


def test_reductions_of_integers_and_bools(check):
    check(
        each(
            sum=lambda i, b: i.sum(0),
            count=lambda i, b: b.sum(),
            any=lambda i, b: b.any(1),
            all=lambda i, b: i.all(0, keepdim=True),
            everything=lambda i, b: b.all(),
            max=lambda i, b: i.amax(1),
            cumsum=lambda i, b: b.cumsum(1),
            mean=lambda i, b: i.float().mean(),
        ),
        N, B,
    )  # fmt: skip


def test_order(check):
    x = numbers(3, 7)
    check(
        each(
            topk=lambda x: tuple(x.topk(3)),
            least=lambda x: tuple(x.topk(2, dim=0, largest=False)),
            sort=lambda x: tuple(x.sort(-1)),
            down=lambda x: x.sort(0, descending=True)[0],
            argsort=lambda x: x.argsort(1),
        ),
        x,
    )


SHAPES = each(
    view=lambda x: x.view(-1, 4),
    flatten=lambda x: x.flatten(1),
    permute=lambda x: x.permute(2, 0, 1),
    transpose=lambda x: x.transpose(-1, 1).transpose(0, 1),
    unsqueeze=lambda x: x.unsqueeze(1).squeeze(1).unsqueeze(-1),
    expand=lambda x: x[:, :1].expand(-1, 5, -1),
    cat=lambda x: torch.cat([x, x * 2, x[:, :1]], 1),
    stack=lambda x: torch.stack([x, -x], -1),
    split=lambda x: [p + 1 for p in x.split(2, 2)],
    sizes=lambda x: x.split([1, 2], 1)[1],
    chunk=lambda x: x.chunk(2, -1)[1],
    unbind=lambda x: x.unbind(1)[2],
    slice=lambda x: x[:, 1:, ::2],
    negative=lambda x: x[:, -2:, -1],
    select=lambda x: x.select(1, -1),
    narrow=lambda x: x.narrow(2, 1, 2),
    repeat=lambda x: x.repeat(2, 1, 3),
    more=lambda x: x.repeat(2, 1, 1, 1),
    interleave=lambda x: x.repeat_interleave(2, 1),
    flip=lambda x: x.flip(1, 2),
    roll=lambda x: x.roll(1, 1),
    pad=lambda x: F.pad(x, (1, 2, 0, 1), value=3.0),
    crop=lambda x: F.pad(x, (-1, 1)),
    reflect=lambda x: F.pad(x, (2, 1), mode="reflect"),
    replicate=lambda x: F.pad(x, (2, 1), mode="replicate"),
    mirrored=lambda x: F.pad(x, (-2, 3), mode="reflect"),
    diff=lambda x: x.diff(dim=1),
    unflatten=lambda x: x.unflatten(2, (2, 2)),
)


def test_shapes(check):
    check(SHAPES, numbers(2, 3, 4))


def test_shapes_with_a_dynamic_batch(check):
    check(SHAPES, numbers(2, 3, 4), dynamic=[{0: "batch"}], others=[[numbers(5, 3, 4)]])


def test_slices_with_symbolic_bounds(check):
    def slices(x: Any, y: Any) -> Any:
        size, length = x.shape[1], y.shape[1]
        return (
            x[:, -length:],
            x[:, -length:-1],
            x[:, -length::2],
            x[:, -5:],
            x[:, -5:-1:2],
            x[:, size - 3 :],
            x[:, size - 3 : size - 1],
            x[:, length - size :],
            x[:, -length],
            x.narrow(1, -length, 1),
            torch.slice_scatter(x, y, 1, -length),
        )

    size = torch.export.Dim("size", min=6, max=32)
    equal = [[numbers(2, 9), numbers(2, 9)], [numbers(2, 20), numbers(2, 20)]]
    check(slices, *equal[0], dynamic=[{1: size}, {1: size}], others=equal)
    length = torch.export.Dim("length", min=3, max=5)
    shorter = [[numbers(2, 9), numbers(2, 5)], [numbers(2, 20), numbers(2, 3)]]
    check(slices, *shorter[0], dynamic=[{1: size}, {1: length}], others=shorter)


def test_assignments_in_place(check):
    def model(x: Any, y: Any) -> Any:
        x = x.clone()
        x[:, 1] = y[:, 0]
        x[:, 2:] *= 2
        x[0].add_(1)
        return x

    check(model, X, Y)


def test_assignments_with_steps(check):
    def assign(x: Any) -> Any:
        thirds, evens, last = x.clone(), x.clone(), x.clone()
        thirds[..., 1:8:3] = x[..., :3] * 2
        evens[:, ::2] = -x[:, ::2]
        last[..., -5:-1:2] = 7.0
        return thirds, evens, last

    check(assign, numbers(3, 6, 10), dynamic=[{0: "rows"}], others=[[numbers(5, 6, 10)]])


def test_shape_of_pixels(check):
    check(lambda x: F.pixel_shuffle(x, 2), numbers(1, 8, 3, 2))


def test_indices(check):
    table, places = numbers(7, 3), integers(2, 4, low=0, high=7)
    check(
        each(
            embedding=lambda t, p: F.embedding(p, t),
            select=lambda t, p: t.index_select(0, p[0]),
            take=lambda t, p: t[p],
            second=lambda t, p: t[:, p[0] % 3],
            pair=lambda t, p: t[p, p % 3],
            negative=lambda t, p: t[-p],
            gather=lambda t, p: t.gather(1, p % 3),
            mask=lambda t, p: torch.where(p > 3, p, 0),
            apart=lambda t, p: t.unsqueeze(0)[:, p[0], p[0] % 3],
        ),
        table, places,
    )  # fmt: skip


def test_scattered_elements(check):
    def put(x: Any, p: Any, v: Any) -> Any:
        x = x.clone()
        x[p[:, 0]] = v
        x[x > 1] = 0.0
        return x

    check(
        each(
            put=put,
            scatter=lambda x, p, v: x.scatter(1, p, v),
            add=lambda x, p, v: x.scatter_add(1, p, v),
            number=lambda x, p, v: x.scatter(1, p, 2.5),
        ),
        X, integers(3, 4, low=0, high=3).unique(dim=1)[:, :1], Y[:, :1],
    )  # fmt: skip


def test_new_tensors(check):
    check(
        each(
            arange=lambda x: torch.arange(3) + torch.arange(1, 9, 3),
            floats=lambda x: torch.arange(0, 1, 0.25) + torch.arange(4.0),
            full=lambda x: torch.full((2, 3), 7) + torch.full((2, 3), 1.5),
            like=lambda x: torch.full_like(x, 2) + torch.zeros_like(x) + torch.ones_like(x),
            new=lambda x: x.new_ones(2) + x.new_zeros(2) + x.new_full((2,), 3),
            zeros=lambda x: torch.zeros(2, 2, dtype=torch.int32),
            eye=lambda x: torch.eye(3) + torch.eye(3, 3),
            triangles=lambda x: x.tril() + x.triu(1),
            mask=lambda x: torch.ones(4, 4, dtype=torch.bool).tril(-1),
            linspace=lambda x: torch.linspace(-1, 1, 5),
            scalar=lambda x: torch.tensor(2.5) + x,
        ),
        X,
    )


def test_sizes_as_numbers(check):
    def model(x: Any) -> Any:
        n = x.shape[0]
        mask = torch.arange(n).unsqueeze(1) >= torch.arange(n)
        scaled = torch.where(mask, 0.0, float("-inf")).softmax(-1) @ x
        return scaled / n + n, x.reshape(n * 2, 2), x.new_zeros(n), x.mean(0)

    check(model, X, dynamic=[{0: "n"}], others=[[numbers(7, 4)], [numbers(2, 4)]])


def test_shifts_that_are_sizes():
    class Model(torch.nn.Module):
        def forward(self, x):
            n = x.shape[0]
            return x.roll(n // 2, 0), x.roll((-n - 1, 1), (0, 1)), x.roll(2 * n + 1), x.roll(n, 1)

    rows = torch.export.Dim("rows", min=2)
    compiled = xrelax.compile(Model(), (X,), dynamic_shapes=({0: rows},))
    for count in (2, 3, 8):
        x = numbers(count, 4)
        assert all(map(torch.equal, compiled(x), Model()(x)))
