package io.varve.server.net;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.varve.server.system.TimeSlice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread factory of the event loops. Each thread requests the time slice of {@code io-thread-slice-us} before it
 * runs, so that it gets a core sooner after it wakes (decision 12). Immutable.
 */
final class EventLoopThreadFactory extends DefaultThreadFactory {
    private static final Logger LOG = LoggerFactory.getLogger(EventLoopThreadFactory.class);

    /** Scripts may nest their calls. Pages of a stack that are never used take no memory. */
    private static final long STACK_BYTES = 8L << 20;

    private final TimeSlice slice;

    EventLoopThreadFactory(TimeSlice slice) {
        super("varve-io", true);
        this.slice = slice;
    }

    @Override
    protected Thread newThread(Runnable loop, String name) {
        return new FastThreadLocalThread(threadGroup, loop, name, STACK_BYTES);
    }

    @Override
    public Thread newThread(Runnable loop) {
        return super.newThread(() -> {
            LOG.debug("The system accepted the time slice of an event loop: {}", slice.apply());
            loop.run();
        });
    }
}
