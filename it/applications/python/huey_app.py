"""Huey with its consumer in threads of this process. Run by applications.sh with the port of a server."""
import threading
import time
from datetime import datetime

from huey import PriorityRedisHuey, RedisExpireHuey, RedisHuey, chord, crontab
from huey.contrib.helpers import RedisSemaphore
from huey.exceptions import RateLimitExceeded, TaskException, TaskLockedException
from redis import Redis

from features import PORT, equal, feature, raises, run, true, until, until_equal

huey = RedisHuey("huey", port=PORT, db=10, notify_result=True, store_intermediate_errors=False)
priority = PriorityRedisHuey("priority", port=PORT, db=10)
expiring = RedisExpireHuey("expiring", port=PORT, db=10, expire_time=100)
client = Redis(port=PORT, db=10, decode_responses=True)
ran = []
attempts = []


@huey.task()
def add(a, b):
    return a + b


@huey.task()
def total(numbers):
    return sum(numbers)


@huey.task()
def note(value):
    ran.append(value)


@huey.task()
def fail():
    raise ValueError("as it should")


@huey.task(retries=3)
def flaky():
    attempts.append(1)
    if len(attempts) < 3:
        raise ValueError("as it should")
    return "at last"


@huey.periodic_task(crontab())
def periodic():
    ran.append("periodic")


@priority.task()
def prioritized(value):
    ran.append(value)


@expiring.task()
def expiring_add(a, b):
    return a + b


@feature("task and result")
def result():
    equal(add(1, 2)(blocking=True, timeout=20), 3)
    equal(add.map([(i, i) for i in range(50)]).get(blocking=True, timeout=20), [2 * i for i in range(50)])


@feature("failure and retries")
def failure():
    error = raises(TaskException, fail(), blocking=True, timeout=20)
    true("as it should" in str(error), str(error))
    equal(flaky()(blocking=True, timeout=20), "at last")


@feature("delayed tasks are taken from the schedule")
def schedule():
    begin = time.monotonic()
    answer = add.schedule((3, 4), delay=1)
    until_equal(1, huey.scheduled_count)
    equal(answer(blocking=True, timeout=20), 7)
    true(time.monotonic() - begin >= 0.9, "the task came too early")
    equal(huey.scheduled_count(), 0)


@feature("due tasks leave the schedule once")
def due():
    storage = RedisHuey("schedule", port=PORT, db=10).storage
    now = time.time()
    for i in range(200):
        client.zadd(storage.schedule_key, {f"task{i}": now - 200 + i})
    client.zadd(storage.schedule_key, {"later": now + 1000})
    taken = []

    def take():
        taken.extend(storage.read_schedule(datetime.fromtimestamp(now)))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(sorted(taken), sorted(b"task%d" % i for i in range(200)))
    equal(client.zrange(storage.schedule_key, 0, -1), ["later"])


@feature("pipeline and chord")
def composition():
    results = huey.enqueue(add.s(1, 2).then(add, 10).then(add, 100))
    equal(results.get(blocking=True, timeout=20), [3, 13, 113])
    answer = huey.enqueue(chord([add.s(i, i) for i in range(5)], total.s()))
    equal(answer.get(blocking=True, timeout=20), 20)


@feature("revoke and restore")
def revoke():
    answer = note.schedule(("revoked",), delay=1)
    answer.revoke()
    true(answer.is_revoked(), "it is revoked")
    until_equal(0, huey.scheduled_count)
    equal(add(1, 1)(blocking=True, timeout=20), 2)
    true("revoked" not in ran, "it ran")
    add.revoke()
    true(add.is_revoked(), "the function is revoked")
    add.restore()
    equal(add(1, 1)(blocking=True, timeout=20), 2)


@feature("lock_task")
def lock():
    with huey.lock_task("lock"):
        true(huey.is_locked("lock"), "the lock is held")
        raises(TaskLockedException, huey.lock_task("lock").__enter__)
    true(not huey.is_locked("lock"), "the lock is free")


@feature("rate limit")
def rate_limit():
    limit = huey.rate_limit("limit", limit=3, per=3600)

    def once():
        with limit:
            return True
    equal([once() for _ in range(3)], [True] * 3)
    raises(RateLimitExceeded, once)


@feature("semaphore")
def semaphore():
    first = RedisSemaphore(huey, "semaphore", value=2)
    one, two = first.acquire(), first.acquire()
    true(one and two, "two get in")
    true(not first.acquire(), "a third one got in")
    true(first.release(one), "it is released")
    true(first.acquire(), "another one gets in")


@feature("priorities")
def priorities():
    for value in (1, 5, 3):
        prioritized(value, priority=value)
    while task := priority.dequeue():
        priority.execute(task)
    equal([value for value in ran if isinstance(value, int)], [5, 3, 1])


@feature("results that expire")
def expires():
    answer = expiring_add(1, 2)
    expiring.execute(expiring.dequeue())
    equal((answer(), answer.get(preserve=True)), (3, 3))
    true(0 < client.ttl(f"huey.r.expiring.{answer.id}") <= 100, "the result expires")


if __name__ == "__main__":
    consumer = huey.create_consumer(workers=2, periodic=True, initial_delay=0.05, max_delay=0.2, scheduler_interval=1)
    consumer.start()
    try:
        status = run()
    finally:
        consumer.stop(graceful=True)
    raise SystemExit(status)
