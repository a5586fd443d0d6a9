"""Examples of the search for schedules."""
# ruff: noqa: E402

# %% meta_schedule meta_schedule.tune_tir meta_schedule.tir_integration meta_schedule.database
import tempfile

from xrelax import meta_schedule as ms
from xrelax import te

x = te.placeholder((8, 64), name="X")
y = te.compute((8, 64), lambda i, j: x[i, j] * 2, name="Y")
kernel, target = te.create_prim_func([x, y]), "llvm --num-cores=2"
database = ms.tune_tir(kernel, target, tempfile.mkdtemp(), max_trials_global=1)
assert isinstance(database, ms.database.JSONDatabase)
print(ms.tir_integration.compile_tir(database, kernel, target).mod["main"].attrs)

# %% meta_schedule.space_generator
import tempfile

from xrelax import meta_schedule as ms
from xrelax import te


def schedule(sch):
    (i,) = sch.get_loops(sch.get_block("Y"))
    sch.vectorize(sch.split(i, sch.sample_perfect_tile(i, n=2))[1])


x = te.placeholder((64,), name="X")
kernel = te.create_prim_func([x, te.compute((64,), lambda i: x[i] * 2, name="Y")])
space = ms.space_generator.ScheduleFn(schedule)
database = ms.tune_tir(kernel, "llvm", tempfile.mkdtemp(), max_trials_global=1, space=space)
record = database.query_tuning_record(kernel, "llvm")
print(list(record.decisions))

# %% meta_schedule.tune_relax meta_schedule.relax_integration
import tempfile

from xrelax import IRModule
from xrelax import meta_schedule as ms
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4, 32), "float32"), w: R.Tensor((32, 16), "float32")):
    return R.nn.relu(R.matmul(x, w))


module = IRModule({"main": main})
(task,) = ms.relax_integration.extract_tasks(module, "llvm")
print(task.task_name, task.weight)
database = ms.tune_relax(module, None, "llvm", tempfile.mkdtemp(), max_trials_global=1)
print(ms.relax_integration.compile_relax(database, module, "llvm"))

# %% meta_schedule.Runner meta_schedule.runner meta_schedule.builder meta_schedule.measure_callback
import tempfile

from xrelax import meta_schedule as ms
from xrelax import te


class Printing(ms.measure_callback.MeasureCallback):
    def apply(self, search, task_id, candidates, builder_results, runner_results):
        print(len(candidates), [r.error_msg for r in runner_results])


x = te.placeholder((256, 100), name="X")
kernel = te.create_prim_func([x, te.compute((100, 256), lambda i, j: x[j, i], name="Y")])
config = ms.runner.EvaluatorConfig(repeat=5)
options = {"runner": ms.Runner("local", timeout_sec=20, evaluator_config=config)}
options["builder"] = ms.builder.LocalBuilder(max_workers=1)
target, folder = "llvm --num-cores=2", tempfile.mkdtemp()
ms.tune_tir(kernel, target, folder, 1, measure_callbacks=[Printing()], **options)

# %% meta_schedule.cost_model
from xrelax import meta_schedule as ms

model = ms.cost_model.CostModel.create("static")
print(model.predict([ms.cost_model.Point({"Y.tile": (6, 4)}, cost=-0.25)]))

# %% meta_schedule.tune_tasks meta_schedule.TuneContext meta_schedule.TuneConfig
import tempfile

from xrelax import IRModule, te
from xrelax import meta_schedule as ms
from xrelax.target import Target

x = te.placeholder((8, 64), name="X")
kernel = te.create_prim_func([x, te.compute((8, 64), lambda i, j: x[i, j] * 2, name="Y")])
space, target = ms.space_generator.PostOrderApply(), Target("llvm --num-cores=2")
task = ms.TuneContext(IRModule({"main": kernel}), target, space, "double")
database = ms.tune_tasks([task], tempfile.mkdtemp(), ms.TuneConfig(max_trials_global=1))
print([kernel.name for kernel in database.report()])

# %% meta_schedule.Database meta_schedule.ExtractedTask meta_schedule.SpaceGenerator
import tempfile

from xrelax import IRModule
from xrelax import meta_schedule as ms
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4, 8), "float32")):
    return R.exp(x)


module = IRModule({"main": main})
(task,) = ms.relax_integration.extract_tasks(module, "llvm")
space = ms.space_generator.PostOrderApply()
print(isinstance(task, ms.ExtractedTask), isinstance(space, ms.SpaceGenerator))
database = ms.Database.create("memory")
print(len(database), database.has_workload(task.dispatched[0]))

# %% meta_schedule.Builder meta_schedule.MeasureCallback meta_schedule.CostModel
from xrelax import meta_schedule as ms


class Counting(ms.MeasureCallback):
    def apply(self, search, task_id, candidates, builder_results, runner_results):
        print(len(candidates))


print(ms.Builder.create("local", max_workers=1), Counting())
print(type(ms.CostModel.create("random")).__name__)
