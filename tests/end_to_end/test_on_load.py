"""Weights are laid out once, when a module is loaded: in memory, in files and in the cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.lowering.graph import fold_constant, rewrite_layout
from xrelax.runtime import Executable
from xrelax.script import from_source

ROWS, COLUMNS, DEPTH = 3, 700, 600
BYTES = 4 * COLUMNS * DEPTH
"""More than is folded when a module is compiled."""

SOURCE = f"""
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(({ROWS}, {DEPTH}), "float32"), w: R.Tensor(({COLUMNS}, {DEPTH}), "float32")
    ):
        with R.dataflow():
            y = R.matmul(x, R.permute_dims(w))
            R.output(y)
        return y

    @R.function
    def other(
        x: R.Tensor(({ROWS}, {DEPTH}), "float32"), w: R.Tensor(({COLUMNS}, {DEPTH}), "float32")
    ):
        with R.dataflow():
            y = R.nn.relu(R.matmul(x, R.permute_dims(w)))
            R.output(y)
        return y
"""

SMALL = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 9), "float32"), w: R.Tensor((20, 9), "float32")):
        with R.dataflow():
            y = R.matmul(x, R.permute_dims(w))
            R.output(y)
        return y
"""


@pytest.fixture(name="weights")
def _weights():
    return np.random.default_rng(0).standard_normal((COLUMNS, DEPTH), np.float32)


@pytest.fixture(name="x")
def _x():
    return np.random.default_rng(1).standard_normal((ROWS, DEPTH), np.float32)


def bound(weights):
    module = from_source(SOURCE)
    for name in ("main", "other"):
        module = relax.transform.BindParams(name, {"w": weights})(module)
    return module


def test_elementwise_operators_of_constants_run_once(weights):
    source = f"""
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(({COLUMNS}, {DEPTH}), "float32"), w: R.Tensor(({COLUMNS}, {DEPTH}), "float32")
    ):
        with R.dataflow():
            y = R.nn.relu(R.add(x, R.negative(R.exp(w))))
            R.output(y)
        return y
"""
    module = relax.transform.BindParams("main", {"w": weights})(from_source(source))
    executable = relax.build(module)
    assert executable.load is not None and len(executable.load.function.results) == 1
    x = 3 * np.abs(weights[::-1])
    for _ in range(2):
        y = executable["main"](x).numpy()
        np.testing.assert_allclose(y, np.maximum(x - np.exp(weights), 0), rtol=1e-4, atol=1e-5)


def test_once_for_all_functions_and_machines(weights, x):
    executable = relax.build(bound(weights))
    assert executable.load is not None
    (panels,) = executable.load.function.results
    assert np.prod(panels.shape) >= weights.size
    assert executable.stats()["constant_bytes"] == BYTES
    assert "computed on load: float32" in executable.as_text()
    machines = [relax.VirtualMachine(executable) for _ in range(2)]
    for machine in machines:
        y = machine["main"](x).numpy()
        np.testing.assert_allclose(y, x @ weights.T, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(machine["other"](x).numpy(), np.maximum(y, 0))


def test_functions_outlive_the_executable(weights, x):
    main = relax.build(bound(weights))["main"]
    np.testing.assert_allclose(main(x).numpy(), x @ weights.T, rtol=1e-4, atol=1e-4)


def test_files_hold_the_weights_once(weights, x, tmp_path: Path):
    executable = relax.build(bound(weights))
    executable.save(tmp_path / "module.xr")
    assert (tmp_path / "module.xr").stat().st_size < 1.2 * BYTES
    loaded = tvm.runtime.load(tmp_path / "module.xr")
    np.testing.assert_array_equal(loaded["main"](x).numpy(), executable["main"](x).numpy())


def test_files_with_packed_weights_compute_nothing_on_load(weights, x, tmp_path: Path):
    executable = relax.build(bound(weights))
    executable.save(tmp_path / "packed.xr", packed=True)
    assert (tmp_path / "packed.xr").stat().st_size < 1.2 * BYTES
    loaded = tvm.runtime.load(tmp_path / "packed.xr")
    assert loaded.load is None
    for name in ("main", "other"):
        np.testing.assert_array_equal(loaded[name](x).numpy(), executable[name](x).numpy())


def test_contents_after_load_compute_nothing(weights, x):
    executable = relax.build(bound(weights))
    ready = Executable(*executable.after_load())
    assert ready.load is None
    unread, packed = ready.constants
    assert unread.size == 0 and packed.size >= weights.size
    assert packed.shape == executable.load.function.results[0].shape
    np.testing.assert_array_equal(ready["other"](x).numpy(), executable["other"](x).numpy())


def test_the_cache_holds_no_weights(weights, x, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XRELAX_CACHE", str(tmp_path))
    first, second = (relax.build(bound(weights)) for _ in range(2))
    assert sum(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file()) < BYTES // 2
    np.testing.assert_array_equal(first["main"](x).numpy(), second["main"](x).numpy())


def test_the_reference_agrees(monkeypatch: pytest.MonkeyPatch):
    for user in (fold_constant, rewrite_layout):
        monkeypatch.setattr(user, "LARGEST_FOLDED", 0)
    rng = np.random.default_rng(3)
    w, x = (rng.standard_normal(s, np.float32) for s in ((20, 9), (2, 9)))
    module = relax.transform.BindParams("main", {"w": w})(from_source(SMALL))
    executable = relax.build(module, check=True)
    assert executable.load is not None
    np.testing.assert_allclose(executable["main"](x).numpy(), x @ w.T, rtol=1e-5, atol=1e-5)


def test_scaled_and_moved_weights_of_a_convolution():
    rng = np.random.default_rng(2)
    w, scale = (rng.standard_normal(s, np.float32) for s in ((96, 64, 7, 7), (96, 1, 1, 1)))
    x = rng.standard_normal((1, 64, 9, 8), np.float32)
    module = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((1, 64, 9, 8), "float32"),
        w: R.Tensor((96, 64, 7, 7), "float32"),
        s: R.Tensor((96, 1, 1, 1), "float32"),
    ):
        with R.dataflow():
            y = R.nn.conv2d(x, R.multiply(w, s))
            R.output(y)
        return y
""")
    executable = relax.build(relax.transform.BindParams("main", {"w": w, "s": scale})(module))
    assert executable.load is not None
    windows = np.lib.stride_tricks.sliding_window_view(x[0], (7, 7), (1, 2))
    y = np.einsum("cpqhw,ochw->opq", windows, w * scale, optimize=True)
    np.testing.assert_allclose(executable["main"](x).numpy()[0], y, rtol=1e-3, atol=1e-3)
