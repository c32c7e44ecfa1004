package io.varve.server.net;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.netty.channel.EventLoop;
import io.varve.server.command.dispatch.LoopTasks;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tasks of Netty's event loop. Many threads. */
// What fails in a task is logged by the event loop: nobody needs its future.
@SuppressWarnings("FutureReturnValueIgnored")
final class TasksOf implements LoopTasks {
    private static final Logger LOG = LoggerFactory.getLogger(TasksOf.class);

    private final EventLoop loop;

    TasksOf(EventLoop loop) {
        this.loop = loop;
    }

    @Override
    public void execute(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException ended) {
            LOG.debug("An event loop has ended, and what it was to do is not done", ended);
        } catch (OutOfMemoryError none) {
            // Whoever calls this may hold locks. What waits for the task looks by itself, after some milliseconds.
            LOG.warn("An event loop is not told at once, as there is no memory", none);
        }
    }

    @Override
    public void schedule(Runnable task, long millis) {
        try {
            loop.schedule(task, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException ended) {
            LOG.debug("An event loop has ended, and what it was to do later is not done", ended);
        }
    }
}
