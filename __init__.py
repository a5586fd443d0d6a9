"""xrelax: a machine-learning compiler that can be read from end to end.

``import xrelax as tvm`` is enough for programs written for TVM Unity; names are imported when used.
"""

import time
from importlib import import_module
from typing import Any

__version__ = "0.1.0"

imported_at = time.time()
"""Source that is newer is not what this process runs: the cache of compiled code must know it."""

import_module("xrelax.error_hooks").install()
import_module("xrelax.name_lookup")  # so that `from xrelax.tirx import …` finds names of the table


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return import_module("xrelax.name_lookup").resolve("", name)


def __dir__() -> list[str]:
    return [*globals(), *import_module("xrelax.name_lookup").known("")]
