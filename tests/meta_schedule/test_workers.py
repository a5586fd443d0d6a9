"""Worker processes: what goes wrong in one is the outcome of its job."""

from broken_jobs import Answer, Crash, Fail, Hang

from xrelax.meta_schedule.local_workers import LocalWorkers


def outcomes(workers, jobs, timeout_sec=30.0):
    found = dict(workers.run_all(jobs, timeout_sec))
    return [found[i] for i in range(len(jobs))]


def test_outcomes_of_jobs_that_go_wrong_and_of_others():
    workers = LocalWorkers(2)
    jobs = [Answer(1), Crash(), Answer(2), Fail(), Answer(3)]
    got = outcomes(workers, jobs)
    assert [o.value for o in got] == [1, None, 2, None, 3]
    assert got[1].error == "the worker process ended: SIGSEGV"
    assert got[3].error == "ValueError: first line second line"
    assert outcomes(workers, [Answer(4)])[0].value == 4
    workers.close()


def test_a_job_that_hangs_is_stopped():
    workers = LocalWorkers(1)
    assert outcomes(workers, [Answer(0)])[0].value == 0  # the process has started
    got = outcomes(workers, [Hang(), Answer(1)], 3.0)
    assert got[0].error == "the job took longer than 3 s"
    assert got[1].value == 1 or "took longer" in got[1].error  # a new process starts meanwhile
    assert outcomes(workers, [Answer(2)])[0].value == 2
    workers.close()


def test_no_jobs():
    assert outcomes(LocalWorkers(2), []) == []
