"""Architectures of `transformers`, timm, torchvision and others, drawn each time, equal PyTorch."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import sweep_known
from sweep import chosen, line, summary, sweep
from sweep_worker import Outcome

COUNT = {
    ("transformers", False): 3,
    ("transformers", True): 1,
    ("timm", False): 1,
    ("timm", True): 1,
    ("torchvision", False): 1,
    ("torchvision", True): 1,
    ("packages", False): 1,
}
"""How many models of each package a run compiles, with static or dynamic shapes."""

MOST = {"transformers": 5, "timm": 13, "torchvision": 13, "packages": 13}
"""CPU seconds of the compiler for those that a run may choose."""

NEEDED = {"packages": ("facenet_pytorch", "torchcrepe", "torchvision")}
"""Modules that models of a package need, where it is no module itself."""


def equal_models(package: str, dynamic: bool) -> list[str]:
    """The models of a package that compile fast enough and are known to equal PyTorch."""
    known = sweep_known.known_seconds(package, dynamic)
    return [name for name, seconds in known.items() if seconds <= MOST[package]]


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package, dynamic", COUNT)
def test_architectures(package: str, dynamic: bool, request: pytest.FixtureRequest):
    for name in ("torch", *NEEDED.get(package, (package,))):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    seed, count = request.config.option.sample_seed, COUNT[package, dynamic]
    names = chosen(equal_models(package, dynamic), "*", seed, count)
    outcomes = list(sweep(package, names, dynamic))
    assert len(names) == count
    assert [o.state for o in outcomes] == ["equal"] * count, "\n".join(map(line, outcomes))


def test_known_models_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "equal.txt"
    file.write_text("# Models.\ntimm b 3.0\n")
    monkeypatch.setattr(sweep_known, "FILE", file)
    for outcome in (
        Outcome("b", "equal", "batch, length", 1e-7, 1.0, 5.04),
        Outcome("a", "equal", "", 1e-7, 1.0, 2.0),
        Outcome("b", "equal", "", 1e-7, 1.0, 4.0),
        Outcome("c", "wrong", "", 0.5, 1.0, 2.0),
    ):
        sweep_known.add_known("timm", outcome)
    lines = ["# Models.", "timm a 2.0", "timm b 3.0", "timm b 5.0 batch,length"]
    assert file.read_text().splitlines() == lines
    assert sweep_known.known_seconds("timm", False) == {"a": 2.0, "b": 3.0}
    assert sweep_known.known_seconds("timm", True) == {"b": 5.0}


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
