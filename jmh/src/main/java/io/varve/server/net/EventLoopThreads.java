package io.varve.server.net;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.netty.util.concurrent.DefaultThreadFactory;

/**
 * An executor that makes JMH measure on threads of the same kind as a server's event loops. Thread-safe, as its
 * superclass is.
 *
 * <p>Netty keeps its pools of objects and of buffers by thread, and only for its own kind of thread: on another it
 * allocates each object again and shares the pools. JMH creates this class by its name, in {@code
 * -Djmh.executor.class}.
 */
public final class EventLoopThreads extends ThreadPoolExecutor {
    /** Called by JMH. */
    public EventLoopThreads(int threads, String prefix) {
        super(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
                new DefaultThreadFactory(prefix, true));
    }
}
