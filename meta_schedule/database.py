"""Databases of tuning records, in memory or in two files of JSON lines; TVM's ``ms.database``."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ..backend.target import Target
from ..ir.module import IRModule
from ..ir.prim_func import PrimFunc
from ..tir.schedule import Schedule
from .json_lines import JSONLines
from .record import TuningRecord
from .report import TuningReport, tuning_report
from .space_generator import replayed
from .workload import Workload

_CURRENT: ContextVar[tuple[Database, ...]] = ContextVar("database", default=())

WORKLOADS, RECORDS = "database_workload.json", "database_tuning_record.json"
"""The files of a database in a folder, as TVM names them."""


class Database:
    """Workloads and their tuning records; TVM's ``Database``.

    The last record of a trace replaces those before. ``with database:`` makes it the one that
    `MetaScheduleApplyDatabase` takes.
    """

    def __init__(self) -> None:
        self._workloads: dict[str, Workload] = {}
        self._records: dict[tuple[str, str, str], TuningRecord] = {}

    @staticmethod
    def create(kind: Any = "json", **options: Any) -> Database:
        """A database by kind, "json" or "memory"; raises ValueError for another one."""
        if isinstance(kind, Database):
            return kind
        kinds = {"json": JSONDatabase, "memory": MemoryDatabase}
        if kind not in kinds:
            raise ValueError(f"expected a database ('json', 'memory'), got {kind!r}")
        return kinds[kind](**(options if kind == "json" else {}))

    @staticmethod
    def current() -> Database | None:
        """The database of the innermost ``with database:``."""
        return _CURRENT.get()[-1] if _CURRENT.get() else None

    def __enter__(self) -> Database:
        _CURRENT.set((*_CURRENT.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        _CURRENT.set(_CURRENT.get()[:-1])

    def __len__(self) -> int:
        return len(self.get_all_tuning_records())

    def refresh(self) -> None:
        """Read what others have written meanwhile."""

    def has_workload(self, mod: IRModule | PrimFunc) -> bool:
        """Whether there is a workload that is structurally equal to a kernel."""
        self.refresh()
        own = Workload.of(mod)
        known = self._workloads.get(own.shash)
        return known is not None and known.is_same(own)

    def commit_workload(self, mod: IRModule | PrimFunc) -> Workload:
        """Add the workload of a kernel, unless it is there; returns it."""
        if self.has_workload(mod):
            return self._workloads[Workload.of(mod).shash]
        workload = Workload.of(mod)
        self._write_workload(workload)
        self._workloads[workload.shash] = workload
        return workload

    def commit_tuning_record(self, record: TuningRecord) -> None:
        """Add a record."""
        if record.workload.shash not in self._workloads:
            self.commit_workload(record.workload.mod)
        self._write_record(record)
        self._keep(record)

    def get_all_tuning_records(self) -> list[TuningRecord]:
        """All records, in the order in which their traces were first measured."""
        self.refresh()
        return list(self._records.values())

    def get_top_k(self, workload: Workload, top_k: int) -> list[TuningRecord]:
        """The fastest valid records of a workload; confirmed ones come first."""
        found = [r for r in self._of(workload) if r.is_valid()]
        return sorted(found, key=TuningRecord.rank)[:top_k]

    def _of(self, workload: Workload) -> list[TuningRecord]:
        records = self.get_all_tuning_records()
        return [r for r in records if r.workload.shash == workload.shash]

    def records_of(self, workload: Workload, target: Target) -> list[TuningRecord]:
        """All records of a workload for a target, failed ones too."""
        return [r for r in self._of(workload) if str(r.target) == str(target)]

    def query_tuning_record(
        self, mod: IRModule | PrimFunc, target: str | Target, workload_name: str = "main"
    ) -> TuningRecord | None:
        """The best record of a kernel for a target, if there is one."""
        if not self.has_workload(mod):
            return None
        wanted = str(Target(target))
        found = self.get_top_k(self._workloads[Workload.of(mod).shash], len(self._records))
        return next((r for r in found if str(r.target) == wanted), None)

    def query_schedule(
        self, mod: IRModule | PrimFunc, target: str | Target, workload_name: str = "main"
    ) -> Schedule | None:
        """The schedule of the best record, on a module with the kernel as "main"."""
        record = self.query_tuning_record(mod, target)
        return None if record is None else replayed(Workload.of(mod).mod, record.trace)

    def query_ir_module(
        self, mod: IRModule | PrimFunc, target: str | Target, workload_name: str = "main"
    ) -> IRModule | None:
        """The scheduled module of the best record."""
        sch = self.query_schedule(mod, target)
        return None if sch is None else sch.mod

    def query(
        self,
        mod: IRModule | PrimFunc,
        target: str | Target,
        *,
        workload_name: str = "main",
        kind: str = "schedule",
    ) -> Any:
        """The best "schedule", "record" or "ir_module"; raises ValueError for another `kind`."""
        kinds = {
            "schedule": self.query_schedule,
            "record": self.query_tuning_record,
            "ir_module": self.query_ir_module,
        }
        if kind not in kinds:
            raise ValueError(f"expected a kind ({', '.join(kinds)}), got '{kind}'")
        return kinds[kind](mod, target)

    def dump_pruned(self, destination: Database) -> None:
        """Add the best record of each workload and target to another database."""
        best: dict[tuple[str, str], TuningRecord] = {}
        for workload in list(self._workloads.values()):
            for record in reversed(self.get_top_k(workload, len(self._records))):
                best[workload.shash, str(record.target)] = record
        for record in best.values():
            destination.commit_tuning_record(record)

    def report(self) -> TuningReport:
        """The tuned kernels as a table: see `TuningReport`."""
        return tuning_report(self.get_all_tuning_records())

    def _keep(self, record: TuningRecord) -> None:
        self._records[record.identity] = record

    def _write_workload(self, workload: Workload) -> None:
        """Store a workload that is new."""

    def _write_record(self, record: TuningRecord) -> None:
        """Store a record."""


class MemoryDatabase(Database):
    """A database that ends with the process; TVM's ``MemoryDatabase``."""


class JSONDatabase(Database):
    """A database in two files of JSON lines, which several processes may write.

    Lines are appended under a lock of their file, one write each. A line that was cut short, by a
    process that was killed, is ignored. Raises OSError for files that cannot be written.
    """

    def __init__(
        self,
        path_workload: str | Path | None = None,
        path_tuning_record: str | Path | None = None,
        *,
        work_dir: str | Path | None = None,
        allow_missing: bool = True,
    ):
        """A database in two files, or those of a folder `work_dir`; raises ValueError for neither.

        Without `allow_missing`, FileNotFoundError is raised for missing files.
        """
        super().__init__()
        if work_dir is not None:
            path_workload = path_workload or Path(work_dir) / WORKLOADS
            path_tuning_record = path_tuning_record or Path(work_dir) / RECORDS
        if path_workload is None or path_tuning_record is None:
            raise ValueError("expected the paths of two files or a work_dir, got none")
        self.path_workload, self.path_tuning_record = map(str, (path_workload, path_tuning_record))
        for path in (path_workload, path_tuning_record):
            if not allow_missing and not Path(path).exists():
                raise FileNotFoundError(f"expected the file of a database, got '{path}'")
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._lines = tuple(JSONLines(Path(p)) for p in (path_workload, path_tuning_record))
        self.refresh()

    def refresh(self) -> None:
        records = list(self._lines[1].new())  # their workloads were written before
        for entry in self._lines[0].new():
            workload = Workload.from_json(entry)
            self._workloads.setdefault(workload.shash, workload)
        for entry in records:
            workload = self._workloads.get(_hash_of(entry))
            if workload is not None:
                self._keep(TuningRecord.from_json(entry, workload))

    def _write_workload(self, workload: Workload) -> None:
        self._lines[0].append(workload.as_json())

    def _write_record(self, record: TuningRecord) -> None:
        self._lines[1].append(record.as_json())


def _hash_of(entry: Sequence[Any]) -> str:
    return str(entry[0])
