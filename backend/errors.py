"""The error of the backend: one line, for IR that it cannot emit, compile or link."""


class BackendError(Exception):
    """LLVM IR could not be emitted, compiled or linked; the message is one line."""
