"""A failing program as a script that needs nothing of the fuzzer."""

from __future__ import annotations

import inspect

import numpy as np

from . import guard
from .evaluate import run
from .kernels import KernelProgram, inputs_of, shape_of, to_bits
from .numbers import Array
from .shrink import Shrunk
from .steps import GPU_PRIMITIVES
from .texts import kernel_text
from .themes import DESCRIPTION, IMPLEMENTATION, TENSOR_INTRINSIC

MAX_ELEMENTS = 4096


def script(found: Shrunk) -> str:
    """The text of the script."""
    if not isinstance(found.program, KernelProgram):
        helpers = [inspect.getsource(f).rstrip() + "\n" for f in (tensor, compare)]
        return "\n".join([*_head(found), *helpers, *found.program.script()]) + "\n"
    return "\n".join([*_head(found), *_program(found.program), *_calls(found)]) + "\n"


def _head(found: Shrunk) -> list[str]:
    request = found.request
    again = f"--what {request.what} --seeds {request.seed}"
    message = found.failure.message.replace('"""', "'''").replace("\\", "/")
    lines = [
        f'r"""{found.failure.kind}: {message}',
        "",
        f'make fuzz FUZZ_ARGS="{again}"',
        '"""',
        "",
    ]
    lines += ["import numpy as np", "", "import xrelax", "from xrelax.script import from_source"]
    if getattr(found.program, "steps", ()):
        lines.append("from xrelax.tir.schedule import Schedule, ScheduleError")
    return [*lines, "from xrelax.runtime.tensor import Tensor, from_numpy", ""]


def _program(program: KernelProgram) -> list[str]:
    lines = ['function = from_source("""', kernel_text(program.kernel).rstrip(), '""")']
    if not program.steps:
        return [*lines, f'executable = xrelax.build(function)["{program.name}"]', ""]
    if any(step.primitive == "tensorize" for step in program.steps):
        texts = ", ".join(f'from_source("""{t}""")' for t in (DESCRIPTION, IMPLEMENTATION))
        register = f"TensorIntrin.register({TENSOR_INTRINSIC!r}, {texts})"
        lines += ["from xrelax.tir import TensorIntrin", register]
    lines.append('sch = Schedule(function, seed=0, debug_mask="all")')
    for step in program.steps:
        # Some steps of a program are refused: that is no failure, and so they do not end it here.
        done = str(step)
        if step.primitive in GPU_PRIMITIVES:
            done = done.replace("sch.", "sch.copy().", 1)
        lines += ["try:", f"    {done}", "except ScheduleError as error:", "    print(error)"]
    lines += ["print(sch.mod.script())"]
    if program.is_left:
        marks = "'\"tir.is_scheduled\": True', '\"fuzz\": True'"
        lines.append(f'function = from_source(sch.mod["main"].script().replace({marks}))')
        return [*lines, "executable = xrelax.build(function)['main']", ""]
    return [*lines, 'executable = xrelax.build(sch.mod)["main"]', ""]


def _calls(found: Shrunk) -> list[str]:
    """The calls of the function, and the comparison of what it writes."""
    kernel = found.program.kernel
    lines = [inspect.getsource(f).rstrip() + "\n" for f in (tensor, compare)]
    is_crash = found.failure.kind == "crash"
    lines += _guards() if is_crash else []
    for sizes in kernel.sizes:
        inputs = inputs_of(kernel, sizes)
        wanted = run(kernel, sizes, inputs)
        for b in kernel.inputs:
            layout = {"strided": ".repeat(2, -1)[..., ::2]"}.get(b.layout, "") if b.dims else ""
            lines.append(f"{b.name} = {_literal(to_bits(inputs[b.name], b.dtype))}{layout}")
            if b.layout == "read-only":
                lines.append(f"{b.name}.flags.writeable = False")
        for b in kernel.outputs:
            dtype = "uint16" if b.dtype == "bfloat16" else b.dtype
            lines.append(f"{b.name} = np.zeros({shape_of(b, kernel, sizes)}, {dtype!r})")
        if is_crash:
            lines += [f"{b.name} = Guarded().place({b.name}, True)" for b in kernel.params]
        args = ", ".join(
            f"tensor({b.name}, {b.dtype!r})" if b.dtype == "bfloat16" else b.name
            for b in kernel.params
        )
        lines.append(f"executable({args})")
        for b in kernel.outputs:
            value = wanted[b.name]
            bound = "0" if value.error is None else _literal(np.asarray(value.error))
            lines.append(f"compare({b.name}, {_literal(value.data)}, {bound})")
    return lines


def _guards() -> list[str]:
    lines = ["import ctypes", "import mmap", "", "Array = np.ndarray", "PAGE = mmap.PAGESIZE"]
    lines += ["PROT_NONE = 0", "PATTERN = 0xA5", "_libc = ctypes.CDLL(None, use_errno=True)"]
    lines += ["_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)"]
    return [*lines, "", inspect.getsource(guard.Guarded), ""]


def _literal(array: Array) -> str:
    if array.size > MAX_ELEMENTS:
        return f"np.ones({array.shape}, {str(array.dtype)!r})"
    text = repr(array.reshape(-1).tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    return f"np.array({text}, {str(array.dtype)!r}).reshape({array.shape})"


def tensor(array, dtype):
    """An argument of a dtype; bfloat16 is an array of its bits."""
    bits = from_numpy(array)
    return Tensor(bits.address, bits.layout._replace(dtype=dtype), array)


def compare(found, wanted, bound):
    """Raise AssertionError where results are further from those expected than a bound."""
    if found.dtype == np.uint16 and wanted.dtype == np.float32:  # bits of bfloat16
        found = (found.astype(np.uint32) << 16).view(np.float32)
    same = (found == wanted) | ((found != found) & (wanted != wanted))
    close = same | (abs(found.astype(float) - wanted.astype(float)) <= bound)
    assert close.all(), f"expected\n{wanted}\ngot\n{found}\nat {np.argwhere(~close)[:3].tolist()}"
