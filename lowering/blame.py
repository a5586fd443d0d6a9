"""Which operation a diagnostic is about, where the code that raises it has but names and types."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Operation

from ..dialects.diagnostics import Diagnostic


@contextmanager
def blame(op: Operation) -> Generator[None]:
    """Diagnostics of no operation that are raised inside name `op` and its place in the source."""
    try:
        yield
    except Diagnostic as error:
        if error.op_name is not None:
            raise
        raise Diagnostic(error.message, op) from None
