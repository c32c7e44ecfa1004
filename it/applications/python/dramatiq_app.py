"""Dramatiq with its Redis broker, results and rate limits. Run by applications.sh with the port of a server."""
import threading
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import GroupCallbacks
from dramatiq.rate_limits import Barrier, BucketRateLimiter, ConcurrentRateLimiter, WindowRateLimiter
from dramatiq.rate_limits.backends import RedisBackend as RateLimits
from dramatiq.results import ResultFailure, Results
from dramatiq.results.backends import RedisBackend
from redis import Redis

from features import URL, equal, feature, raises, run, true, until, until_equal

broker = RedisBroker(url=URL + "/6", maintenance_chance=1_000_000, heartbeat_timeout=1_000)
limits = RateLimits(url=URL + "/7")
broker.add_middleware(Results(backend=RedisBackend(url=URL + "/7")))
broker.add_middleware(GroupCallbacks(limits))
dramatiq.set_broker(broker)
client = Redis.from_url(URL + "/7", decode_responses=True)
attempts = []
ran = []
worker = dramatiq.Worker(broker, queues={"default"}, worker_timeout=100, worker_threads=4)


@dramatiq.actor(store_results=True)
def add(a, b):
    return a + b


@dramatiq.actor(store_results=True, max_retries=3, min_backoff=10, max_backoff=50)
def flaky():
    attempts.append(time.monotonic())
    if len(attempts) < 3:
        raise ValueError("as it should")
    return len(attempts)


@dramatiq.actor(store_results=True, max_retries=0)
def fail():
    raise ValueError("as it should")


@dramatiq.actor
def note(value):
    ran.append(value)


@dramatiq.actor(queue_name="lost")
def lost(value):
    ran.append(value)


def of(message, seconds=20):
    return message.get_result(block=True, timeout=seconds * 1000)


@feature("message and result")
def result():
    equal(of(add.send(1, 2)), 3)


@feature("200 messages, and join")
def many():
    messages = [add.send(i, i) for i in range(200)]
    broker.join("default", timeout=30_000)
    equal([message.get_result() for message in messages], [2 * i for i in range(200)])


@feature("delay")
def delay():
    begin = time.monotonic()
    equal(of(add.send_with_options(args=(2, 3), delay=500)), 5)
    true(time.monotonic() - begin >= 0.5, "the message came too early")


@feature("retries")
def retries():
    equal(of(flaky.send()), 3)


@feature("failure, and the dead letter queue")
def failure():
    error = raises(ResultFailure, of, fail.send())
    true("as it should" in str(error), str(error))
    until_equal(1, lambda: broker.client.zcard("dramatiq:default.XQ"))
    equal(broker.client.hlen("dramatiq:default.XQ.msgs"), 1)


@feature("pipeline and group")
def composition():
    pipe = (add.message(1, 2) | add.message(3) | add.message(4)).run()
    equal(pipe.get_result(block=True, timeout=20_000), 10)
    group = dramatiq.group(add.message(i, 1) for i in range(10))
    group.add_completion_callback(note.message("completed"))
    equal(list(group.run().get_results(block=True, timeout=20_000)), list(range(1, 11)))
    until(lambda: "completed" in ran, "the callback of the group")


@feature("a dead worker's messages are delivered again")
def redelivery():
    other = RedisBroker(url=URL + "/6", heartbeat_timeout=1_000)
    other.declare_queue("lost")
    lost.send("lost")
    consumer = other.consume("lost", prefetch=10)
    until(lambda: next(consumer), "another broker takes the message")
    equal(broker.client.scard(f"dramatiq:__acks__.{other.broker_id}.lost"), 1)
    taker = dramatiq.Worker(broker, queues={"lost"}, worker_timeout=100, worker_threads=1)
    taker.start()
    until(lambda: "lost" in ran, "the message is delivered again")
    taker.stop()


@feature("ConcurrentRateLimiter")
def concurrent():
    mutex = ConcurrentRateLimiter(limits, "mutex", limit=2, ttl=10_000)
    with mutex.acquire(), mutex.acquire():
        with mutex.acquire(raise_on_failure=False) as acquired:
            true(not acquired, "a third one got in")
    with mutex.acquire(raise_on_failure=False) as acquired:
        true(acquired, "it was released")


@feature("BucketRateLimiter and WindowRateLimiter")
def buckets():
    def count(limiter):
        passed = 0
        for _ in range(10):
            with limiter.acquire(raise_on_failure=False) as acquired:
                passed += acquired
        return passed
    equal(count(BucketRateLimiter(limits, "bucket", limit=4, bucket=3_600_000)), 4)
    equal(count(WindowRateLimiter(limits, "window", limit=4, window=60)), 4)


@feature("Barrier")
def barrier():
    gate = Barrier(limits, "barrier", ttl=20_000)
    true(gate.create(parties=3), "it is new")
    passed = []
    threads = [threading.Thread(target=lambda: passed.append(gate.wait(timeout=15_000))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(passed, [True] * 3)


@feature("flush")
def flush():
    worker.pause()
    for i in range(10):
        note.send(i)
    equal(broker.client.llen("dramatiq:default") > 0, True)
    broker.flush("default")
    equal(broker.client.llen("dramatiq:default"), 0)
    worker.resume()


if __name__ == "__main__":
    worker.start()
    try:
        status = run()
    finally:
        worker.stop()
    raise SystemExit(status)
