"""What the documents say holds: programs run, commands exist, links and folders are there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *PAGES]
# These pages exist in the site alone; tests/docs/test_site.py checks their links.
GENERATED = "reference/"
README = (ROOT / "README.md").read_text()


def blocks(language: str, text: str = README) -> list[str]:
    """A document's code blocks of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(name: str) -> list[list[str]]:
    """The documents' shell lines that call the command, as words."""
    texts = [(ROOT / document).read_text() for document in DOCUMENTS]
    shell = [block.replace("\\\n", " ") for text in texts for block in blocks("sh", text)]
    lines = [line for block in shell for line in block.splitlines()]
    return [words for line in lines if (words := shlex.split(line, comments=True))[:1] == [name]]


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    tools = str(Path(sys.executable).parent)
    path = os.pathsep.join([tools, os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("program", blocks("python"))
def test_program_runs(program: str, tmp_path: Path):
    if "import torch" in program:
        pytest.importorskip("torch", reason="the program is about PyTorch")
    (tmp_path / "program.py").write_text(program)
    result = run([sys.executable, "-W", "error", "program.py"], tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("command", commands("xrelax-opt"), ids=" ".join)
def test_xrelax_opt_command_runs(command: list[str]):
    result = run(command, ROOT)
    prints = re.compile("--print-ir-(?!tree-dir)|--pass-timing|--dump-pass-pipeline")
    assert (result.returncode, bool(result.stderr)) == (0, any(map(prints.match, command)))
    expected = "convert-relax-to-rt" if "--print-pipeline" in command else "func @main"
    assert expected in result.stdout


def test_there_is_something_to_run():
    assert blocks("python") and commands("xrelax-opt") and commands("make")


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = "\n".join((ROOT / document).read_text() for document in DOCUMENTS)
    named = set(re.findall(r"(?:^|`)make ([a-z]+)\b", text, re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str):
    text = (ROOT / document).read_text()
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    folder = (ROOT / document).parent
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        elsewhere = target.startswith(("https://", GENERATED))
        assert elsewhere or (folder / target).exists(), target


def test_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_architecture_names_every_folder():
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`(\w+)/`", text))
    ignored = {"build", "data", "dist"}
    folders = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and path.name.isidentifier() and not path.name.startswith("__")
    }
    assert folders - ignored <= named
