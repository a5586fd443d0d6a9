"""Facts of processors: they stand in `backend/targets/`, and nothing else knows a processor."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from package_files import MODULES, ROOT

from xrelax.backend.errors import BackendError
from xrelax.backend.target import Target
from xrelax.backend.targets import GENERIC, architecture_of
from xrelax.backend.targets.aarch64 import NEON
from xrelax.backend.targets.architecture import InstructionSet
from xrelax.backend.targets.x86_64 import AVX2, AVX512, SSE2

PROCESSORS = re.compile(r"x86|amd64|aarch64|arm64|avx|neon|\bsse|\b[xyz]mm\b", re.IGNORECASE)


def words(tree: ast.AST) -> Iterator[str]:
    """The names and strings of a module, without its docstrings."""
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        fields = ("value", "id", "attr", "name", "arg") if id(node) not in documents else ()
        yield from (text for f in fields if isinstance(text := getattr(node, f, None), str))


def test_nothing_else_knows_a_processor():
    files = [f.relative_to(ROOT) for f in MODULES]
    # The names of TVM's tensor intrinsics say the processor that TVM has them for.
    apart = ("backend", "targets"), ("tir", "tensor_intrin")
    code = [f for f in files if f.parts[:2] not in apart]
    known = {
        f"{file}: {word}"
        for file in code
        for word in words(ast.parse((ROOT / file).read_text()))
        if PROCESSORS.search(word) and "tir.tensor_intrin" not in word
    }
    assert len(code) > 100 and known == set()


def test_the_facts_import_nothing_of_the_package():
    code = (
        "import sys; from xrelax.backend.targets import architecture_of; architecture_of('')\n"
        "print(*(m for m in sys.modules if m.startswith(('xrelax.', 'llvmlite', 'xdsl'))))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    others = [m for m in run.stdout.split() if not m.startswith("xrelax.backend.targets")]
    assert set(others) <= {
        "xrelax.backend",
        "xrelax.error_hooks",
        "xrelax.name_lookup",
        "xrelax.names",
    }


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ("-mtriple=x86_64-linux-gnu -mcpu=x86-64", SSE2),
        ("-mtriple=x86_64-linux-gnu -mcpu=sandybridge", AVX2),
        ("-mtriple=x86_64-linux-gnu -mcpu=x86-64-v3", AVX2),
        ("-mtriple=amd64-linux-gnu -mcpu=x86-64-v4", AVX512),
        ("-mtriple=aarch64-linux-gnu -mcpu=cortex-a76", NEON),
        ("-mtriple=powerpc64le-linux-gnu", InstructionSet),
    ],
)
def test_which_instruction_set(options: str, kind: type[InstructionSet]):
    assert type(Target(f"llvm {options}").isa) is kind


def test_an_unknown_architecture_has_plain_vectors():
    assert architecture_of("powerpc64le-linux-gnu") is GENERIC
    isa = Target("llvm -mtriple=powerpc64le-linux-gnu").isa
    assert (isa.lanes(32), isa.masks(64), isa.nontemporal) == (4, False, None)


@pytest.mark.parametrize(
    ("options", "widths"),
    [
        ("-mtriple=x86_64-linux-gnu -mcpu=znver4", (128, 256, 512)),
        ("-mtriple=x86_64-linux-gnu -mcpu=alderlake", (128, 256)),
        ("-mtriple=x86_64-linux-gnu -mcpu=x86-64 -mattr=+avx512f,+avx512vnni", (512,)),
        ("-mtriple=x86_64-linux-gnu -mcpu=haswell", ()),
        ("-mtriple=aarch64-linux-gnu -mcpu=neoverse-v1", (128,)),
        ("-mtriple=aarch64-linux-gnu -mcpu=apple-m1", ()),
    ],
)
def test_dot_products_of_unsigned_and_signed_bytes(options: str, widths: tuple[int, ...]):
    isa = Target(f"llvm {options}").isa
    assert tuple(w for w in (128, 256, 512) if isa.dot(True, False, w)) == widths


@pytest.mark.parametrize(
    ("cpu", "widths"),
    [
        ("x86-64", (128,)),
        ("sandybridge", (128,)),  # its wide vectors are of floats alone
        ("haswell", (128, 256)),
        ("knl", (128, 256)),  # without AVX512BW
        ("skylake-avx512", (128, 256, 512)),
    ],
)
def test_products_of_pairs(cpu: str, widths: tuple[int, ...]):
    isa = Target(f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}").isa
    assert tuple(w for w in (128, 256, 512) if isa.pair_products(w)) == widths


@pytest.mark.parametrize(
    ("options", "widths"),
    [
        ("-mtriple=x86_64-linux-gnu -mcpu=znver4", (128, 256, 512)),
        ("-mtriple=x86_64-linux-gnu -mcpu=sapphirerapids", (128, 256, 512)),
        ("-mtriple=x86_64-linux-gnu -mcpu=skylake-avx512", ()),
        ("-mtriple=x86_64-linux-gnu -mcpu=sierraforest", ()),
        ("-mtriple=x86_64-linux-gnu -mcpu=x86-64", ()),
        ("-mtriple=aarch64-linux-gnu -mcpu=neoverse-v1", (128,)),
        ("-mtriple=aarch64-linux-gnu -mcpu=cortex-a76 -mattr=+bf16", (128,)),
        ("-mtriple=arm64-apple-macosx -mcpu=apple-m2", (128,)),
        ("-mtriple=arm64-apple-macosx -mcpu=apple-m1", ()),
        ("-mtriple=powerpc64le-linux-gnu", ()),
    ],
)
def test_dot_products_of_bfloat16(options: str, widths: tuple[int, ...]):
    """Sierra Forest converts to bf16 by AVX, and has no dot products of them."""
    isa = Target(f"llvm {options}").isa
    assert tuple(w for w in (0, 64, 128, 256, 512) if isa.bfdot(w)) == widths


@pytest.mark.parametrize(
    "options", ["-mcpu=skylake-avx512 -mattr=+avxneconvert", "-mcpu=arrowlake -mattr=+avx512f"]
)
def test_conversions_to_bfloat16_of_one_width(options: str):
    """LLVM selects an instruction for 512 bits that the processor does not have, and aborts."""
    with pytest.raises(BackendError) as error:
        Target(f"llvm -mtriple=x86_64-linux-gnu {options}")
    assert str(error.value) == (
        "expected features of x86_64-linux-gnu with AVX-512 to include '-avxneconvert', or "
        "'avx512bf16' and 'avx512vl'"
    )
    options = options.replace("-mattr=", "-mattr=+avx512bf16,+avx512vl,")
    assert Target(f"llvm -mtriple=x86_64-linux-gnu {options}").isa.bfdot(512) is not None


def test_dot_products_in_assembly_for_apple():
    isa = Target("llvm -mtriple=arm64-apple-macosx -mcpu=apple-m1").isa
    assert isa.dot(False, False, 128) == "llvm.aarch64.neon.sdot.v4i32.v16i8"
