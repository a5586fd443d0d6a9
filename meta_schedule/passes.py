"""Tuning as passes: ``relax.transform.MetaScheduleTuneIRMod`` and its kin, as TVM has them.

Kernels are those that a build schedules: the first two passes run the compiler's passes up to
`schedule-default` to find them. The target is the one of the ``with Target(…):`` around, or "llvm".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..backend.target import HOST, Target
from ..ir.module import IRModule
from ..ir.transform import Pass, PassContext, PassInfo
from .database import Database, JSONDatabase
from .relax_integration import tune_relax, tuned_module
from .tir_integration import tune_tir


class MetaScheduleApplyDatabase(Pass):
    """Give kernels the schedules of the database of a folder, or of the ``with database:`` around.

    The result has the kernels of a build, of which those in the database are scheduled. Calling it
    raises ValueError without a database. TVM's ``relax.transform.MetaScheduleApplyDatabase``.
    """

    info = PassInfo("meta-schedule-apply-database")

    def __init__(
        self,
        work_dir: str | Path | None = None,
        enable_warning: bool = False,
        target: str | Target | None = None,
    ):
        self.work_dir, self.enable_warning, self.target = work_dir, enable_warning, target

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        is_given = self.work_dir is not None
        database = JSONDatabase(work_dir=self.work_dir) if is_given else Database.current()
        if database is None:
            raise ValueError("expected a work_dir or a database around the pass, got neither")
        return tuned_module(mod, database, _target(self.target), self.enable_warning)


class MetaScheduleTuneIRMod(Pass):
    """Tune the kernels of a build of the module, which is unchanged.

    `options` are those of `tune_relax`. TVM's ``relax.transform.MetaScheduleTuneIRMod``.
    """

    info = PassInfo("meta-schedule-tune-ir-mod")

    def __init__(
        self,
        params: Mapping[str, Any] | None,
        work_dir: str | Path,
        max_trials_global: int,
        target: str | Target | None = None,
        **options: Any,
    ):
        self.params, self.work_dir, self.trials = params, work_dir, max_trials_global
        self.target, self.options = target, options

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        target = _target(self.target)
        tune_relax(mod, self.params, target, self.work_dir, self.trials, **self.options)
        return mod


class MetaScheduleTuneTIR(Pass):
    """Tune the PrimFuncs of the module as they are; the module is unchanged.

    `options` are those of `tune_tir`. TVM's ``relax.transform.MetaScheduleTuneTIR``.
    """

    info = PassInfo("meta-schedule-tune-tir")

    def __init__(
        self,
        work_dir: str | Path,
        max_trials_global: int,
        target: str | Target | None = None,
        **options: Any,
    ):
        self.work_dir, self.trials = work_dir, max_trials_global
        self.target, self.options = target, options

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        tune_tir(mod, _target(self.target), self.work_dir, self.trials, **self.options)
        return mod


def _target(given: str | Target | None) -> Target:
    return Target(given or Target.current() or HOST)
