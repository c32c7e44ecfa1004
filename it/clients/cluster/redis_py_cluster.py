"""Increments counters through redis-py's RedisCluster until a file exists, and prints what happened.

Run by cluster-clients.sh: redis_py_cluster.py PORT STOP-FILE
"""
import os
import sys
import time

from redis.cluster import ClusterNode, RedisCluster

KEYS = 200


def main(port, stop):
    client = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", port)], socket_timeout=2)
    last = [0] * KEYS
    done = errors = lost = 0
    gap = 0.0
    kinds = {}
    answered = time.monotonic()
    i = 0
    while not os.path.exists(stop):
        key = i % KEYS
        i += 1
        try:
            value = client.incr(f"redis-py:{key}")
            done += 1
            lost += value <= last[key]
            last[key] = value
            now = time.monotonic()
            gap = max(gap, now - answered)
            answered = now
        except Exception as error:  # each kind is counted and printed
            errors += 1
            kinds[type(error).__name__] = kinds.get(type(error).__name__, 0) + 1
        time.sleep(0.001)
    print(f"redis-py: {done} increments, {errors} errors {kinds}, {lost} values went back,"
          f" longest gap {gap:.1f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
