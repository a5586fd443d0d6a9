"""Files that are no executables, or no longer: each is refused in one line that names it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from saved_modules import SOURCE, contents, edited

import xrelax as tvm
from xrelax import relax
from xrelax.runtime import NativeError, PackageError
from xrelax.runtime.package import write_package
from xrelax.runtime.saving import VERSION
from xrelax.script import from_source


@pytest.mark.parametrize("length", [0, 1, 100, 0.3, 0.9, -1])
def test_a_file_that_is_cut_off_is_named(saved, length):
    content = saved.read_bytes()
    saved.write_bytes(content[: length if isinstance(length, int) else int(len(content) * length)])
    with pytest.raises(PackageError) as error:
        tvm.runtime.load(saved)
    assert str(error.value).startswith(f"cannot read '{saved}': ")
    assert "\n" not in str(error.value)


def test_no_flipped_bit_is_read(saved):
    """Flips in the whole file: refused, or in a place that means nothing."""
    content, rng = saved.read_bytes(), np.random.default_rng(3)
    original, weights = tvm.runtime.load(saved), len(content) - 64 * 32 * 4 - 400
    for position in [*rng.integers(0, len(content), 60), weights, len(content) - 1000]:
        damaged = bytearray(content)
        damaged[position] ^= 1 << rng.integers(8)
        saved.write_bytes(damaged)
        try:
            loaded = tvm.runtime.load(saved)
        except PackageError as error:
            assert str(error).startswith(f"cannot read '{saved}': ") and "\n" not in str(error)
        else:
            assert loaded.functions == original.functions
            assert loaded.library.objects == original.library.objects
            for ours, theirs in zip(loaded.constants, original.constants, strict=True):
                np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


WEIGHT = {"dtype": "float32", "shape": [64, 32], "part": "constants/0.npy"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "a cake"}, "expected an xrelax executable, got a cake"),
        ({"version": VERSION + 1}, f"expected version {VERSION} of the format, got {VERSION + 1}"),
        ({"functions": [{"name": "f"}]}, "'entry'"),
        ({"constants": [WEIGHT | {"part": "nowhere"}]}, "expected 'nowhere' in it, got"),
        ({"constants": [WEIGHT | {"dtype": "int8"}]}, "an array of int8"),
        ({"constants": [WEIGHT | {"dtype": "int32"}]}, "an array of int32"),
        ({"constants": [{"dtype": "int8", "shape": [2], "given": 0}]}, "expected all constants in"),
        (
            {"constants": [WEIGHT | {"shape": [2, 2]}]},
            "expected 'constants/0.npy' to be float32 of shape (2, 2), got float32 of shape (",
        ),
        ({"machine": None}, "not subscriptable"),
    ],
)
def test_a_manifest_that_does_not_fit(saved, changes, message):
    with pytest.raises(PackageError) as error:
        tvm.runtime.load(edited(saved, **changes))
    assert str(error.value).startswith(f"cannot read '{saved}': ") and message in str(error.value)


@pytest.mark.parametrize(
    "change",
    [lambda a: a[..., :1], lambda a: a.astype("float64"), lambda a: a.view("int32")],
    ids=["shape", "dtype", "bits"],
)
def test_a_constant_that_is_not_what_the_code_reads(saved, change):
    manifest, code, parts = contents(saved)
    ((name, weights),) = parts.items()
    write_package(saved, manifest, {**code, name: change(weights)})
    with pytest.raises(PackageError) as error:
        tvm.runtime.load(saved)
    assert str(error.value).startswith(f"cannot read '{saved}': expected ")
    assert "\n" not in str(error.value)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all numbers, strings and other single values."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [
        found
        for key, item in items
        for found in (
            leaves(item, (*path, key)) if isinstance(item, dict | list) else [(*path, key)]
        )
    ]


def test_every_value_of_the_manifest_is_that_of_the_code(saved):
    """What native code trusts, such as sizes, the names of symbols, and how many results."""
    manifest, code, parts = contents(saved)
    places = leaves(manifest)
    assert len(places) > 40
    for place in places:
        changed = json.loads(json.dumps(manifest))
        holder = changed
        for key in place[:-1]:
            holder = holder[key]
        old = holder[place[-1]]
        holder[place[-1]] = not old if isinstance(old, bool) else old * 2 if old else 7
        write_package(saved, changed, {**code, **parts})
        with pytest.raises((PackageError, NativeError)) as error:
            tvm.runtime.load(saved)
        assert "\n" not in str(error.value), place


def test_code_of_another_build_is_refused(executable, saved, tmp_path):
    other = relax.build(
        from_source(SOURCE.replace(" 64)", " 48)").replace("(64,", "(48,")),
        params={"w": np.ones((48, 32), "f4")},
    )
    other.save(tmp_path / "other")
    manifest, _, parts = contents(saved)
    _, code, _ = contents(tmp_path / "other")
    write_package(saved, manifest, {**code, **parts})
    with pytest.raises(PackageError, match="expected the manifest that its code was saved with"):
        tvm.runtime.load(saved)


DAMAGE = """
import sys
from pathlib import Path
import numpy as np
import xrelax.runtime as rt

@rt.register_func("saving.double")
def double(x, y):
    np.multiply(np.asarray(x), 2, out=np.asarray(y))

path, content = Path(sys.argv[1]), Path(sys.argv[1]).read_bytes()
rng, x = np.random.default_rng(int(sys.argv[2])), np.ones((3, 64), "float32")
expected = [r.numpy() for r in rt.load(path)["main"](x)]
starts = (b"manifest.json", b"\\x7fELF", b"constants/0", b"PK\\x01\\x02")
regions = [content.index(m) for m in starts]
regions = [0, *regions, len(content) - 22, len(content)]
refused = 0
for number in range(240):
    low, high = regions[number % 6 : number % 6 + 2]
    start = int(rng.integers(low, high))
    length = int(rng.choice([1, 2, 8, 64, 4096]))
    damaged = bytearray(content)
    match number // 6 % 5:
        case 0:
            damaged[start] ^= 1 << int(rng.integers(8))
        case 1:
            damaged[start : start + length] = bytes(len(damaged[start : start + length]))
        case 2:
            damaged[start : start + length] = b"\\xff" * len(damaged[start : start + length])
        case 3:
            del damaged[start : start + length]
        case _:
            damaged[start:start] = rng.bytes(length)
    path.write_bytes(damaged)
    try:
        results = rt.load(path)["main"](x)
    except rt.PackageError as error:
        assert "\\n" not in str(error)
        refused += 1
    else:
        for ours, theirs in zip(results, expected, strict=True):
            np.testing.assert_array_equal(ours.numpy(), theirs)
print(refused)
"""


@pytest.mark.parametrize("seed", range(2))
def test_damage_of_any_kind_in_any_region_is_refused_or_means_nothing(saved, seed):
    command = [sys.executable, "-c", DAMAGE, str(saved), str(seed)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 150
