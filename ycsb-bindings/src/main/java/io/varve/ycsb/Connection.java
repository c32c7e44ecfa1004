package io.varve.ycsb;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

/**
 * One YCSB thread's connection, with flushing by hand: what one operation queues travels in one pipeline. Confined to the
 * YCSB thread that opened it; the event loops under it are shared by all connections of the process, guarded by the class.
 */
final class Connection implements AutoCloseable {

    /** How long a reply may take before the operation is an error. */
    static final long TIMEOUT_MILLIS = 60_000;
    private static final long CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final long SHUTDOWN_TIMEOUT_MILLIS = 5_000;
    private static final long MILLIS_PER_SECOND = 1000;

    private static @Nullable ClientResources resources;
    private static int resourceUsers;

    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;

    private Connection(RedisClient client, StatefulRedisConnection<byte[], byte[]> connection) {
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
        } catch (RedisException e) {
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
        RedisClient client = RedisClient.create(acquireResources());
        try {
            client.setOptions(ClientOptions.builder()
                    // A server that went away is an error of each operation, not a queue of them: what was sent is not sent again.
                    .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                    // Waiting has its own timeout; a timer per command would be load of the generator's own.
                    .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()).build());
            StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE, uri.build());
            connection.setAutoFlushCommands(false);
            return new Connection(client, connection);
        } catch (RuntimeException e) {
            client.shutdown(Duration.ZERO, Duration.ofMillis(SHUTDOWN_TIMEOUT_MILLIS));
            releaseResources();
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

    /**
     * Waits for a reply.
     *
     * @param future of a command that was flushed
     * @return the reply; null is Redis's nil
     * @throws RedisException if it is an error, or there is none in time
     */
    static <T> @Nullable T reply(RedisFuture<T> future) {
        return LettuceFutures.awaitOrCancel(future, TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * Waits until a reply has come, whatever it says, and leaves the command alone if none comes.
     *
     * @param millis how long at the most
     * @throws RedisException if there is none in time, or the thread is interrupted
     */
    static void awaitAnswer(CompletableFuture<?> answer, long millis) {
        try {
            answer.get(millis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | CancellationException e) {
            // An answer, too: whoever sent the command tells of it.
            return;
        } catch (TimeoutException e) {
            throw new RedisCommandTimeoutException("no answer in " + millis + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisCommandInterruptedException(e);
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
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofMillis(SHUTDOWN_TIMEOUT_MILLIS));
        releaseResources();
    }

    private static synchronized ClientResources acquireResources() {
        ClientResources shared = resources;
        if (shared == null) {
            shared = ClientResources.builder().commandLatencyRecorder(CommandLatencyRecorder.disabled()).build();
            resources = shared;
        }
        resourceUsers++;
        return shared;
    }

    private static synchronized void releaseResources() {
        resourceUsers--;
        ClientResources shared = resources;
        if (resourceUsers == 0 && shared != null) {
            resources = null;
            shared.shutdown(0, SHUTDOWN_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
                    .awaitUninterruptibly(SHUTDOWN_TIMEOUT_MILLIS);
        }
    }
}
