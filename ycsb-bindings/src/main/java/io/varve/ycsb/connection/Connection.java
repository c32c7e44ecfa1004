package io.varve.ycsb.connection;

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
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.varve.ycsb.option.TlsOptions;
import io.varve.ycsb.option.VarveOptions;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one YCSB thread, with explicit flushing: the commands that one operation queues are sent as one
 * pipeline. Confined to the YCSB thread that opened it, which runs its event loop; state that all connections of the
 * process share is guarded by the class.
 */
public final class Connection implements AutoCloseable {

    /** Maximum time of a reply before the operation is an error. */
    public static final long TIMEOUT_MILLIS = 60_000;
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
     * @param options address of the server
     * @return the connection
     * @throws RefusedException that names the server, if it does not reply or refuses
     */
    public static Connection open(VarveOptions options) throws RefusedException {
        try {
            return connect(options);
        } catch (RuntimeException e) {
            // Exceptions of Lettuce and Netty: for example, a lack of file descriptors is not a RedisException.
            throw new RefusedException("no connection to " + VarveOptions.HOST + "=" + options.host() + ", "
                    + VarveOptions.PORT + "=" + options.port() + ": " + Failures.reason(e), e);
        }
    }

    private static Connection connect(VarveOptions options) {
        RedisURI.Builder uri = RedisURI.builder().withHost(options.host()).withPort(options.port())
                .withTimeout(Duration.ofMillis(CONNECT_TIMEOUT_MILLIS));
        if (options.user() != null && options.password() != null) {
            uri.withAuthentication(options.user(), options.password().toCharArray());
        } else if (options.password() != null) {
            uri.withPassword(options.password().toCharArray());
        }
        ClientOptions.Builder settings = ClientOptions.builder();
        TlsOptions tls = options.tls();
        if (tls != null) {
            uri.withSsl(true).withVerifyPeer(SslVerifyMode.valueOf(tls.verify().name()));
            if (tls.authorities() != null) {
                settings.sslOptions(
                        SslOptions.builder().jdkSslProvider().trustManager(tls.authorities().toFile()).build());
            }
        }
        LettuceClient client = LettuceClient.open(settings
                // A lost server makes each operation an error and does not queue them: sent commands are not sent
                // again.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // Waits have their own timeout; a timer per command would add load to the generator.
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
     * The queue of commands.
     *
     * @return the commands; nothing is sent before {@link #flush()}
     */
    public RedisAsyncCommands<byte[], byte[]> queue() {
        return connection.async();
    }

    /** Sends the queued commands. */
    public void flush() {
        connection.flushCommands();
    }

    /**
     * Processes input since the last reply, and so notices a lost or restored connection; waits for the latter some
     * milliseconds. For threads that were busy elsewhere meanwhile.
     */
    public void run() {
        client.run(connection);
    }

    /**
     * Waits for a reply.
     *
     * @param future the future of a command that was flushed
     * @return the reply; null is Redis's nil
     * @throws RedisException if it is an error, or there is none in time
     */
    public <T> @Nullable T reply(RedisFuture<T> future) {
        if (!client.await(future, TIMEOUT_MILLIS)) {
            future.cancel(true);
            throw new RedisCommandTimeoutException("no reply within " + TIMEOUT_MILLIS + " ms");
        }
        return LettuceFutures.awaitOrCancel(future, 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Waits for a reply, whatever it says, on this connection or on that of another thread. Does not cancel the command
     * if none arrives.
     *
     * @param millis maximum wait
     * @throws RedisException if there is none in time, or the thread is interrupted
     */
    public void awaitAnswer(CompletableFuture<?> answer, long millis) {
        if (!client.awaitAnyThread(answer, millis)) {
            throw new RedisCommandTimeoutException("no reply within " + millis + " ms");
        }
    }

    /**
     * Queues an expiry: EXPIRE, as in the paper, or PEXPIRE if the TTL is not a whole number of seconds.
     *
     * @return the reply to wait for; it is false if another thread has deleted the key, or it was evicted
     */
    public static RedisFuture<Boolean> expire(RedisAsyncCommands<byte[], byte[]> redis, byte[] key, long ttlMillis) {
        return ttlMillis % MILLIS_PER_SECOND == 0
                ? redis.expire(key, ttlMillis / MILLIS_PER_SECOND)
                : redis.pexpire(key, ttlMillis);
    }

    /**
     * Chooses the expiry arguments for SET.
     *
     * @return EX, or PX if the TTL is not a whole number of seconds
     */
    public static SetArgs expiring(long ttlMillis) {
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
