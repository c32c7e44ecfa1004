package io.varve.ycsb.connection;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.push.PushMessage;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.varve.ycsb.option.TlsOptions;
import io.varve.ycsb.option.VarveOptions;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one YCSB thread, with explicit flushing: the commands that one operation queues are sent as one
 * pipeline. Confined to the YCSB thread that opened it, which runs its event loop; state that all connections of the
 * process share is guarded by the class.
 *
 * <p>With {@code varve.cluster=true} it is Lettuce's cluster client, which has a connection to each server of the
 * cluster. It follows redirections, which are commands that no flush would send, so it sends each command at once. A
 * command for a server that is not connected waits for the connection, and is sent again after a loss.
 */
public final class Connection implements AutoCloseable {

    /** Maximum time of a reply before the operation is an error. */
    public static final long TIMEOUT_MILLIS = 60_000;
    private static final long CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final long MILLIS_PER_SECOND = 1000;

    /** Minimum interval of two requests for the cluster's members after a redirection or a lost server. */
    private static final Duration REFRESH_INTERVAL = Duration.ofSeconds(1);
    private static final String INVALIDATION = "invalidate";

    private final LettuceClient client;
    private final StatefulConnection<byte[], byte[]> connection;
    private final RedisClusterAsyncCommands<byte[], byte[]> commands;
    private final boolean flushes;

    private Connection(LettuceClient client, StatefulConnection<byte[], byte[]> connection) {
        this.client = client;
        this.connection = connection;
        if (connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
            commands = cluster.async();
            flushes = false;
        } else {
            commands = ((StatefulRedisConnection<byte[], byte[]>) connection).async();
            connection.setAutoFlushCommands(false);
            flushes = true;
        }
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
                    + VarveOptions.PORT + "=" + options.port() + ": " + reason(options, e), e);
        }
    }

    private static String reason(VarveOptions options, RuntimeException failure) {
        String reason = Failures.reason(failure);
        boolean isWithoutResp3 = reason.startsWith("ERR unknown command") || reason.startsWith("NOPROTO");
        return options.nearCacheRecords() > 0 && isWithoutResp3
                ? reason + "; " + VarveOptions.NEAR_CACHE + "=" + options.nearCacheRecords()
                        + " needs a server that speaks RESP3 (HELLO 3), else expected 0 for it"
                : reason;
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
        if (options.nearCacheRecords() > 0) {
            // Over RESP2, to which Lettuce falls back, a server accepts CLIENT TRACKING and reports nothing.
            settings.protocolVersion(ProtocolVersion.RESP3);
        }
        TlsOptions tls = options.tls();
        if (tls != null) {
            uri.withSsl(true).withVerifyPeer(SslVerifyMode.valueOf(tls.verify().name()));
            if (tls.authorities() != null) {
                settings.sslOptions(
                        SslOptions.builder().jdkSslProvider().trustManager(tls.authorities().toFile()).build());
            }
        }
        ClientOptions clientOptions = settings
                // A lost server makes each operation an error and does not queue them: sent commands are not sent
                // again.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // Waits have their own timeout; a timer per command would add load to the generator.
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()).build();
        LettuceClient client = options.cluster()
                ? LettuceClient.openCluster(clusterOptions(clientOptions), uri.build())
                : LettuceClient.open(clientOptions, uri.build(),
                        TimeUnit.MICROSECONDS.toNanos(options.pollMicros()));
        try {
            return new Connection(client, client.connect());
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private static ClusterClientOptions clusterOptions(ClientOptions options) {
        return ClusterClientOptions.builder(options)
                // The client connects to a member when a command needs it: the command waits for that.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.ACCEPT_COMMANDS)
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .adaptiveRefreshTriggersTimeout(REFRESH_INTERVAL).build())
                .build();
    }

    /**
     * The queue of commands.
     *
     * @return the commands; nothing is sent before {@link #flush()}, except to a cluster
     */
    public RedisClusterAsyncCommands<byte[], byte[]> queue() {
        return commands;
    }

    /** Sends the queued commands. */
    public void flush() {
        if (flushes) {
            connection.flushCommands();
        }
    }

    /**
     * Reports invalidations from now on. They arrive after the client has sent CLIENT TRACKING.
     *
     * @throws IllegalStateException if this is a connection to a cluster
     */
    public void addListener(InvalidationListener listener) {
        if (!(connection instanceof StatefulRedisConnection<byte[], byte[]> single)) {
            throw new IllegalStateException("a cluster's servers invalidate on several connections");
        }
        single.addListener(message -> report(message, listener));
        single.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
                listener.disconnected();
            }
        });
    }

    /** A push of all keys has null instead of a list of keys. */
    private static void report(PushMessage message, InvalidationListener listener) {
        if (!message.getType().equals(INVALIDATION)) {
            return;
        }
        if (message.getContent(ByteArrayCodec.INSTANCE::decodeKey).get(1) instanceof List<?> keys) {
            for (Object key : keys) {
                listener.invalidated((byte[]) key);
            }
        } else {
            listener.allInvalidated();
        }
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
    public static RedisFuture<Boolean> expire(RedisClusterAsyncCommands<byte[], byte[]> redis, byte[] key,
            long ttlMillis) {
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
