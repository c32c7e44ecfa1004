"""Celery with a worker in its own process: tasks, results, groups, chords, schedules, control.

Run by applications.sh with the port of a server. The worker imports this file, too: VARVE_PORT has its port.
"""
import os
import sys
import time

from celery import Celery, chain, chord, group
from celery.exceptions import TaskRevokedError
from celery.result import GroupResult
from redis import Redis

from features import PORT, Process, equal, feature, raises, run, true, until, until_equal

# After that long, another worker takes a message that nobody has acknowledged.
VISIBILITY_SECONDS = 2

port = int(os.environ.setdefault("VARVE_PORT", str(PORT)))
app = Celery("celery_app", broker=f"redis://127.0.0.1:{port}/3", backend=f"redis://127.0.0.1:{port}/4")
app.conf.update(
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    result_expires=300,
    result_extended=True,
    task_track_started=True,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": VISIBILITY_SECONDS, "priority_steps": [0, 5, 9],
                              "polling_interval": 0.1},
)
notes = Redis(port=port, db=5, decode_responses=True)


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def fail():
    raise ValueError("as it should")


@app.task(bind=True, max_retries=3)
def flaky(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0)
    return self.request.retries


@app.task
def note(key, value):
    notes.rpush(key, value)


@app.task(bind=True)
def progress(self):
    self.update_state(state="PROGRESS", meta={"done": 3})
    notes.blpop("progress", timeout=20)
    return "done"


@app.task
def hold():
    """Holds its worker process at the first time."""
    if notes.incr("held") == 1:
        time.sleep(40)
    return "again"


def ask():
    return app.control.inspect(timeout=10, limit=1)


def worker():
    return Process(sys.executable, "-m", "celery", "--app", "celery_app", "worker", "--loglevel", "WARNING",
                   "--concurrency", "2", "--hostname", "one@localhost", "--without-mingle")


@feature("the worker starts and answers a ping")
def ping():
    until_equal([{"one@localhost": {"ok": "pong"}}], lambda: app.control.ping(timeout=0.5, limit=1))


@feature("task and result")
def result():
    answer = add.delay(2, 3)
    equal(answer.get(timeout=20), 5)
    true(answer.successful(), "the task succeeded")
    ttl = app.backend.client.ttl(app.backend.get_key_for_task(answer.id))
    true(200 < ttl <= 300, f"the result expires in {ttl} s")
    answer.forget()
    equal(app.AsyncResult(answer.id).state, "PENDING")


@feature("100 tasks")
def many():
    answers = [add.delay(i, i) for i in range(100)]
    equal([answer.get(timeout=30) for answer in answers], [2 * i for i in range(100)])


@feature("failure and retries")
def failures():
    answer = fail.delay()
    error = raises(ValueError, answer.get, timeout=20)
    equal(str(error), "as it should")
    true("ValueError" in answer.traceback, "the trace is kept")
    equal(flaky.delay().get(timeout=20), 2)


@feature("state of a running task")
def states():
    answer = progress.delay()
    until_equal("PROGRESS", lambda: answer.state)
    equal(answer.info, {"done": 3})
    notes.rpush("progress", "go on")
    equal(answer.get(timeout=20), "done")


@feature("chain and group")
def canvas():
    equal(chain(add.s(1, 2), add.s(10), add.s(100))().get(timeout=20), 113)
    answers = group(add.s(i, 1) for i in range(10))()
    equal(answers.get(timeout=20), list(range(1, 11)))
    answers.save()
    equal(GroupResult.restore(answers.id, app=app).get(timeout=20), list(range(1, 11)))


@feature("chord")
def chords():
    equal(chord([add.s(i, i) for i in range(20)])(total.s()).get(timeout=20), 380)
    inner = chain(group(add.s(i, 1) for i in range(3)), total.s(), add.s(4))
    equal(inner().get(timeout=20), 10)


@feature("chord whose member fails")
def failing_chord():
    answer = chord([add.s(1, 1), fail.s()])(total.s())
    true("as it should" in str(raises(Exception, answer.get, timeout=20)), "the chord fails with its member")


@feature("countdown")
def countdown():
    begin = time.time()
    equal(add.apply_async((1, 2), countdown=0.7).get(timeout=20), 3)
    true(time.time() - begin >= 0.7, "the task came too early")


@feature("priorities and queues")
def priorities():
    for priority in (9, 5, 0):
        note.apply_async(("order", priority), priority=priority, queue="other")
    client = Redis(port=port, db=3)
    equal([client.llen(name) for name in ("other", "other\x06\x165", "other\x06\x169")], [1, 1, 1])
    app.control.add_consumer("other", reply=True, limit=1, timeout=10)
    until(lambda: notes.llen("order") == 3, "the tasks ran")


@feature("revoke")
def revoke():
    answer = add.apply_async((1, 2), countdown=15)
    until(lambda: any(ask().scheduled().values()), "the task is scheduled")
    app.control.revoke(answer.id, reply=True, limit=1, timeout=10)
    equal(ask().revoked(), {"one@localhost": [answer.id]})
    running = progress.delay()
    until_equal("PROGRESS", lambda: running.state)
    app.control.revoke(running.id, terminate=True, reply=True, limit=1, timeout=10)
    raises(TaskRevokedError, running.get, timeout=20)


@feature("inspect")
def inspect():
    stats = ask().stats()["one@localhost"]
    equal(stats["broker"]["port"], port)
    true(stats["total"]["celery_app.add"] > 100, "the tasks are counted")
    equal([queue["name"] for queue in ask().active_queues()["one@localhost"]], ["celery", "other"])


@feature("a killed worker's task runs again")
def redelivery():
    global process
    answer = hold.delay()
    until_equal("1", lambda: notes.get("held"))
    process.kill()
    time.sleep(VISIBILITY_SECONDS + 0.5)
    process = worker()  # kombu takes such messages at its start, and then rarely
    equal(answer.get(timeout=35), "again")


@feature("purge")
def purge():
    for i in range(10):
        add.apply_async((i, i), queue="nobody's")
    with app.connection() as connection:
        equal(connection.default_channel.queue_purge("nobody's"), 10)


if __name__ == "__main__":
    process = worker()
    try:
        status = run()
    finally:
        process.stop()
    raise SystemExit(status)
