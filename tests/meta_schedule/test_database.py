"""Databases: what is stored, found again, and written by several processes."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from tuned_kernels import matmul

from xrelax import meta_schedule as ms
from xrelax import tir
from xrelax.backend.target import Target
from xrelax.meta_schedule.json_lines import JSONLines
from xrelax.meta_schedule.record import TuningRecord
from xrelax.meta_schedule.workload import Workload


def record(seconds, unroll="", **facts):
    """A record of a schedule, whose traces differ by the loop that is unrolled."""
    sch = tir.Schedule(matmul())
    if unroll:
        sch.unroll(sch.get_loops(sch.get_block("C"))["ijk".index(unroll)])
    secs = None if seconds is None else [seconds]
    return TuningRecord(sch.trace, Workload.of(matmul()), secs, Target("llvm"), [], **facts)


@pytest.fixture(params=["json", "memory"])
def database(request, tmp_path):
    return ms.database.Database.create(request.param, work_dir=tmp_path)


def test_the_fastest_record_is_found(database):
    for seconds, loop in ((2.0, "i"), (1.0, "j"), (3.0, "k")):
        database.commit_tuning_record(record(seconds, loop))
    assert database.has_workload(matmul()) and not database.has_workload(matmul(8))
    best = database.query_tuning_record(matmul(), "llvm")
    assert best.mean == 1.0 and len(database) == 3
    assert [r.mean for r in database.get_top_k(best.workload, 2)] == [1.0, 2.0]
    schedule = database.query_schedule(matmul(), "llvm")
    kinds = [op.kind.data for op in schedule.mod.op.walk() if op.name == "tir.for"]
    assert kinds == ["serial", "unrolled", "serial"]
    assert database.query(matmul(), "llvm", kind="ir_module")["main"].attrs["tir.is_scheduled"]


def test_what_is_not_there(database):
    assert database.query_schedule(matmul(), "llvm") is None
    database.commit_tuning_record(record(1.0))
    assert database.query_tuning_record(matmul(), "llvm --num-cores=1") is None
    with pytest.raises(ValueError, match="expected a kind"):
        database.query(matmul(), "llvm", kind="text")


def test_confirmed_records_come_first(database):
    database.commit_tuning_record(record(1.0, "i"))
    database.commit_tuning_record(record(2.0, "j", confirmed=True))
    assert database.query_tuning_record(matmul(), "llvm").mean == 2.0


def test_the_last_measurement_of_a_trace_counts(database):
    database.commit_tuning_record(record(1.0))
    database.commit_tuning_record(record(3.0))
    assert database.query_tuning_record(matmul(), "llvm").mean == 3.0 and len(database) == 1


def test_failures_are_kept_and_not_found(database):
    database.commit_tuning_record(record(None, error="it crashed"))
    assert len(database) == 1 and database.query_tuning_record(matmul(), "llvm") is None


def test_names_of_functions_do_not_count(database):
    database.commit_tuning_record(record(1.0))
    module = matmul()
    function = module["main"].with_attr("private", True)
    assert database.has_workload(type(module)({"other": function}))


def test_records_are_read_again(tmp_path):
    decisions = {"C.tile": (6, 4), "C.plan": "packed"}
    given = record(1.5, "i", decisions=decisions, baseline_secs=[3.0], confirmed=True, key=7)
    ms.database.JSONDatabase(work_dir=tmp_path).commit_tuning_record(given)
    (found,) = ms.database.JSONDatabase(work_dir=tmp_path).get_all_tuning_records()
    assert found.as_json() == given.as_json()
    assert found.decisions == decisions and found.speedup == 2.0 and found.key == 7
    (line,) = (tmp_path / "database_tuning_record.json").read_text().splitlines()
    assert json.loads(line)[1][1] == [1.5]


def test_a_cut_line_is_ignored_and_ended(tmp_path):
    database = ms.database.JSONDatabase(work_dir=tmp_path)
    database.commit_tuning_record(record(1.0, "i"))
    path = tmp_path / "database_tuning_record.json"
    line = path.read_text()
    path.write_text(line + line[: len(line) // 2])
    other = ms.database.JSONDatabase(work_dir=tmp_path)
    assert len(other) == 1
    other.commit_tuning_record(record(2.0, "j"))
    assert len(ms.database.JSONDatabase(work_dir=tmp_path)) == 2


def test_others_see_new_records(tmp_path):
    first, second = (ms.database.JSONDatabase(work_dir=tmp_path) for _ in range(2))
    first.commit_tuning_record(record(1.0))
    assert second.query_tuning_record(matmul(), "llvm").mean == 1.0


WRITER = """
import sys
from pathlib import Path
from xrelax.meta_schedule.json_lines import JSONLines
lines = JSONLines(Path(sys.argv[1]))
for number in range(100):
    lines.append([sys.argv[2], number, "x" * 5000])
"""


def test_two_processes_write_one_file(tmp_path):
    path = tmp_path / "lines.json"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name]) for name in "ab"]
    assert [w.wait(60) for w in writers] == [0, 0]
    found = [(name, number) for name, number, _ in JSONLines(path).new()]
    assert len(found) == 200
    assert all([n for w, n in found if w == name] == list(range(100)) for name in "ab")


def test_the_best_records_in_another_database(database):
    for seconds, loop in ((2.0, "i"), (1.0, "j")):
        database.commit_tuning_record(record(seconds, loop))
    other = ms.database.MemoryDatabase()
    database.dump_pruned(other)
    assert [r.mean for r in other.get_all_tuning_records()] == [1.0]


def test_a_database_may_be_current():
    assert ms.database.Database.current() is None
    with ms.database.MemoryDatabase() as outer:
        with ms.database.MemoryDatabase() as inner:
            assert ms.database.Database.current() is inner
        assert ms.database.Database.current() is outer


def test_errors(tmp_path):
    with pytest.raises(ValueError, match="expected the paths of two files or a work_dir"):
        ms.database.JSONDatabase()
    with pytest.raises(FileNotFoundError, match="expected the file of a database"):
        ms.database.JSONDatabase(work_dir=tmp_path, allow_missing=False)
    with pytest.raises(ValueError, match=r"expected a database \('json', 'memory'\)"):
        ms.database.Database.create("redis")


def test_a_report_has_a_line_for_each_kernel(database, tmp_path):
    database.commit_tuning_record(record(2e-6, "i", baseline_secs=[3e-6]))
    database.commit_tuning_record(replace(record(None, "j", error="it hung"), run_secs=None))
    report = database.report()
    (row,) = report.rows()
    assert row[:4] == ["C", "3.00", "2.00", "1.500"] and row[5:7] == ["2", "1"]
    pytest.importorskip("matplotlib")
    report.plot(tmp_path / "search.svg")
    assert (tmp_path / "search.svg").stat().st_size > 1000


def test_classes_have_short_names_too():
    modules = (
        "builder.Builder", "cost_model.CostModel", "database.Database",
        "measure_callback.MeasureCallback", "relax_integration.ExtractedTask", "runner.Runner",
        "space_generator.SpaceGenerator",
    )  # fmt: skip
    for path in modules:
        module, name = path.split(".")
        assert getattr(ms, name) is getattr(getattr(ms, module), name)
    assert type(ms.Database.create("memory")).__name__ == "MemoryDatabase"
