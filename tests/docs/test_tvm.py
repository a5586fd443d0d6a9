"""The names in docs/tvm.md exist, or do not, as the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import xrelax as tvm
from xrelax.script import ScriptError, from_source

PAGE = (Path(__file__).parents[2] / "docs" / "tvm.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", PAGE, re.MULTILINE))
NAME = re.compile(r"`@?((?:tvm|relax|te|tir|schedule|[TR])\.[\w.]+)[^`\n]*`")
OTHER_DEVICES = ("tvm.cuda", "tvm.metal", "tvm.rocm", "tvm.opencl", "tvm.vulkan", "tvm.webgpu")


def names(section: str, *prefixes: str) -> list[str]:
    prose = re.sub(r"^```.*?^```", "", SECTIONS[section], flags=re.DOTALL | re.MULTILINE)
    return sorted({name for name in NAME.findall(prose) if name.split(".")[0] in prefixes})


def python_object(name: str) -> Any:
    if name.startswith("schedule."):
        name = f"tir.Schedule.{name.removeprefix('schedule.')}"
    value: Any = tvm
    for part in name.removeprefix("tvm.").split("."):
        value = getattr(value, part)
    return value


PYTHON = ("tvm", "relax", "te", "tir", "schedule")
PRESENT = names("Spellings of all years", *PYTHON) + names("What is the same", *PYTHON)
ABSENT = names("What is not here", *PYTHON)


@pytest.mark.parametrize("name", PRESENT)
def test_names_exist(name: str):
    if "torch" in name:
        pytest.importorskip("torch")
    assert python_object(name) is not None


@pytest.mark.parametrize("name", [name for name in ABSENT if name not in OTHER_DEVICES])
def test_names_do_not_exist(name: str):
    with pytest.raises(AttributeError):
        python_object(name)


def test_other_devices_do_not_exist():
    assert set(OTHER_DEVICES) <= set(ABSENT)
    assert not any(python_object(name)().exist for name in OTHER_DEVICES)


@pytest.mark.parametrize("name", names("What is not here", "T"))
def test_functions_of_kernels_do_not_exist(name: str):
    text = f"@T.prim_func\ndef main(X: T.Buffer((4,), 'float32')):\n    X[0] = {name}(X[0])\n"
    with pytest.raises(ScriptError, match=f"expected a function of TensorIR, got '{name}'"):
        from_source(text)


@pytest.mark.parametrize("name", names("What is not here", "R"))
def test_operators_do_not_exist(name: str):
    text = f"@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    return {name}(x)\n"
    with pytest.raises(ScriptError, match=f"expected an operator .* of Relax, got '{name}'"):
        from_source(text)


def test_a_missing_name_has_a_suggestion():
    with pytest.raises(AttributeError, match="no attribute 'BlockBilder', did you mean 'Block"):
        python_object("relax.BlockBilder")
    with pytest.raises(AttributeError, match="no attribute 'computes', did you mean 'compute'"):
        python_object("te.computes")
