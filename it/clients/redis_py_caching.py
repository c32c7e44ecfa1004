"""Reads through redis-py's cache, changes keys through another client, and checks that the cache follows.

Run by redis-py-caching.sh, with the port of a server.
"""
import sys
import time

import redis
from redis.cache import CacheConfig

KEYS = 100
SECONDS = 20


def gets(client):
    stats = client.info("commandstats").get("cmdstat_get", {"calls": 0})
    return stats["calls"]


def read_until(client, key, value):
    """What the server tells is on its way when the writer has its answer."""
    deadline = time.monotonic() + SECONDS
    while client.get(key) != value:
        if time.monotonic() > deadline:
            raise AssertionError(f"{key} is still {client.get(key)} after {SECONDS} s, not {value}")


def main(port):
    writer = redis.Redis(port=port, decode_responses=True)
    reader = redis.Redis(port=port, protocol=3, decode_responses=True, cache_config=CacheConfig(max_size=2 * KEYS))
    print("redis-py", redis.__version__, "with a server that tells", writer.info("server")["redis_version"])
    for value in ("one", "two", "three"):
        for i in range(KEYS):
            writer.set(f"key{i}", value)
        for i in range(KEYS):
            read_until(reader, f"key{i}", value)
        before = gets(writer)
        for i in range(KEYS):
            assert reader.get(f"key{i}") == value
        assert gets(writer) == before, "the server was asked for what is cached"
        assert reader.get_cache().size == KEYS
    writer.delete("key1")
    read_until(reader, "key1", None)
    writer.flushall()
    read_until(reader, "key2", None)
    print("cached values are read from the cache, and go when they change")


if __name__ == "__main__":
    main(int(sys.argv[1]))
