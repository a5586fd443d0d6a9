"""`xrelax-opt`: parse, verify, transform and print modules of all stages."""

from __future__ import annotations

from xdsl.xdsl_opt_main import xDSLOptMain


class XRelaxOptMain(xDSLOptMain):
    """xDSL's optimizer driver with our dialects and passes."""


def main() -> None:
    """Entry point of the `xrelax-opt` command."""
    XRelaxOptMain().run()
