"""Object files in processes whose memory is crowded."""

import subprocess
import sys

import pytest

_CROWDED = """
import ctypes, mmap
import xrelax
from xrelax.runtime import native
from xrelax.script import from_source

PAGE, NONE, PRIVATE = 4096, 0, 0x4022  # MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
load = native.NativeCode._load


def load_in_a_gap(code):
    size = 5 << 30
    wall = libc.mmap(None, size, NONE, PRIVATE, -1, 0)
    for pages in (1024, 256, 64, 16, 8, 4, 2, 1):
        while libc.mmap(None, pages * PAGE, NONE, PRIVATE, -1, 0) > wall:
            pass
    libc.munmap(wall + size - 64 * PAGE, {pages} * PAGE)
    load(code)


native.NativeCode._load = load_in_a_gap
module = from_source('''
@R.function
def main(x: R.Tensor((8, 16), "float32")) -> R.Tensor((8, 16), "float32"):
    return R.tanh(R.nn.softmax(x))
''')
xrelax.build(module)
print("linked")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="maps memory by Linux's numbers")
@pytest.mark.parametrize("pages", [1, 4, 8])
def test_sections_stay_close_where_only_a_gap_is_free(pages: int):
    script = _CROWDED.replace("{pages}", str(pages))
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout == "linked\n", run.stderr[-500:]
