package io.varve.ycsb.connection;

import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

/**
 * A Lettuce client of one server, with an {@link OwnEventLoop} where its transport permits, or of a cluster, with
 * Lettuce's threads for event loops. Confined to the thread that opened it. All clients of the process share timers and
 * reconnection, guarded by the class.
 */
final class LettuceClient implements AutoCloseable {

    private static final long SHUTDOWN_TIMEOUT_MILLIS = 5_000;
    /** Longer than the sum of Lettuce's own limits. */
    private static final long MAX_CONNECT_MILLIS = 60_000;
    /** Maximum wait of an operation for a lost connection to be restored; on one host that takes some milliseconds. */
    private static final long RECONNECT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static @Nullable ClientResources shared;
    private static int users;

    private final @Nullable OwnEventLoop loop;
    private final ClientResources resources;
    private final AbstractRedisClient redis;
    private final Supplier<CompletableFuture<? extends StatefulConnection<byte[], byte[]>>> connecting;

    private LettuceClient(@Nullable OwnEventLoop loop, ClientResources resources, AbstractRedisClient redis,
            Supplier<CompletableFuture<? extends StatefulConnection<byte[], byte[]>>> connecting) {
        this.loop = loop;
        this.resources = resources;
        this.redis = redis;
        this.connecting = connecting;
    }

    /** @param pollNanos how long a waiting thread polls before it sleeps, if its transport permits */
    static LettuceClient open(ClientOptions options, RedisURI uri, long pollNanos) {
        OwnEventLoop loop = OwnEventLoop.open(pollNanos).orElse(null);
        try {
            return open(loop, options, uri);
        } catch (RuntimeException e) {
            if (loop != null) {
                loop.close();
            }
            throw e;
        }
    }

    /** @param seed one member of the cluster */
    static LettuceClient openCluster(ClusterClientOptions options, RedisURI seed) {
        ClientResources common = acquireShared();
        try {
            RedisClusterClient redis = RedisClusterClient.create(common, seed);
            redis.setOptions(options);
            return new LettuceClient(null, common, redis, () -> {
                // Without its members the client cannot connect.
                redis.getPartitions();
                return redis.connectAsync(ByteArrayCodec.INSTANCE);
            });
        } catch (RuntimeException e) {
            releaseShared();
            throw e;
        }
    }

    private static LettuceClient open(@Nullable OwnEventLoop loop, ClientOptions options, RedisURI uri) {
        ClientResources common = acquireShared();
        try {
            ClientResources resources = loop == null ? common : withLoop(common, loop);
            RedisClient redis = RedisClient.create(resources);
            redis.setOptions(options);
            return new LettuceClient(loop, resources, redis,
                    () -> redis.connectAsync(ByteArrayCodec.INSTANCE, uri).toCompletableFuture());
        } catch (RuntimeException e) {
            releaseShared();
            throw e;
        }
    }

    /**
     * Passes the shared resources explicitly, so that they outlive the client; those that {@code mutate} alone takes
     * over would end with it.
     */
    private static ClientResources withLoop(ClientResources common, OwnEventLoop loop) {
        return common.mutate().eventExecutorGroup(common.eventExecutorGroup()).timer(common.timer())
                .eventLoopGroupProvider(loop).build();
    }

    /** @throws RedisConnectionException if the server does not reply, or refuses */
    StatefulConnection<byte[], byte[]> connect() {
        CompletableFuture<? extends StatefulConnection<byte[], byte[]>> connected = connecting.get();
        try {
            if (!awaitAnyThread(connected, MAX_CONNECT_MILLIS)) {
                connected.cancel(true);
                throw new RedisConnectionException("no reply within " + MAX_CONNECT_MILLIS + " ms");
            }
            return connected.get();
        } catch (ExecutionException e) {
            throw RedisConnectionException.create(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisCommandInterruptedException(e);
        }
    }

    /**
     * Processes new input, if no other thread does; and if the connection is lost, waits briefly for the next one.
     *
     * @throws RedisCommandInterruptedException if the thread is interrupted meanwhile; it stays interrupted
     */
    void run(StatefulConnection<?, ?> connection) {
        if (loop != null) {
            loop.run();
            if (!connection.isOpen()) {
                // If it is not restored then, operations are refused.
                loop.runUntil(connection::isOpen, RECONNECT_NANOS);
            }
        }
    }

    /**
     * Waits for a reply on this client's connection, whatever it says.
     *
     * @return false if there is none in time
     * @throws RedisCommandInterruptedException if the thread is interrupted; it stays interrupted
     */
    boolean await(Future<?> reply, long millis) {
        return loop == null
                ? awaitWithoutLoop(reply, millis)
                : loop.runUntil(reply::isDone, TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /** Waits for a future that any thread may complete. */
    @SuppressWarnings("FutureReturnValueIgnored") // The waiting code checks the future itself.
    boolean awaitAnyThread(CompletableFuture<?> answer, long millis) {
        if (loop == null) {
            return awaitWithoutLoop(answer, millis);
        }
        answer.whenComplete((value, failure) -> loop.wake());
        return loop.runUntil(answer::isDone, TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private static boolean awaitWithoutLoop(Future<?> answer, long millis) {
        try {
            answer.get(millis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | CancellationException e) {
            // A failure is a reply, too: the sender of the command reports it.
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisCommandInterruptedException(e);
        }
        return true;
    }

    @Override
    public void close() {
        try {
            awaitAnyThread(redis.shutdownAsync(0, SHUTDOWN_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS),
                    SHUTDOWN_TIMEOUT_MILLIS);
        } finally {
            try {
                closeLoop();
            } finally {
                releaseShared();
            }
        }
    }

    private void closeLoop() {
        if (loop != null) {
            loop.close();
            resources.shutdown(0, SHUTDOWN_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
                    .awaitUninterruptibly(SHUTDOWN_TIMEOUT_MILLIS);
        }
    }

    private static synchronized ClientResources acquireShared() {
        ClientResources present = Optional.ofNullable(shared).orElseGet(() -> ClientResources.builder()
                .commandLatencyRecorder(CommandLatencyRecorder.disabled()).build());
        shared = present;
        users++;
        return present;
    }

    private static synchronized void releaseShared() {
        users--;
        ClientResources present = shared;
        if (users == 0 && present != null) {
            shared = null;
            present.shutdown(0, SHUTDOWN_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
                    .awaitUninterruptibly(SHUTDOWN_TIMEOUT_MILLIS);
        }
    }
}
