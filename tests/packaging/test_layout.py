"""The packaging settings that are written by hand agree with the folders of the checkout."""

import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NOT_PACKAGED = {"benchmarks", "build", "data", "dist", "docs", "examples", "tests", "typings"}
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())


def package_folders() -> list[Path]:
    """The top-level folders that hold code of the package."""
    return [
        path
        for path in ROOT.iterdir()
        if path.is_dir()
        and path.name.isidentifier()
        and not path.name.startswith("__")
        and path.name not in NOT_PACKAGED
    ]


def test_every_package_is_listed():
    found = {"xrelax"}
    for folder in package_folders():
        for file in folder.rglob("*.py"):
            found.add(".".join(["xrelax", *file.parent.relative_to(ROOT).parts]))
    assert SETTINGS["tool"]["setuptools"]["packages"] == sorted(found)


def test_every_package_has_an_init_file():
    for package in SETTINGS["tool"]["setuptools"]["packages"]:
        assert (ROOT.joinpath(*package.split(".")[1:]) / "__init__.py").is_file(), package


def test_type_checker_sees_every_package():
    folders = sorted(path.name for path in package_folders())
    assert SETTINGS["tool"]["pyright"]["include"] == ["*.py", *folders]


def test_root_modules_belong_to_the_package():
    # Every module in the root is shipped, and shadows one of the same name when the root is on
    # sys.path, as it is for `python -m pytest`.
    for file in ROOT.glob("*.py"):
        assert file.stem not in sys.stdlib_module_names, file.name
        assert file.stem not in {"conftest", "noxfile", "setup"}, file.name


def test_root_init_imports_nothing_relative():
    # pytest imports the root's __init__.py again under the checkout's own name, where relative
    # imports have no parent.
    lines = (ROOT / "__init__.py").read_text().splitlines()
    assert not [line for line in lines if line.startswith(("from .", "import ."))]


def test_tests_and_examples_are_no_packages():
    for folder in ("tests", "examples"):
        assert not list((ROOT / folder).rglob("__init__.py"))


def test_development_tools_are_pinned():
    extras = SETTINGS["project"]["optional-dependencies"]
    loose = [item for items in extras.values() for item in items if "==" not in item]
    assert loose == []
