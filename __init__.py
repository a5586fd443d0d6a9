"""xrelax: a machine-learning compiler that can be read from end to end.

``import xrelax as tvm`` is enough for programs written for TVM Unity; names are imported when they are used.
"""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from xrelax.names import resolve

    return resolve("", name)


def __dir__() -> list[str]:
    from xrelax.names import known

    return [*globals(), *known("")]
