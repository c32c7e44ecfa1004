package io.varve.ycsb.connection;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.ImmediateEventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * The event loop of one connection without a thread: the thread that waits for a reply runs it. Confined to the thread
 * that opened it, except {@link #wake}.
 *
 * <p>So the requesting thread itself sends a request and receives its reply. A transfer to another thread and back
 * costs a fully loaded generator about as much as the rest of the request.
 *
 * <p>While its thread does something else, nothing happens on the connection. Its next run reads new input, and notices
 * and reopens a lost connection.
 */
final class OwnEventLoop implements EventLoopGroupProvider, AutoCloseable {

    /** Interval between two checks for an interrupt, which wakes no thread that waits for a socket. */
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** A selector that may wait for less time may not wait at all. */
    private static final long MIN_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final String EPOLL_CHANNEL = "EpollSocketChannel";

    private final Loop loop;
    private final long pollNanos;
    /** Whether the condition that ends the present run is met. */
    private @Nullable BooleanSupplier awaited;

    private OwnEventLoop(IoHandlerFactory handlers, long pollNanos) {
        loop = new Loop(handlers);
        this.pollNanos = pollNanos;
    }

    /**
     * Netty's loop, which does not block if the condition is met, nor if its thread is interrupted: NIO would discard
     * the interrupt.
     */
    private final class Loop extends ManualIoEventLoop {
        Loop(IoHandlerFactory handlers) {
            super(Thread.currentThread(), handlers);
        }

        @Override
        protected boolean canBlock() {
            BooleanSupplier until = awaited;
            return (until == null || !until.getAsBoolean()) && !Thread.currentThread().isInterrupted();
        }
    }

    /**
     * Creates a loop for this thread; empty if Lettuce's transport is neither NIO nor epoll.
     *
     * @param pollNanos how long a waiting thread polls, and lets other threads run in between, before it sleeps; 0: it
     *     sleeps at once
     */
    static Optional<OwnEventLoop> open(long pollNanos) {
        Class<?> channel = Transports.socketChannelClass();
        if (channel.equals(NioSocketChannel.class)) {
            return Optional.of(new OwnEventLoop(NioIoHandler.newFactory(), pollNanos));
        }
        return channel.getSimpleName().equals(EPOLL_CHANNEL)
                ? Optional.of(new OwnEventLoop(EpollHandlers.newFactory(), pollNanos))
                : Optional.empty();
    }

    /** Processes all pending work. */
    void run() {
        requireThread();
        loop.runNow();
    }

    private void requireThread() {
        if (!loop.inEventLoop(Thread.currentThread())) {
            throw new IllegalStateException("A connection belongs to the thread that opened it, not to "
                    + Thread.currentThread().getName());
        }
    }

    /**
     * Processes pending work until a condition is met, possibly by another thread if that one {@link #wake wakes} this.
     *
     * @return false if it is not met after this time
     * @throws RedisCommandInterruptedException if the thread is interrupted; it stays interrupted
     */
    boolean runUntil(BooleanSupplier done, long nanos) {
        requireThread();
        long start = System.nanoTime();
        awaited = done;
        try {
            while (!done.getAsBoolean()) {
                if (Thread.currentThread().isInterrupted()) {
                    throw new RedisCommandInterruptedException(new InterruptedException());
                }
                long waited = System.nanoTime() - start;
                if (waited >= nanos) {
                    return false;
                }
                if (waited < pollNanos) {
                    poll(done);
                } else {
                    loop.run(Math.max(MIN_SLEEP_NANOS, Math.min(nanos - waited, SLICE_NANOS)));
                }
            }
            return true;
        } finally {
            awaited = null;
        }
    }

    // The thread yields: if no other thread wants the core, it continues at once.
    @SuppressWarnings("ThreadPriorityCheck")
    private void poll(BooleanSupplier done) {
        loop.runNow();
        if (!done.getAsBoolean()) {
            Thread.yield();
        }
    }

    /** Wakes the loop to check its condition. Any thread may call it. */
    void wake() {
        loop.wakeup();
    }

    @Override
    @SuppressWarnings("unchecked") // Lettuce accepts any loop that runs its channels.
    public <T extends EventLoopGroup> T allocate(Class<T> type) {
        return (T) loop;
    }

    @Override
    public int threadPoolSize() {
        return 1;
    }

    /** {@inheritDoc} Its thread closes it. */
    @Override
    public io.netty.util.concurrent.Future<Boolean> release(EventExecutorGroup released, long quietPeriod, long timeout,
            TimeUnit unit) {
        return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
    }

    /** {@inheritDoc} Its thread closes it. */
    @Override
    public io.netty.util.concurrent.Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // The loop below waits for its end.
    public void close() {
        requireThread();
        loop.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS);
        while (!loop.isTerminated()) {
            loop.runNow();
        }
    }
}
