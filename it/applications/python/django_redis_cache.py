"""django-redis as the cache of Django. Run by applications.sh with the port of a server."""
import threading

import django
from django.conf import settings

from features import URL, equal, feature, raises, run, true

settings.configure(CACHES={
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": URL + "/1",
        "KEY_PREFIX": "django",
        "OPTIONS": {"CLIENT_CLASS": "django_redis.client.DefaultClient"},
    },
    "herd": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": URL + "/1",
        "KEY_PREFIX": "herd",
        "OPTIONS": {"CLIENT_CLASS": "django_redis.client.HerdClient"},
    },
    "plain": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": URL + "/2"},
}, SECRET_KEY="test", SESSION_ENGINE="django.contrib.sessions.backends.cache", SESSION_CACHE_ALIAS="default")
django.setup()

from django.contrib.sessions.backends.cache import SessionStore  # noqa: E402 (needs the settings)
from django.core.cache import cache, caches  # noqa: E402

THREADS = 4
INCREMENTS = 100


@feature("incr and decr: values, errors, expiry stays")
def increments():
    cache.set("counter", 1, timeout=100)
    equal(cache.incr("counter"), 2)
    equal(cache.incr("counter", 40), 42)
    equal(cache.decr("counter", 2), 40)
    true(90 < cache.ttl("counter") <= 100, "the expiry stays")
    raises(ValueError, cache.incr, "no such counter")
    equal(cache.incr("no such counter", ignore_key_check=True), 1)
    cache.delete("no such counter")
    equal(cache.get("counter"), 40)


@feature("incr: concurrent increments are not lost")
def concurrent_increments():
    cache.set("shared", 0, timeout=None)

    def increment():
        for _ in range(INCREMENTS):
            cache.incr("shared")
        caches["default"].close()

    threads = [threading.Thread(target=increment) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(cache.get("shared"), THREADS * INCREMENTS)


@feature("lock")
def lock():
    with cache.lock("lock", timeout=10) as held:
        true(held.owned(), "the lock is owned")
        true(not cache.lock("lock", timeout=10).acquire(blocking=False), "the lock is taken")
        held.extend(10)
    true(cache.lock("lock", timeout=10).acquire(blocking=False), "the lock is free")


@feature("values, many values, add, touch, version, patterns")
def values():
    cache.set("object", {"a": [1, 2, 3]}, timeout=50)
    equal(cache.get("object"), {"a": [1, 2, 3]})
    true(not cache.add("object", 1), "add leaves what is there")
    true(cache.add("other", 1, timeout=10), "add sets what is missing")
    true(cache.touch("object", 500) and cache.ttl("object") > 400, "touch sets the expiry")
    cache.set_many({"m1": 1, "m2": "two"})
    equal(cache.get_many(["m1", "m2", "m3"]), {"m1": 1, "m2": "two"})
    equal(sorted(cache.iter_keys("m*")), ["m1", "m2"])
    equal(cache.delete_pattern("m*"), 2)
    equal(cache.get_or_set("computed", lambda: 7), 7)
    cache.incr_version("computed")
    equal(cache.get("computed", version=2), 7)
    equal(cache.get("computed"), None)


@feature("sorted sets, sets and hashes")
def collections():
    cache.zadd("scores", {"a": 1, "b": 2})
    equal(cache.zincrby("scores", 5, "a"), 6.0)
    equal(cache.zrange("scores", 0, -1), ["b", "a"])
    cache.sadd("set", "x", "y")
    equal(cache.smembers("set"), {"x", "y"})
    cache.hset("hash", "f", {"v": 1})
    true(cache.hexists("hash", "f") and cache.hlen("hash") == 1, "the field is there")


@feature("herd client")
def herd():
    caches["herd"].set("value", 5, timeout=100)
    equal(caches["herd"].get("value"), 5)


@feature("sessions")
def sessions():
    session = SessionStore()
    session["user"] = 42
    session.save()
    equal(SessionStore(session_key=session.session_key)["user"], 42)
    session.flush()
    true(not session.exists(session.session_key), "the session is gone")


@feature("Django's own RedisCache")
def own():
    plain = caches["plain"]
    plain.set("counter", 1)
    equal(plain.incr("counter", 5), 6)
    plain.clear()
    equal(plain.get("counter"), None)


if __name__ == "__main__":
    raise SystemExit(run())
