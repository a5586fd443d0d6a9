"""A wheel built from the checkout holds the package, all of it and nothing else, and imports."""

import configparser
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
DATA = ["__init__.pyi", "py.typed"]
FILES = ["LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", *DATA]


def run(*command: object, cwd: Path) -> str:
    """Standard output of a command that must succeed."""
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def modules() -> list[Path]:
    """Every module of the package, relative to the root."""
    folders = [ROOT.joinpath(*package.split(".")[1:]) for package in PACKAGES]
    return sorted(file.relative_to(ROOT) for folder in folders for file in folder.glob("*.py"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built without a network, from a copy whose folder's name is no identifier."""
    # setuptools builds inside the source folder, hence the copy.
    source = tmp_path_factory.mktemp("source") / "my-checkout.v2"
    for file in [*map(Path, FILES), *modules(), Path("tests/packaging/test_wheel.py")]:
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, source / file)
    output = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run(*pip, "--wheel-dir", output, source, cwd=output)
    return next(output.glob("xrelax-*.whl"))


def test_wheel_holds_the_package_and_nothing_else(wheel: Path):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = [*(file.as_posix() for file in modules()), *DATA]
    assert names == {f"xrelax/{file}" for file in expected}


def test_wheel_declares_its_entry_points_and_license(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        entries = configparser.ConfigParser()
        entries.read_string(archive.read(info).decode())
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert dict(entries["console_scripts"]) == {
        "xrelax-chat": "xrelax.llm.command:main",
        "xrelax-explore": "xrelax.explore.command:main",
        "xrelax-opt": "xrelax.tools.opt:main",
        "xrelax-serve": "xrelax.llm.serve_command:main",
    }
    assert dict(entries["xdsl.universe"]) == {"xrelax": "xrelax.tools.universe:XRELAX_UNIVERSE"}


def test_installed_wheel_imports_away_from_the_checkout(wheel: Path, tmp_path: Path):
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site]
    run(*pip, wheel, cwd=tmp_path)
    program = f"import sys; sys.path.insert(0, {str(site)!r}); " + "".join(
        f"import {package}; " for package in PACKAGES
    )
    program += "print(xrelax.__file__)"
    assert run(sys.executable, "-c", program, cwd=tmp_path).strip() == str(
        site / "xrelax" / "__init__.py"
    )
