"""RQ with a worker and its scheduler in processes of their own. Run by applications.sh with the port of a server.

The worker imports this file, too: VARVE_PORT has its port.
"""
import os
import signal
import sys
import time
from datetime import timedelta

from redis import Redis
from rq import Callback, Queue, Repeat, Retry, Worker, get_current_job
from rq.command import send_stop_job_command
from rq.cron import CronScheduler
from rq.exceptions import DuplicateJobError
from rq.group import Group
from rq.job import Dependency, JobStatus
from rq.rate_limit import RateLimit, RateLimitRegistry
from rq.registry import FailedJobRegistry, ScheduledJobRegistry, StartedJobRegistry
from rq.results import Result

from features import PORT, Process, equal, feature, raises, run, true, until, until_equal

port = int(os.environ.setdefault("VARVE_PORT", str(PORT)))
client = Redis(port=port, db=8)
notes = Redis(port=port, db=9, decode_responses=True)
queue = Queue("rq", connection=client)
idle = Queue("no worker", connection=client)


def add(a, b):
    return a + b


def fail():
    raise ValueError("as it should")


def flaky():
    if notes.incr("flaky") < 3:
        raise ValueError("as it should")
    return "at last"


def note(key, value):
    notes.rpush(key, value)


def dependent():
    return [job.return_value() for job in get_current_job().fetch_dependencies()]


def wait(key):
    notes.blpop(key, timeout=30)
    return "waited"


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def on_success(job, connection, result):
    notes.rpush("callback", *sorted(result))


def state(job, expected):
    until_equal(expected, lambda: job.get_status(refresh=True))


@feature("the worker starts")
def starts():
    until_equal(1, lambda: Worker.count(connection=client))


@feature("job and result, which is in a stream")
def result():
    job = queue.enqueue(add, 2, 3)
    state(job, JobStatus.FINISHED)
    equal(job.return_value(), 5)
    equal(job.latest_result().type, Result.Type.SUCCESSFUL)
    equal(client.type(f"rq:results:{job.id}"), b"stream")
    equal(queue.enqueue(add, 3, 4).latest_result(timeout=20).return_value, 7)


@feature("50 jobs in one transaction")
def many():
    jobs = queue.enqueue_many([Queue.prepare_data(add, (i, 1)) for i in range(50)])
    until(lambda: all(job.get_status(refresh=True) == JobStatus.FINISHED for job in jobs), "all are finished", 40)
    equal([job.return_value() for job in jobs], list(range(1, 51)))


@feature("failure, its registry, and requeue")
def failure():
    job = queue.enqueue(fail)
    state(job, JobStatus.FAILED)
    true("as it should" in job.latest_result().exc_string, "the trace is kept")
    registry = FailedJobRegistry(queue=queue)
    true(job.id in registry, "the job is in the registry")
    registry.requeue(job.id)
    until(lambda: len(job.results()) == 2, "it ran again")


@feature("retry")
def retry():
    job = queue.enqueue(flaky, retry=Retry(max=3))
    state(job, JobStatus.FINISHED)
    equal(job.return_value(), "at last")


@feature("dependencies and callbacks")
def dependencies():
    first, second = queue.enqueue(add, 1, 1), queue.enqueue(add, 2, 2)
    last = queue.enqueue(dependent, depends_on=Dependency([first, second]), on_success=Callback(on_success))
    state(last, JobStatus.FINISHED)
    equal(sorted(last.return_value()), [2, 4])
    until_equal(["2", "4"], lambda: notes.lrange("callback", 0, -1))


@feature("scheduled jobs, and repeated ones")
def schedule():
    job = queue.enqueue_in(timedelta(seconds=1), add, 5, 5)
    true(job in ScheduledJobRegistry(queue=queue), "the job is scheduled")
    repeated = queue.enqueue(note, "repeated", 1, repeat=Repeat(times=1, interval=1))
    state(job, JobStatus.FINISHED)
    until_equal(2, lambda: notes.llen("repeated"))
    state(repeated, JobStatus.FINISHED)


@feature("unique jobs")
def unique():
    job = idle.enqueue(add, 1, 1, job_id="one", unique=True)
    raises(DuplicateJobError, idle.enqueue, add, 1, 1, job_id="one", unique=True)
    equal(idle.job_ids, ["one"])
    job.delete()
    equal(idle.enqueue(add, 1, 1, job_id="one", unique=True).get_position(), 0)


@feature("rate limited jobs")
def rate_limit():
    limit = RateLimit(key="limit", concurrency=1)
    jobs = [queue.enqueue(wait, "limited", rate_limit=limit) for _ in range(3)]
    state(jobs[0], JobStatus.STARTED)
    registry = RateLimitRegistry("limit", client)
    equal((registry.get_allowed_job_count(), registry.get_rate_limited_job_count()), (1, 2))
    notes.rpush("limited", 1, 2, 3)
    for job in jobs:
        state(job, JobStatus.FINISHED)
    until_equal((0, 0), lambda: (registry.get_allowed_job_count(), registry.get_rate_limited_job_count()))


@feature("stop a running job, and cancel a waiting one")
def stop():
    job = queue.enqueue(wait, "never")
    state(job, JobStatus.STARTED)
    true(job.id in StartedJobRegistry(queue=queue), "the job is in the registry")
    time.sleep(0.2)
    send_stop_job_command(client, job.id)
    state(job, JobStatus.STOPPED)
    waiting = idle.enqueue(add, 1, 1)
    waiting.cancel()
    state(waiting, JobStatus.CANCELED)


@feature("groups")
def groups():
    group = Group.create(connection=client)
    jobs = group.enqueue_many(queue, [Queue.prepare_data(add, (i, i)) for i in range(5)])
    equal(sorted(job.id for job in group.get_jobs()), sorted(job.id for job in jobs))
    for job in jobs:
        state(job, JobStatus.FINISHED)


@feature("cron")
def cron():
    scheduler = CronScheduler(connection=client, name="cron")
    scheduler.register(note, "rq", args=("cron", 1), interval=1)
    scheduler.register_birth()
    scheduler.enqueue_jobs()
    until_equal(1, lambda: notes.llen("cron"))
    equal([found.name for found in CronScheduler.all(client)], ["cron"])
    scheduler.register_death()


@feature("Queue.empty and delete")
def empty():
    for _ in range(10):
        idle.enqueue(add, 1, 1)
    true(idle.count >= 10, "the jobs wait")
    idle.empty()
    equal(idle.count, 0)
    idle.delete()


@feature("a killed process fails its job")
def killed():
    job = queue.enqueue(die)
    state(job, JobStatus.FAILED)
    true("terminated unexpectedly" in job.latest_result().exc_string, "the job's end is explained")


@feature("a worker stops, and another one takes its place")
def replaced():
    global process
    process.stop()
    until_equal(0, lambda: Worker.count(connection=client))
    process = worker()
    equal(queue.enqueue(add, 20, 3).latest_result(timeout=20).return_value, 23)


def worker():
    return Process(sys.executable, "-m", "rq.cli", "worker", "--url", f"redis://127.0.0.1:{port}/8", "--with-scheduler",
                   "--quiet", "--path", os.path.dirname(os.path.abspath(__file__)), "rq")


if __name__ == "__main__":
    sys.modules["rq_app"] = sys.modules["__main__"]
    for function in (add, fail, flaky, note, dependent, wait, die, on_success):
        function.__module__ = "rq_app"
    process = worker()
    try:
        status = run()
    finally:
        process.stop()
    raise SystemExit(status)
