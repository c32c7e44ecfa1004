package io.varve.ycsb;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * One YCSB thread's connection, with flushing by hand: what one operation queues travels in one pipeline. Confined to the
 * YCSB thread that opened it, which runs its event loop; what all connections of the process share is guarded by the class.
 */
final class Connection implements AutoCloseable {

    /** How long a reply may take before the operation is an error. */
    static final long TIMEOUT_MILLIS = 60_000;
    private static final long CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final long MILLIS_PER_SECOND = 1000;

    private final LettuceClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;

    private Connection(LettuceClient client, StatefulRedisConnection<byte[], byte[]> connection) {
        this.client = client;
        this.connection = connection;
    }

    /**
     * Connects.
     *
     * @param options where to
     * @return the connection
     * @throws RefusedException that names the server, if it does not answer or refuses
     */
    static Connection open(VarveOptions options) throws RefusedException {
        try {
            return connect(options);
        } catch (RuntimeException e) {
            // Lettuce's and Netty's: too few file descriptors are no RedisException.
            throw new RefusedException("no connection to " + VarveOptions.HOST + "=" + options.host() + ", "
                    + VarveOptions.PORT + "=" + options.port() + ": " + Failures.reason(e), e);
        }
    }

    private static Connection connect(VarveOptions options) {
        RedisURI.Builder uri = RedisURI.builder().withHost(options.host()).withPort(options.port())
                .withTimeout(Duration.ofMillis(CONNECT_TIMEOUT_MILLIS));
        if (options.password() != null) {
            uri.withPassword(options.password().toCharArray());
        }
        LettuceClient client = LettuceClient.open(ClientOptions.builder()
                // A server that went away is an error of each operation, not a queue of them: what was sent is not sent again.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // Waiting has its own timeout; a timer per command would be load of the generator's own.
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()).build(),
                TimeUnit.MICROSECONDS.toNanos(options.pollMicros()));
        try {
            StatefulRedisConnection<byte[], byte[]> connection = client.connect(uri.build());
            connection.setAutoFlushCommands(false);
            return new Connection(client, connection);
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    /**
     * Where commands are queued.
     *
     * @return the commands; nothing is sent before {@link #flush()}
     */
    RedisAsyncCommands<byte[], byte[]> queue() {
        return connection.async();
    }

    /** Sends what is queued. */
    void flush() {
        connection.flushCommands();
    }

    /** Has what came since the last reply be seen: that the connection was lost, or is there again, for which it waits some milliseconds. For whoever has done something else meanwhile. */
    void run() {
        client.run(connection);
    }

    /**
     * Waits for a reply.
     *
     * @param future of a command that was flushed
     * @return the reply; null is Redis's nil
     * @throws RedisException if it is an error, or there is none in time
     */
    <T> @Nullable T reply(RedisFuture<T> future) {
        if (!client.await(future, TIMEOUT_MILLIS)) {
            future.cancel(true);
            throw new RedisCommandTimeoutException("no answer in " + TIMEOUT_MILLIS + " ms");
        }
        return LettuceFutures.awaitOrCancel(future, 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Waits until a reply has come, on this connection or on that of another thread, whatever it says, and leaves the command alone if none comes.
     *
     * @param millis how long at the most
     * @throws RedisException if there is none in time, or the thread is interrupted
     */
    void awaitAnswer(CompletableFuture<?> answer, long millis) {
        if (!client.awaitAnyThread(answer, millis)) {
            throw new RedisCommandTimeoutException("no answer in " + millis + " ms");
        }
    }

    /**
     * Queues an expiry: EXPIRE, as the paper has it, or PEXPIRE if the TTL is no whole number of seconds.
     *
     * @return the reply to wait for; it is false if the key is gone already, evicted or deleted by another thread
     */
    static RedisFuture<Boolean> expire(RedisAsyncCommands<byte[], byte[]> redis, byte[] key, long ttlMillis) {
        return ttlMillis % MILLIS_PER_SECOND == 0
                ? redis.expire(key, ttlMillis / MILLIS_PER_SECOND)
                : redis.pexpire(key, ttlMillis);
    }

    /**
     * The same choice for SET.
     *
     * @return EX, or PX if the TTL is no whole number of seconds
     */
    static SetArgs expiring(long ttlMillis) {
        return ttlMillis % MILLIS_PER_SECOND == 0
                ? SetArgs.Builder.ex(ttlMillis / MILLIS_PER_SECOND)
                : SetArgs.Builder.px(ttlMillis);
    }

    @Override
    public void close() {
        try {
            awaitAnswer(connection.closeAsync(), CONNECT_TIMEOUT_MILLIS);
        } finally {
            client.close();
        }
    }
}
