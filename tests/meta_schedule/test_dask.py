"""Workers of a Dask cluster: killed and hung ones cost time, and no result."""

import os
import signal
import threading
import time

import pytest
from broken_jobs import Crash, Hang, Sleep
from tuned_kernels import matmul

from xrelax import meta_schedule as ms
from xrelax.meta_schedule import dask_workers

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def client():
    options = {"threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=4, **options) as cluster:
        with distributed.Client(cluster) as found:
            yield found


def test_jobs_survive_workers_that_are_killed_or_hang(client, monkeypatch):
    monkeypatch.setattr(dask_workers, "GRACE_SEC", 5.0)
    workers = dask_workers.DaskWorkers(client)
    jobs = [Sleep(n, 1.0) for n in range(12)]
    assert dict(workers.run_all(jobs[:4], 60.0)).keys() == {0, 1, 2, 3}  # processes have started
    killed, stopped, *_ = client.run(os.getpid).values()

    def harm():
        time.sleep(0.5)
        os.kill(killed, signal.SIGKILL)
        os.kill(stopped, signal.SIGSTOP)

    thread = threading.Thread(target=harm)
    thread.start()
    try:
        outcomes = dict(workers.run_all(jobs, 10.0))
    finally:
        thread.join()
        os.kill(stopped, signal.SIGCONT)
    assert {n: o.value for n, o in outcomes.items()} == {n: n for n in range(12)}


def test_a_job_that_crashes_or_hangs_is_an_error_of_that_job(client):
    workers = dask_workers.DaskWorkers(client)
    jobs = [Sleep(0, 0.1), Crash(), Hang(), Sleep(3, 0.1)]
    outcomes = dict(workers.run_all(jobs, 15.0))
    assert outcomes[0].value == 0 and outcomes[3].value == 3
    assert outcomes[1].error == "the worker process ended: SIGSEGV"
    assert outcomes[2].error == "the job took longer than 15 s"


def test_tuning_on_a_cluster(client, tmp_path):
    runner = ms.Runner("dask", client)
    database = ms.tune_tir(
        matmul(), "llvm --num-cores=1", tmp_path, 3, runner=runner, progress=False
    )
    assert len(database) == 4
    assert all(r.is_valid() for r in database.get_all_tuning_records())
