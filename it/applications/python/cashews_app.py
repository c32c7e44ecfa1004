"""cashews: rate limits, locks, counters and its caches. Run by applications.sh with the port of a server."""
import asyncio

from cashews import Cache, LockedError, RateLimitError
from redis import Redis

from features import PORT, URL, equal, feature, run, true

CALLERS = 20
client = Redis(port=PORT, db=11, decode_responses=True)


def setup(**settings):
    """A cache for one event loop, which reports errors rather than logs them."""
    cache = Cache()
    cache.setup(URL + "/11", suppress=False, **settings)
    return cache


async def count(function, error, calls):
    """How many of concurrent calls pass, and how many raise the error."""
    results = await asyncio.gather(*(function(1) for _ in range(calls)), return_exceptions=True)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, error):
            raise result
    return sum(not isinstance(result, Exception) for result in results)


@feature("rate_limit")
async def rate_limit():
    cache = setup()

    @cache.rate_limit(limit=5, period=60, key="limit:{user}")
    async def call(user):
        return user

    equal(await count(call, RateLimitError, CALLERS), 5)
    equal(await call(2), 2)
    true(0 < client.pttl("rate_limit:limit:1") <= 60_000, f"the counter expires: {client.keys()}")
    await cache.close()


@feature("rate_limit ends with its period")
async def period():
    cache = setup()

    @cache.rate_limit(limit=2, period=0.5, key="short:{user}")
    async def call(user):
        return user

    equal(await count(call, RateLimitError, 5), 2)
    await asyncio.sleep(0.6)
    equal(await count(call, RateLimitError, 5), 2)
    await cache.close()


@feature("slice_rate_limit")
async def slice_rate_limit():
    cache = setup()

    @cache.slice_rate_limit(limit=5, period=60, key="slice:{user}")
    async def call(user):
        return user

    for _ in range(5):
        equal(await call(1), 1)
    equal(await count(call, RateLimitError, 5), 0)
    await cache.close()


@feature("lock and locked")
async def locked():
    cache = setup()
    running = 0
    most = 0

    @cache.locked(ttl=20, key="locked:{x}", wait=True)
    async def alone(x):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return x

    equal(await asyncio.gather(*(alone(1) for _ in range(5))), [1] * 5)
    equal(most, 1)
    async with cache.lock("mine", expire=20):
        true(await cache.is_locked("mine"), "the lock is held")
        true(not await cache.set_lock("mine", "another", expire=20), "another took the lock")
        true(not await cache.unlock("mine", "another"), "another released the lock")
    true(not await cache.is_locked("mine"), "the lock is free")
    await cache.close()


@feature("locked without waiting")
async def not_waiting():
    cache = setup()

    @cache.locked(ttl=20, key="busy:{x}", wait=False)
    async def alone(x):
        await asyncio.sleep(0.2)
        return x

    equal(await count(alone, LockedError, 5), 1)
    await cache.close()


@feature("incr with an expiry, and slice_incr")
async def counters():
    cache = setup()
    equal(await cache.incr("counter"), 1)
    equal(await cache.incr("counter with expiry", 5, expire=50), 5)
    equal(await cache.incr("counter with expiry", expire=500), 6)
    equal([await cache.slice_incr("slices", i, i + 10, maxvalue=3, expire=50) for i in range(4)], [1, 2, 3, 3])
    await cache.close()


@feature("cache, early, soft, hit and failover")
async def caches():
    cache = setup()
    for name, decorate in (("cache", cache(ttl=60, key="{x}")), ("early", cache.early(ttl=60, key="e{x}")),
                           ("soft", cache.soft(ttl=60, key="s{x}")),
                           ("hit", cache.hit(ttl=60, cache_hits=100, key="h{x}"))):
        calls = []

        @decorate
        async def function(x):
            calls.append(x)
            return {"x": x}

        equal([await function(3) for _ in range(3)], [{"x": 3}] * 3)
        true(len(calls) == 1, f"{name} called the function {len(calls)} times")
    await cache.close()


@feature("tags, patterns and many keys")
async def tags():
    cache = setup()

    @cache(ttl=60, key="tagged:{x}", tags=["tag:{x}"])
    async def function(x):
        return object_of(x)

    await function(1)
    equal(await cache.get("tagged:1"), {"x": 1})
    await cache.delete_tags("tag:1")
    equal(await cache.get("tagged:1"), None)
    await cache.set_many({"many:1": 1, "many:2": "two"}, expire=50)
    equal(await cache.get_many("many:1", "many:2", "many:3"), (1, "two", None))
    equal(sorted([key async for key in cache.scan("many:*")]), ["many:1", "many:2"])
    await cache.delete_match("many:*")
    equal(await cache.get("many:1"), None)
    await cache.close()


def object_of(x):
    return {"x": x}


@feature("transactions and bloom filter")
async def transactions():
    cache = setup()
    async with cache.transaction():
        await cache.set("in transaction", 1)
        equal(client.exists("in transaction"), 0)
    equal(await cache.get("in transaction"), 1)

    @cache.bloom(capacity=1000, false_positives=1)
    async def known(x):
        return x == "a"

    await known.set("a")
    true(await known("a"), "it is known")
    true(not await known("b"), "it is not known")
    await cache.close()


@feature("client side cache")
async def client_side():
    cache, other = setup(client_side=True, protocol=2), setup(client_side=True, protocol=2)
    await other.set("tracked", 1, expire=60)
    equal(await cache.get("tracked"), 1)
    await other.set("tracked", 2, expire=60)
    for _ in range(500):
        if await cache.get("tracked") == 2:
            break
        await asyncio.sleep(0.02)
    equal(await cache.get("tracked"), 2)
    await cache.close()
    await other.close()


if __name__ == "__main__":
    raise SystemExit(run())
