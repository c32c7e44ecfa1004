"""redis-py's Lock, plain and asyncio, and its scripts and streams. Run by applications.sh with the port of a server."""
import threading
import time

import redis
import redis.asyncio
from redis.exceptions import LockError, LockNotOwnedError, NoScriptError, ResponseError

from features import PORT, equal, feature, raises, run, true, until

client = redis.Redis(port=PORT, decode_responses=True)
INCREMENTS = 25
THREADS = 4


@feature("lock: acquire, owned, release")
def acquire_and_release():
    lock = client.lock("redis-py:lock", timeout=10)
    true(lock.acquire(blocking=False), "the lock is free")
    true(lock.owned() and lock.locked(), "the lock is owned")
    true(not client.lock("redis-py:lock", timeout=10).acquire(blocking=False), "the lock is taken")
    lock.release()
    true(not lock.locked(), "the lock is released")
    equal(client.exists("redis-py:lock"), 0)
    raises(LockError, lock.release)


@feature("lock: extend and reacquire")
def extend():
    lock = client.lock("redis-py:extend", timeout=10)
    lock.acquire()
    lock.extend(50)
    true(55_000 < client.pttl("redis-py:extend") <= 60_000, "the time was added")
    lock.extend(30, replace_ttl=True)
    true(25_000 < client.pttl("redis-py:extend") <= 30_000, "the time was replaced")
    lock.reacquire()
    true(5_000 < client.pttl("redis-py:extend") <= 10_000, "the time was reset")
    lock.release()


@feature("lock: another's lock is not released, extended or reacquired")
def not_owned():
    lock = client.lock("redis-py:stolen", timeout=10)
    lock.acquire()
    client.set("redis-py:stolen", "another's token")
    raises(LockNotOwnedError, lock.extend, 10)
    raises(LockNotOwnedError, lock.reacquire)
    raises(LockNotOwnedError, lock.release)
    equal(client.get("redis-py:stolen"), "another's token")


@feature("lock: expires, and the next one gets it")
def expires():
    first = client.lock("redis-py:expires", timeout=0.2)
    first.acquire()
    second = client.lock("redis-py:expires", timeout=10, blocking_timeout=10, sleep=0.02)
    true(second.acquire(), "the lock of the first expired")
    raises(LockNotOwnedError, first.release)
    second.release()


@feature("lock: mutual exclusion of threads")
def exclusion():
    client.set("redis-py:counter", 0)

    def increment():
        for _ in range(INCREMENTS):
            with client.lock("redis-py:mutex", timeout=20, sleep=0.001):
                client.set("redis-py:counter", int(client.get("redis-py:counter")) + 1)

    threads = [threading.Thread(target=increment) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(client.get("redis-py:counter"), str(THREADS * INCREMENTS))


@feature("lock: asyncio")
async def asyncio_lock():
    async with redis.asyncio.Redis(port=PORT) as other:
        async with other.lock("redis-py:asyncio", timeout=10) as lock:
            await lock.extend(20)
            true(await lock.owned(), "the lock is owned")
            true(not await other.lock("redis-py:asyncio").acquire(blocking=False), "the lock is taken")
        equal(await other.exists("redis-py:asyncio"), 0)


@feature("register_script: arguments, pipeline, replies, unknown digest")
def scripts():
    script = client.register_script("return {KEYS[1], ARGV[1], #ARGV, redis.call('incrby', KEYS[1], ARGV[1])}")
    equal(script(keys=["redis-py:script"], args=[5, 6]), ["redis-py:script", "5", 2, 5])
    client.script_flush()
    with client.pipeline() as pipeline:
        pipeline.set("redis-py:script", 1)
        script(keys=["redis-py:script"], args=[2], client=pipeline)
        equal(pipeline.execute(), [True, ["redis-py:script", "2", 1, 3]])
    equal(client.script_exists(script.sha, "0" * 40), [True, False])
    raises(NoScriptError, client.evalsha, "0" * 40, 0)
    error = raises(ResponseError, client.eval, "return redis.error_reply('MINE of the script')", 0)
    equal(str(error), "MINE of the script")
    equal(client.eval("return 3.99", 0), 3)
    equal(client.eval("return {1, 2, nil, 4}", 0), [1, 2])
    equal(client.eval("return redis.status_reply('FINE')", 0), "FINE")


@feature("register_script: undeclared keys and cjson")
def undeclared():
    client.hset("redis-py:undeclared", mapping={"a": 1, "b": 2})
    equal(client.eval("""
        local all = redis.call('hgetall', 'redis-py:' .. ARGV[1])
        table.sort(all)
        return cjson.encode({n = #all, all = all})""", 0, "undeclared"), '{"all":["1","2","a","b"],"n":4}')


@feature("functions: load, call, list, delete")
def functions():
    client.function_load("""#!lua name=redispy
        redis.register_function('redispy_add', function(keys, args)
            return redis.call('incrby', keys[1], args[1])
        end)
        redis.register_function{function_name='redispy_get', callback=function(keys)
            return redis.call('get', keys[1])
        end, flags={'no-writes'}}""", replace=True)
    client.delete("redis-py:function")
    equal(client.fcall("redispy_add", 1, "redis-py:function", 3), 3)
    equal(client.fcall_ro("redispy_get", 1, "redis-py:function"), "3")
    raises(ResponseError, client.fcall_ro, "redispy_add", 1, "redis-py:function", 3)
    true("redispy" in str(client.function_list()), "the library is listed")
    client.function_delete("redispy")
    raises(ResponseError, client.fcall, "redispy_add", 1, "redis-py:function", 3)


@feature("streams: group, blocking read, pending, claim, ack, trim")
def streams():
    client.delete("redis-py:stream")
    client.xgroup_create("redis-py:stream", "group", id="0", mkstream=True)
    got = []

    def read():
        with redis.Redis(port=PORT, decode_responses=True) as reader:
            got.append(reader.xreadgroup("group", "one", {"redis-py:stream": ">"}, count=1, block=15_000))

    thread = threading.Thread(target=read)
    thread.start()
    until(lambda: client.info("clients")["blocked_clients"] == 1, "the reader waits")
    first = client.xadd("redis-py:stream", {"n": 1})
    thread.join()
    equal(got, [[["redis-py:stream", [(first, {"n": "1"})]]]])
    equal(client.xpending("redis-py:stream", "group")["pending"], 1)
    time.sleep(0.01)
    equal(client.xautoclaim("redis-py:stream", "group", "two", 1)[1], [(first, {"n": "1"})])
    equal(client.xpending_range("redis-py:stream", "group", "-", "+", 10)[0]["consumer"], "two")
    equal(client.xack("redis-py:stream", "group", first), 1)
    for n in range(20):
        client.xadd("redis-py:stream", {"n": n}, maxlen=5, approximate=False)
    equal([entry[1]["n"] for entry in client.xrange("redis-py:stream")], ["15", "16", "17", "18", "19"])
    equal(client.xinfo_groups("redis-py:stream")[0]["name"], "group")


if __name__ == "__main__":
    raise SystemExit(run())
