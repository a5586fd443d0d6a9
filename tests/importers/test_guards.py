"""Calls check what PyTorch assumed of sizes when it traced one branch of a condition."""

from collections.abc import Callable
from typing import Any

import pytest

import xrelax
from xrelax.importers.unsupported import UnsupportedError

torch = pytest.importorskip("torch")
symbolic_shapes = pytest.importorskip("torch.fx.experimental.symbolic_shapes")
AUTO = torch.export.Dim.AUTO

CONDITIONS: dict[str, tuple[Callable[[int], bool], int]] = {
    "even": (lambda n: n % 2 == 0, 5),
    "other": (lambda n: n != 7, 7),
    "small": (lambda n: n < 8, 8),
    "large": (lambda n: n - 2 > 3, 5),
    "at least": (lambda n: max(n, 3) >= 6, 4),
    "at most": (lambda n: 2 * n <= 16, 9),
    "quotient": (lambda n: n // 3 == 2, 9),
    "one of two": (lambda n: symbolic_shapes.sym_or(n % 3 == 0, n == 1), 4),
    "both": (lambda n: symbolic_shapes.sym_and(n % 3 == 0, n > 3), 3),
    "neither": (lambda n: torch.sym_not(symbolic_shapes.sym_or(n == 1, n > 7)), 8),
}
"""Conditions that 6 fulfils, and a number that does not."""


class Branch(torch.nn.Module):
    def __init__(self, condition: Callable[[int], bool]) -> None:
        super().__init__()
        self.condition = condition

    def forward(self, x: Any) -> Any:
        return x * 2 if self.condition(x.shape[0]) else x * 3


@pytest.mark.parametrize("name", CONDITIONS)
def test_sizes_of_the_other_branch_are_refused(name: str, tmp_path: Any):
    condition, other = CONDITIONS[name]
    program = torch.export.export(
        Branch(condition), (torch.ones(6, 3),), dynamic_shapes={"x": {0: AUTO}}
    )
    torch.export.save(program, tmp_path / "program.pt2")
    loaded = torch.export.load(tmp_path / "program.pt2")
    for model in (xrelax.compile(program), xrelax.compile(loaded)):
        torch.testing.assert_close(model(torch.ones(6, 3)), torch.full((6, 3), 2.0))
        with pytest.raises(ValueError, match="expected dim 0"):
            model(torch.ones(other, 3))


class Nested(torch.nn.Module):
    def forward(self, pair: Any, *, y: Any) -> Any:
        a, b = pair["a"], pair["b"][0]
        total = a.sum() + b.sum()
        return total + y if a.shape[0] > b.shape[0] + 2 else total - y


def test_guards_of_nested_arguments():
    pair, y = {"a": torch.ones(6), "b": [torch.ones(3)]}, torch.ones(4)
    shapes = {"pair": {"a": {0: AUTO}, "b": [{0: AUTO}]}, "y": {0: AUTO}}
    model = xrelax.compile(Nested(), (pair,), {"y": y}, dynamic_shapes=shapes)
    torch.testing.assert_close(model(pair, y=y), Nested()(pair, y=y))
    with pytest.raises(ValueError, match=r"to L\['pair'\]\['a'\]"):
        model({"a": torch.ones(5), "b": [torch.ones(3)]}, y=y)


def test_guards_that_ranges_imply_are_dropped():
    batch = torch.export.Dim("batch", min=4, max=6)
    shapes = {"x": {0: batch}}
    compiled = xrelax.compile(Branch(lambda n: n < 8), (torch.ones(6, 3),), dynamic_shapes=shapes)
    assert "match_cast" not in compiled.module.script()


class Several(torch.nn.Module):
    def forward(self, *xs: Any) -> Any:
        return xs[0] * 2 if xs[1].shape[0] > xs[2].shape[0] else xs[0]


def test_guards_of_variable_arguments():
    x, one, two = torch.ones(4), torch.ones(5), torch.ones(3)
    shapes = ((None, {0: AUTO}, {0: AUTO}),)
    model = xrelax.compile(Several(), (x, one, two), dynamic_shapes=shapes)
    torch.testing.assert_close(model(x, one, two), x * 2)
    with pytest.raises(ValueError, match="expected dim 0"):
        model(x, two, one)


def test_guards_that_are_no_comparisons_of_sizes_are_refused():
    program = torch.export.export(
        Branch(lambda n: n % 2 == 0), (torch.ones(6, 3),), dynamic_shapes={"x": {0: AUTO}}
    )
    texts = ("L['x'].size()[0] ** 2 == 36", "L['z'].size()[0] == 6", "L['x'] is None", "True")
    for text in texts:
        program._guards_code = [text]
        with pytest.raises(UnsupportedError, match="expected guards that compare sizes of inputs"):
            xrelax.compile(program)
