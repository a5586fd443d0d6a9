"""Architectures of `transformers`, timm, torchvision and others, drawn each time, equal PyTorch."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from sweep import chosen, line, summary, sweep
from sweep_worker import Outcome

COUNT = {"transformers": 3, "timm": 1, "torchvision": 1, "packages": 1}
"""How many models of each package a run compiles."""

MOST = {"transformers": 5, "timm": 13, "torchvision": 13, "packages": 13}
"""CPU seconds of the compiler for those that a run may choose."""

NEEDED = {"packages": ("facenet_pytorch", "torchcrepe", "torchvision")}
"""Modules that models of a package need, where it is no module itself."""


def equal_models(package: str) -> list[str]:
    """The models of a package that compile fast enough and are known to equal PyTorch."""
    lines = Path(__file__).with_name("sweep_equal.txt").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    return [name for p, name, seconds in fields if p == package and float(seconds) <= MOST[p]]


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", COUNT)
def test_architectures(package: str, request: pytest.FixtureRequest):
    for name in ("torch", *NEEDED.get(package, (package,))):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    seed = request.config.option.sample_seed
    names = chosen(equal_models(package), "*", seed, COUNT[package])
    outcomes = list(sweep(package, names))
    assert len(names) == COUNT[package]
    assert [o.state for o in outcomes] == ["equal"] * len(names), "\n".join(map(line, outcomes))


def test_summary_by_cause():
    outcomes = [
        Outcome("a", "equal", "", 1e-7, 1.0, 2.0),
        Outcome("b", "unsupported", "aten.x: no converter; aten.y: no converter"),
        Outcome("c", "unsupported", "aten.x: no converter"),
        Outcome("d", "wrong", "", 0.5, 1.0, 4.0),
    ]
    assert list(summary(outcomes)) == [
        "4 models: 2 unsupported, 1 equal, 1 wrong",
        "compile CPU s: median 3.0, max 4.0",
        "   2 unsupported: aten.x: no converter [b, c]",
        "   1 unsupported: aten.y: no converter [b]",
        "   1 wrong: error larger than 0.0001 [d]",
    ]
