package io.varve.server.net;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.varve.server.system.TimeSlice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the event loops' threads, which wait less for a core than other threads of the process (decision 12).
 * Immutable.
 */
final class LoopThreads extends DefaultThreadFactory {
    private static final Logger LOG = LoggerFactory.getLogger(LoopThreads.class);

    private final TimeSlice slice;

    LoopThreads(TimeSlice slice) {
        super("varve-io", true);
        this.slice = slice;
    }

    @Override
    public Thread newThread(Runnable loop) {
        return super.newThread(() -> {
            LOG.debug("Time slice of an event loop: {}", slice.apply());
            loop.run();
        });
    }
}
