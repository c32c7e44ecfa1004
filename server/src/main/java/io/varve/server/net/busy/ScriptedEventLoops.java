package io.varve.server.net.busy;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;

/** Event loops that can run their waiting tasks in the middle of one that takes long: a script. Many threads. */
public final class ScriptedEventLoops extends MultiThreadIoEventLoopGroup {
    private static final long TASKS_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    public ScriptedEventLoops(int threads, ThreadFactory factory, IoHandlerFactory handlers) {
        super(threads, factory, handlers);
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... arguments) {
        return new Loop(this, executor, handlers);
    }

    /** One event loop. Its thread alone calls {@link #runWaitingTasks}. */
    static final class Loop extends SingleThreadIoEventLoop {
        Loop(IoEventLoopGroup parent, Executor executor, IoHandlerFactory handlers) {
            super(parent, executor, handlers);
        }

        /** Runs tasks for about a millisecond: new connections register, and clients wake up. */
        void runWaitingTasks() {
            runAllTasks(TASKS_NANOS);
        }
    }
}
