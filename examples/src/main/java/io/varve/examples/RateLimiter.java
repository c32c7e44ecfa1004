package io.varve.examples;

import java.time.Duration;
import java.time.InstantSource;

import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.Response;

/**
 * A rate limiter: it permits a caller a number of calls in a period, with a pool of Jedis connections, from which each
 * call borrows one for its transaction. Thread-safe, and correct across processes, which count together.
 */
public final class RateLimiter implements AutoCloseable {
    private final RedisClient redis;
    private final int limit;
    private final long periodMillis;
    private final InstantSource clock;

    /**
     * @param connections maximum size of the pool: a call that finds no free connection waits for one
     * @param limit number of permitted calls of a caller in one period
     * @param clock determines the period
     */
    public RateLimiter(String host, int port, int connections, int limit, Duration period, InstantSource clock) {
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(connections);
        redis = RedisClient.builder().hostAndPort(host, port).poolConfig(pool).build();
        this.limit = limit;
        periodMillis = period.toMillis();
        this.clock = clock;
    }

    /** Whether this caller is permitted another call, which it counts. */
    public boolean allows(String caller) {
        String key = "calls:" + caller + ":" + clock.millis() / periodMillis;
        try (AbstractTransaction transaction = redis.multi()) {
            Response<Long> calls = transaction.incr(key);
            // The count expires by itself, some time after its period. No count without a TTL is ever left, as both
            // commands take effect or neither.
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
