package io.varve.ycsb;

import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

/**
 * Lettuce, with an {@link OwnEventLoop} where its transport lets us, and event loops with threads of their own elsewhere. Confined to the thread that opened it; timers and what
 * opens lost connections anew are shared by all clients of the process, guarded by the class.
 */
final class LettuceClient implements AutoCloseable {

    private static final long SHUTDOWN_TIMEOUT_MILLIS = 5_000;

    private static @Nullable ClientResources shared;
    private static int users;

    private final @Nullable OwnEventLoop loop;
    private final ClientResources resources;
    private final RedisClient redis;

    private LettuceClient(@Nullable OwnEventLoop loop, ClientResources resources, ClientOptions options) {
        this.loop = loop;
        this.resources = resources;
        redis = RedisClient.create(resources);
        redis.setOptions(options);
    }

    static LettuceClient open(ClientOptions options) {
        OwnEventLoop loop = OwnEventLoop.open().orElse(null);
        ClientResources common = acquireShared();
        return new LettuceClient(loop, loop == null ? common : common.mutate().eventLoopGroupProvider(loop).build(),
                options);
    }

    /** @throws RedisConnectionException if the server does not answer, or refuses */
    StatefulRedisConnection<byte[], byte[]> connect(RedisURI uri) {
        if (loop == null) {
            return redis.connect(ByteArrayCodec.INSTANCE, uri);
        }
        CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connected = redis
                .connectAsync(ByteArrayCodec.INSTANCE, uri).toCompletableFuture();
        try {
            // Lettuce has a limit of its own: it ends.
            awaitAnyThread(connected, Long.MAX_VALUE);
            return connected.get();
        } catch (ExecutionException e) {
            throw RedisConnectionException.create(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisCommandInterruptedException(e);
        }
    }

    /** Has what came since be seen, if nobody else does that. */
    void run() {
        if (loop != null) {
            loop.run();
        }
    }

    /**
     * Waits for a reply on this client's connection, whatever it says.
     *
     * @return false if there is none in time
     * @throws RedisCommandInterruptedException if the thread is interrupted, and stays so
     */
    boolean await(Future<?> reply, long millis) {
        return loop == null
                ? awaitWithoutLoop(reply, millis)
                : loop.runUntil(reply, TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /** The same for what any thread may do. */
    @SuppressWarnings("FutureReturnValueIgnored") // Who waits looks at the answer itself.
    boolean awaitAnyThread(CompletableFuture<?> answer, long millis) {
        if (loop == null) {
            return awaitWithoutLoop(answer, millis);
        }
        answer.whenComplete((value, failure) -> loop.wake());
        return loop.runUntil(answer, TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private static boolean awaitWithoutLoop(Future<?> answer, long millis) {
        try {
            answer.get(millis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | CancellationException e) {
            // An answer, too: whoever sent the command tells of it.
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
            if (loop != null) {
                loop.close();
                // What it shares with others stays.
                resources.shutdown(0, SHUTDOWN_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
                        .awaitUninterruptibly(SHUTDOWN_TIMEOUT_MILLIS);
            }
            releaseShared();
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
