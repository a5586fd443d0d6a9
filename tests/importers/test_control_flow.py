"""Branches and loops on data: ``torch.cond``, ``torch.while_loop`` and ``scan``."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import xrelax  # noqa: E402
from xrelax.importers.unsupported import UnsupportedError  # noqa: E402

BATCH = torch.export.Dim("n", min=1, max=64)


def is_equal(compiled: Any, model: Any, *inputs: Any) -> None:
    with torch.no_grad():
        torch.testing.assert_close(compiled(*inputs), model(*inputs), atol=1e-5, rtol=1e-4)


class Choice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.left = torch.nn.Linear(3, 4)
        self.right = torch.nn.Linear(3, 4)

    def forward(self, x):
        def nested(x):
            return torch.cond(x.mean() > 1, lambda x: x * 3, lambda x: x - 1, (x,))

        y = torch.cond(x.sum() > 0, lambda x: self.left(x), lambda x: self.right(nested(x)), (x,))
        return torch.relu(y), x + 1


class Growth(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x, limit):
        def condition(i, y):
            return (i < 7) & (y.abs().sum() < limit)

        def body(i, y):
            return i + 1, y + self.layer(y) * x.shape[0]

        i, y = torch.while_loop(condition, body, (torch.tensor(0), x.clone()))
        return i, y * 2


class Sums(torch.nn.Module):
    def forward(self, x, start):
        from torch._higher_order_ops.scan import scan

        def combine(total, row):
            total = torch.tanh(total * 0.5 + row)
            return total, total * 2

        return scan(combine, start, x)


def test_a_branch_on_data():
    torch.manual_seed(0)
    model = Choice().eval()
    shapes = {"x": {0: BATCH}}
    compiled = xrelax.compile(model, (torch.randn(4, 3),), dynamic_shapes=shapes, check=True)
    for x in (torch.ones(2, 3), -torch.ones(5, 3), torch.full((1, 3), 4.0)):
        is_equal(compiled, model, x)
    assert compiled.debug(torch.ones(2, 3), reference="torch").first_bad is None


def test_a_branch_on_sizes():
    class BySize(torch.nn.Module):
        def forward(self, x):
            n = x.shape[0]
            y = torch.cond(n > 4, lambda x: x + 1, lambda x: x - 1, (x,))
            return y, torch.cond(torch.sym_not(n / 2 < 3.5), torch.sin, torch.cos, (x,))

    compiled = xrelax.compile(
        BySize(), (torch.randn(4, 3),), dynamic_shapes={"x": {0: BATCH}}, check=True
    )
    for length in (1, 4, 5, 6, 7):
        is_equal(compiled, BySize(), torch.randn(length, 3))


def test_a_loop_on_data():
    torch.manual_seed(0)
    model = Growth().eval()
    shapes = {"x": {0: BATCH}, "limit": None}
    example = torch.randn(4, 3), torch.tensor(10.0)
    compiled = xrelax.compile(model, example, dynamic_shapes=shapes)
    for limit in (0.0, 5.0, 50.0, float("inf")):
        is_equal(compiled, model, torch.randn(5, 3), torch.tensor(limit))


def test_a_scan_of_any_length():
    model = Sums().eval()
    shapes = {"x": {0: BATCH}, "start": None}
    example = torch.randn(4, 3), torch.randn(3)
    compiled = xrelax.compile(model, example, dynamic_shapes=shapes, check=True)
    for length in (1, 2, 33):
        is_equal(compiled, model, torch.randn(length, 3), torch.randn(3))


def test_problems_inside_have_their_lines():
    class Bessel(torch.nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: torch.special.bessel_j0(x), lambda x: x, (x,))

    with pytest.raises(UnsupportedError, match=r"bessel_j0.*test_control_flow.py:\d+ `return"):
        xrelax.compile(Bessel().eval(), (torch.ones(3),))


def test_torch_compile_runs_branches():
    torch.manual_seed(0)
    model = Choice().eval()
    compiled = torch.compile(model, backend="xrelax")
    for x in (torch.ones(2, 3), -torch.ones(2, 3)):
        is_equal(compiled, model, x)
