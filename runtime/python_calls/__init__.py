"""The native side of calls from Python, as LLVM IR: CPython's calling convention, for one target.

`entry` has the function that Python calls. The tables that it reads are filled by the run time's
side, in `native_call` and `python_words`; `call_words` numbers their words for both.
"""
