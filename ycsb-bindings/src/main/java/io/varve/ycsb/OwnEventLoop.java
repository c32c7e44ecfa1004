package io.varve.ycsb;

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
 * The event loop of one connection, without a thread: who waits for a reply runs it. So a request is sent, and its reply taken, by the thread that asks; to hand
 * both over to another thread and back costs a core, which all of a generator has, about as much as the rest of the request. Confined to the thread that opened it, but for
 * {@link #wake}.
 *
 * <p>While its thread does something else nothing happens on the connection: what has come is seen, and a lost connection noticed and opened anew, the next time that it runs.
 */
final class OwnEventLoop implements EventLoopGroupProvider, AutoCloseable {

    /** After so long it is looked whether the thread has been interrupted, which wakes no thread that waits for a socket. */
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final String EPOLL_CHANNEL = "EpollSocketChannel";

    private final Loop loop;
    private final long pollNanos;
    /** Whether that is done until which it runs. */
    private @Nullable BooleanSupplier awaited;

    private OwnEventLoop(IoHandlerFactory handlers, long pollNanos) {
        loop = new Loop(handlers);
        this.pollNanos = pollNanos;
    }

    /** Netty's, which does not begin to wait for what is there, nor when its thread is interrupted: NIO would forget that. */
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
     * One for this thread; none where Lettuce's transport is another than NIO and epoll.
     *
     * @param pollNanos for so long who waits looks again and again, and lets other threads run in between, before it sleeps; 0: it sleeps at once
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

    /** Does what there is to do. */
    void run() {
        requireThread();
        loop.runNow();
    }

    private void requireThread() {
        if (!loop.inEventLoop(Thread.currentThread())) {
            throw new IllegalStateException("A connection is used by the thread that opened it, not by "
                    + Thread.currentThread().getName());
        }
    }

    /**
     * Does what there is to do until something is done, which may be another thread's doing if that one {@link #wake wakes} this.
     *
     * @return false if it is not done after so many nanoseconds
     * @throws RedisCommandInterruptedException if the thread is interrupted, and stays so
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
                    loop.run(Math.min(nanos - waited, SLICE_NANOS));
                }
            }
            return true;
        } finally {
            awaited = null;
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // Where nobody else wants the core it is asked for again at once, which is meant.
    private void poll(BooleanSupplier done) {
        loop.runNow();
        if (!done.getAsBoolean()) {
            Thread.yield();
        }
    }

    /** Has it look whether that is done for which it waits. Any thread. */
    void wake() {
        loop.wakeup();
    }

    @Override
    @SuppressWarnings("unchecked") // Lettuce takes whatever runs its channels.
    public <T extends EventLoopGroup> T allocate(Class<T> type) {
        return (T) loop;
    }

    @Override
    public int threadPoolSize() {
        return 1;
    }

    /** {@inheritDoc} It is closed by its thread. */
    @Override
    public io.netty.util.concurrent.Future<Boolean> release(EventExecutorGroup released, long quietPeriod, long timeout,
            TimeUnit unit) {
        return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
    }

    /** {@inheritDoc} It is closed by its thread. */
    @Override
    public io.netty.util.concurrent.Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // Its end is looked at below.
    public void close() {
        requireThread();
        loop.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS);
        while (!loop.isTerminated()) {
            loop.runNow();
        }
    }
}
