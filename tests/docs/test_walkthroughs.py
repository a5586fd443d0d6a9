"""The walk-throughs of CONTRIBUTING.md work: done on a copy of the package, their tests pass."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
STEP = re.compile(
    r"^(?P<end>At the end of )?`(?P<path>[^`\n]+)`:\n\n"
    r"```(?P<kind>python|mlir|diff)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
STEPS = list(STEP.finditer(TEXT))
ADDED = [step["path"] for step in STEPS if step["kind"] != "diff" and not step["end"]]
PATHS = {
    path
    for path in re.findall(r"`([\w./]+)`", TEXT)
    if "/" in path or path.endswith((".py", ".toml", ".md"))
}
EXAMPLES = {"tir_to_loops.py"}
"""A file name that the text gives without its folder."""


@pytest.mark.parametrize("path", sorted(PATHS - EXAMPLES - {*ADDED}))
def test_path_exists(path: str):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("path", ADDED)
def test_added_file_is_new_in_a_known_folder(path: str):
    assert not (ROOT / path).exists()
    assert (ROOT / path).parent.is_dir()


def replaced(text: str, hunk: str) -> str:
    """The text with one hunk of a diff applied, whose lines it has exactly once."""
    old = "".join(line[1:] + "\n" for line in hunk.splitlines() if line[:1] in "- ")
    new = "".join(line[1:] + "\n" for line in hunk.splitlines() if line[:1] in "+ ")
    assert text.count(old) == 1, hunk
    return text.replace(old, new)


def carry_out(step: re.Match[str], root: Path):
    file, body = root / step["path"], step["body"]
    if step["kind"] == "diff":
        text = file.read_text()
        for hunk in body.split("@@\n"):
            text = replaced(text, hunk)
        file.write_text(text)
    else:
        file.write_text((file.read_text() + "\n\n" if step["end"] else "") + body)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with all walk-throughs carried out."""
    root = tmp_path_factory.mktemp("copy") / "xrelax"
    unwanted = (".*", "__pycache__", "build", "data", "dist", "*.egg-info")
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*unwanted))
    for step in STEPS:
        carry_out(step, root)
    return root


def run(copy: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A shell command that sees the copy in place of the installed package."""
    tools = str(Path(sys.executable).parent)
    path = os.pathsep.join([tools, os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(copy.parent)}
    shell = ["bash", "-o", "pipefail", "-c", command]
    return subprocess.run(shell, cwd=copy, env=environment, capture_output=True, text=True)


def test_copy_is_what_runs(copy: Path):
    result = run(copy, "cd tests && python -c 'import xrelax; print(xrelax.__file__)'")
    assert result.stdout.strip() == str(copy / "__init__.py")


LISTS = (
    "tests/tir/test_wrong_uses.py::test_all_primitives_are_used",
    "tests/fuzz/test_drawing.py::test_every_primitive_has_a_drawer",
)
"""What fails until every primitive is in the lists that have all of them."""


@pytest.mark.parametrize("test", LISTS)
def test_lists_are_complete(copy: Path, test: str):
    result = run(copy, f"python -m pytest -q -p no:cacheprovider {test}")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", [path for path in ADDED if path.endswith(".mlir")])
def test_filecheck_tests_pass(copy: Path, path: str):
    commands = re.findall(r"^// RUN: (.*)$", (copy / path).read_text(), re.MULTILINE)
    assert commands
    for command in commands:
        result = run(copy, command.replace("%s", path))
        assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", [p for p in ADDED if p.startswith("tests/") and p.endswith(".py")])
def test_unit_tests_pass(copy: Path, path: str):
    is_case = Path(path).name.startswith("cases_")
    tests = f"tests/operators -k {Path(path).stem.removeprefix('cases_')}" if is_case else path
    result = run(copy, f"python -m pytest -q -p no:cacheprovider {tests}")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", [path for path in ADDED if path.endswith(".py")])
def test_code_follows_the_style(copy: Path, path: str):
    command = f"ruff check --config {ROOT / 'pyproject.toml'} {path}"
    result = run(copy, command)
    assert result.returncode == 0, result.stdout + result.stderr
