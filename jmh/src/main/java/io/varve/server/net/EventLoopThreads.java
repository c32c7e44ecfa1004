package io.varve.server.net;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.netty.util.concurrent.DefaultThreadFactory;

/**
 * Has JMH measure on threads of the kind that a server's event loops are. Thread-safe, as its superclass is.
 *
 * <p>Netty keeps its pools of objects and of buffers by thread, and only for its own kind: on another it makes each object
 * anew and shares the pools. JMH makes it by its name, in {@code -Djmh.executor.class}.
 */
public final class EventLoopThreads extends ThreadPoolExecutor {
    /** Called by JMH. */
    public EventLoopThreads(int threads, String prefix) {
        super(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
                new DefaultThreadFactory(prefix, true));
    }
}
