"""The search for schedules of single kernels."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from broken_jobs import Crash, Faulty, Hang
from tuned_kernels import matmul, tiled

import xrelax as tvm
from xrelax import meta_schedule as ms
from xrelax.meta_schedule.builder import BuilderInput
from xrelax.meta_schedule.space_generator import default_sample
from xrelax.meta_schedule.task import CONFIRMATIONS
from xrelax.script import from_source

TARGET = "llvm --num-cores=1"


@pytest.fixture
def tune(workers):
    def tune(module, work_dir, trials=4, **options):
        return ms.tune_tir(module, TARGET, work_dir, trials, **{**workers, **options})

    return tune


def log_of(work_dir):
    return (work_dir / "logs" / "tuning.log").read_text()


def check(module):
    """Run a scheduled matmul."""
    rng = np.random.default_rng(1)
    a, b = (rng.random(shape, np.float32) for shape in ((16, 16), (16, 32)))
    c = np.zeros((16, 32), np.float32)
    tvm.build(module, target="llvm")["main"](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_tuning_of_a_kernel(tmp_path, tune):
    database = tune(matmul(), tmp_path)
    records = database.get_all_tuning_records()
    assert len(records) == 5  # that of the default too
    best = database.query_tuning_record(matmul(), TARGET)
    assert best.confirmed and best.speedup >= 1
    check(ms.tir_integration.compile_tir(database, matmul(), TARGET).mod)
    assert ms.tir_integration.compile_tir(database, matmul(8), TARGET) is None


def test_a_function_of_the_user_is_the_space(tmp_path, tune):
    space = ms.space_generator.ScheduleFn(tiled)
    database = tune(matmul(), tmp_path, space=space, task_name="main")
    schedule = ms.tir_integration.compile_tir(database, matmul(), TARGET)
    assert "sample_perfect_tile" in str(schedule.trace)
    check(schedule.mod)
    assert all("sample_perfect_tile" in str(r.trace) for r in database.get_all_tuning_records())


def test_the_space_may_be_exhausted(tmp_path, tune):
    database = tune(matmul(), tmp_path, space=tiled, trials=100)
    assert 1 < len(database) <= 6  # 32 has five divisors up to 16


def test_the_search_is_the_same_for_a_seed(tmp_path, tune):
    tried = [
        {
            r.key
            for r in tune(
                matmul(), tmp_path / str(n), 3, seed=5, cost_model="static"
            ).get_all_tuning_records()
        }
        for n in range(2)
    ]
    assert tried[0] == tried[1]


def wrong(job):
    """Another kernel than the one to be measured."""
    other = default_sample(matmul(), tvm.target.Target(TARGET))
    source = from_source(other.mod.script().replace("A[vi, vk] * B", "A[vi, vk] - B"))
    builder = ms.builder.LocalBuilder(1)
    ((_, result),) = builder.build([BuilderInput(source, tvm.target.Target(TARGET))])
    builder.close()
    assert result.error_msg is None, result.error_msg
    return result.artifact


def test_schedules_that_crash_hang_or_are_wrong_are_lines_in_the_log(tmp_path, tune):
    runner = ms.Runner("local", timeout_sec=6)
    runner.workers = Faulty([Crash(), Hang(), wrong])
    database = tune(matmul(), tmp_path, 5, runner=runner, builder="local")
    errors = [r.error for r in database.get_all_tuning_records() if not r.is_valid()]
    assert len(errors) == 3
    for text in ("SIGSEGV", "took longer than 6 s", "wrong result in argument 2: expected"):
        assert any(text in e for e in errors), errors
        assert text in log_of(tmp_path)
    best = database.query_tuning_record(matmul(), TARGET)
    assert best is not None and best.is_valid()


class Unsteady(ms.Runner):
    """Finds each schedule faster than the default, but in the last confirmation."""

    confirmations = 0

    def run(self, inputs, config=None, threads=None):
        self.confirmations += config is not None
        share = 2.0 if self.confirmations == CONFIRMATIONS else 0.5
        for number, result in super().run(inputs, config, threads):
            yield number, result._replace(run_secs=[share * s for s in result.baseline_secs])


def test_every_confirmation_must_be_faster(tmp_path, tune):
    database = tune(matmul(), tmp_path, 3, runner=Unsteady(), builder="local")
    best = database.query_tuning_record(matmul(), TARGET)
    assert best.confirmed and best.run_secs == best.baseline_secs  # the default
    others = [r for r in database.get_all_tuning_records() if not r.confirmed]
    assert len(others) == 3 and all(round(r.speedup, 6) == 0.5 for r in others)


def test_trials_of_the_database_count(tmp_path, tune):
    tune(matmul(), tmp_path, 3)
    database = tune(matmul(), tmp_path, 5)
    assert len(database) == 6
    lines = (tmp_path / "database_tuning_record.json").read_text().splitlines()
    assert tune(matmul(), tmp_path, 5) and len(database) == 6
    assert len(lines) < 6 + 2 * (3 + 2) + 1


TUNER = """
import sys
from tuned_kernels import matmul
from xrelax import meta_schedule as ms
ms.tune_tir(matmul(), "llvm --num-cores=1", sys.argv[1], int(sys.argv[2]), progress=False,
            num_trials_per_iter=2, seed=int(sys.argv[3]))
"""


def tuner(work_dir, trials, seed):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", TUNER, str(work_dir), str(trials), str(seed)]
    return subprocess.Popen(command, env=environment)


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_killed_search_is_resumed(tmp_path, tune):
    path = tmp_path / "database_tuning_record.json"
    process = tuner(tmp_path, 1000, 0)
    deadline = time.monotonic() + 120
    while lines_of(path) < 4 and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    known = len(ms.database.JSONDatabase(work_dir=tmp_path))
    assert known >= 4
    database = tune(matmul(), tmp_path, known + 1)  # the default is no trial
    assert len(database) == known + 2


def test_two_tuners_write_one_database(tmp_path):
    tuners = [tuner(tmp_path, 100, seed) for seed in (1, 2)]
    path = tmp_path / "database_tuning_record.json"
    deadline = time.monotonic() + 120
    while lines_of(path) < 10 and time.monotonic() < deadline:
        time.sleep(0.1)
    for process in tuners:
        process.kill()
        process.wait()
    database = ms.database.JSONDatabase(work_dir=tmp_path)
    assert len(database) >= 6
    assert database.query_schedule(matmul(), TARGET) is not None


SYMBOLIC = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 64), "float32")
    B = T.match_buffer(b, (n, 64), "float32")
    for i, j in T.grid(n, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
"""


def test_symbolic_shapes_are_tuned_for_a_range(tmp_path, workers):
    function = from_source(SYMBOLIC)
    target = "llvm --num-cores=2"
    database = ms.tune_tir(function, target, tmp_path, 2, shape_ranges={"n": (1, 100)}, **workers)
    record = database.query_tuning_record(function, target)
    assert [info[2][0] for info in record.args_info[::2]] == [1, 10, 100]
    assert len(record.run_secs) == 3
    with pytest.raises(ValueError, match="expected a range of the symbol 'n', got none"):
        ms.tune_tir(function, target, tmp_path, 2)


def test_measurements_are_reported_to_callbacks(tmp_path, tune):
    class Counting(ms.measure_callback.MeasureCallback):
        count = 0

        def apply(self, task_scheduler, task_id, measure_candidates, builder_results, results):
            assert len(measure_candidates) == len(builder_results) == len(results)
            self.count += len(results)

    callback = Counting()
    tune(matmul(), tmp_path, 3, measure_callbacks=[callback], database="memory")
    assert callback.count == 3


def test_time_limits(tmp_path, tune):
    database = tune(matmul(), tmp_path, 50, max_seconds_per_task=0.1, num_trials_per_iter=2)
    assert len(database) == 3


def test_errors(tmp_path, tune):
    with pytest.raises(ValueError, match="expected strategy 'evolutionary'"):
        tune(matmul(), tmp_path, strategy="annealing")
    with pytest.raises(ValueError, match="expected max_trials_global of at least 0, got -1"):
        tune(matmul(), tmp_path, -1)
    with pytest.raises(ValueError, match="expected a target that this machine can run"):
        ms.tune_tir(matmul(), "llvm -mtriple=riscv64-linux-gnu", tmp_path, 1)
    with pytest.raises(ValueError, match=r"expected a runner \('local', 'dask'\), got 'rpc'"):
        ms.Runner("rpc")
    with pytest.raises(ValueError, match="expected a kernel without a schedule, got none"):
        tune(
            ms.tir_integration.compile_tir(tune(matmul(), tmp_path, 0), matmul(), TARGET).mod,
            tmp_path,
        )
    with pytest.raises(TypeError, match="trials"):
        tune(matmul(), tmp_path, 1, trials_per_task=3)
