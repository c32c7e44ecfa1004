package io.varve.examples;

import java.time.Duration;
import java.time.InstantSource;

import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.Response;

/**
 * Lets a caller do something so many times in a period: Jedis with a pool, from which each call borrows a connection for its transaction.
 * Thread-safe, and right across processes, which count together.
 */
public final class RateLimiter implements AutoCloseable {
    private final RedisClient redis;
    private final int limit;
    private final long periodMillis;
    private final InstantSource clock;

    /**
     * @param connections how many the pool has at most: who finds none waits for one
     * @param limit       how often a caller may in one period
     * @param clock       tells which period it is
     */
    public RateLimiter(String host, int port, int connections, int limit, Duration period, InstantSource clock) {
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(connections);
        redis = RedisClient.builder().hostAndPort(host, port).poolConfig(pool).build();
        this.limit = limit;
        periodMillis = period.toMillis();
        this.clock = clock;
    }

    /** Whether this caller may once more; counts it. */
    public boolean allows(String caller) {
        String key = "calls:" + caller + ":" + clock.millis() / periodMillis;
        try (AbstractTransaction transaction = redis.multi()) {
            Response<Long> calls = transaction.incr(key);
            // The count goes by itself, some time after its period; no count without a time is ever left, as both happen or none.
            transaction.pexpire(key, 2 * periodMillis);
            transaction.exec();
            return calls.get() <= limit;
        }
    }

    @Override
    public void close() {
        redis.close();
    }
}
