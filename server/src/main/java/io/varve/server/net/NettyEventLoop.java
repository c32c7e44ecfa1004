package io.varve.server.net;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.netty.channel.EventLoop;
import io.varve.server.command.dispatch.EventLoopExecutor;
import io.varve.server.net.busy.SlowScriptTurns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adapts a Netty event loop to {@link EventLoopExecutor}. Many threads. */
// The event loop logs failures of a task: no caller needs its future.
@SuppressWarnings("FutureReturnValueIgnored")
final class NettyEventLoop implements EventLoopExecutor {
    private static final Logger LOG = LoggerFactory.getLogger(NettyEventLoop.class);

    private final EventLoop loop;
    private final SlowScriptTurns turns;

    NettyEventLoop(EventLoop loop, SlowScriptTurns turns) {
        this.loop = loop;
        this.turns = turns;
    }

    @Override
    public void serveOthers() {
        turns.serve(loop);
    }

    @Override
    public void execute(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException ended) {
            LOG.debug("The event loop has ended: a task is dropped", ended);
        } catch (OutOfMemoryError none) {
            // The caller may hold locks. A waiting client polls by itself, after some milliseconds.
            LOG.warn("Out of memory: a task for an event loop is dropped; waiting clients poll instead", none);
        }
    }

    @Override
    public void schedule(Runnable task, long millis) {
        try {
            loop.schedule(task, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException ended) {
            LOG.debug("The event loop has ended: a delayed task is dropped", ended);
        }
    }
}
