"""The base of the errors that only this package raises, and errors of arguments."""

from __future__ import annotations


class TVMError(RuntimeError):
    """The base of the errors that only this package raises; TVM's ``tvm.error.TVMError``."""


class ArgumentError(TVMError, TypeError, ValueError):
    """An argument of another dtype or shape than a function takes.

    Of the kinds that releases of TVM raise, it is each.
    """
