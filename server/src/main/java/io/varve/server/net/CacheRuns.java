package io.varve.server.net;

import java.util.Arrays;
import java.util.function.Supplier;

import io.netty.util.concurrent.FastThreadLocal;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.server.resp.LargeBulks;
import org.jspecify.annotations.Nullable;

/**
 * Receives large bulks into runs of the cache. Thread-safe as the cache is; each event loop has its own {@link
 * Pinning}.
 */
final class CacheRuns implements LargeBulks {
    private static final long[] NO_KEYS = {};

    private final Cache cache;
    private final FastThreadLocal<Pinning> pinnings = new FastThreadLocal<>() {
        @Override
        protected Pinning initialValue() {
            return new Pinning(cache.newSession());
        }
    };

    CacheRuns(Cache cache) {
        this.cache = cache;
    }

    @Override
    public int thresholdBytes() {
        return cache.runThresholdBytes();
    }

    @Override
    public LargeBulks beside(Supplier<long[]> others) {
        return new LargeBulks() {
            @Override
            public int thresholdBytes() {
                return CacheRuns.this.thresholdBytes();
            }

            @Override
            public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
                return CacheRuns.this.open(earlier, longestArgument, length, others);
            }
        };
    }

    @Override
    public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
        return open(earlier, longestArgument, length, () -> NO_KEYS);
    }

    private @Nullable ValueRun open(Earlier earlier, int longestArgument, int length, Supplier<long[]> others) {
        Pinning pinning = pinnings.get();
        int headroom = pinning.session.headroom(longestArgument);
        long bytes = (long) headroom + length;
        if (!cache.hasFreeMemory(bytes)) {
            pinning.pin(earlier, others.get());
        }
        try {
            ValueRun run = cache.newRun(headroom, length);
            if (run == null && cache.admit(bytes)) {
                run = cache.newRun(headroom, length);
            }
            return run;
        } finally {
            pinning.session.unpin();
        }
    }

    /**
     * Pins arguments that may be keys of a request while memory is reclaimed for its large argument: the first
     * arguments after the name, and the one before the large one. Confined to its event loop.
     */
    private static final class Pinning {
        private static final int FIRST = 64;

        private final CacheSession session;
        private final Key[] keys = new Key[FIRST + 1];
        private int count;

        Pinning(CacheSession session) {
            this.session = session;
            Arrays.setAll(keys, i -> new Key());
        }

        private void pin(LargeBulks.Earlier earlier, long[] others) {
            count = 0;
            int last = earlier.count() - 1;
            for (int i = 1; i <= Math.min(FIRST, last); i++) {
                add(earlier, i);
            }
            if (last > FIRST) {
                add(earlier, last);
            }
            session.pin(keys, 0, count, others);
        }

        private void add(LargeBulks.Earlier earlier, int argument) {
            // A pin needs only the hash, which does not depend on the database.
            session.bind(keys[count++], 0, earlier.address(argument), earlier.length(argument));
        }
    }
}
