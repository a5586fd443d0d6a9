"""Our dialects and passes as an xDSL universe, where plain `xdsl-opt` finds them."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.universe import Universe

from ..dialects import DIALECTS
from ..pipeline import PASSES, load_pass


def _dialect(name: str) -> Callable[[], Dialect]:
    return lambda: DIALECTS[name]()


XRELAX_UNIVERSE = Universe(
    all_dialects={name: _dialect(name) for name in DIALECTS},
    all_passes={name: (lambda name=name: load_pass(name)) for name in PASSES},
)
