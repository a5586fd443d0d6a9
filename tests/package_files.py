"""The modules of the package, as the packaging settings list their folders."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = [ROOT.joinpath(*n.split(".")[1:]) for n in SETTINGS["tool"]["setuptools"]["packages"]]
MODULES = sorted(path for folder in FOLDERS for path in folder.glob("*.py"))
