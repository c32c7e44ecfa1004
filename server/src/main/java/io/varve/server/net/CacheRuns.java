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

/** Large bulks go into runs of the cache. Thread-safe as the cache is; each event loop has its own {@link Pinning}. */
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
        int headRoom = pinning.session.headRoom(longestArgument);
        long bytes = (long) headRoom + length;
        if (!cache.hasRoom(bytes)) {
            pinning.pin(earlier, others.get());
        }
        try {
            ValueRun run = cache.newRun(headRoom, length);
            if (run == null && cache.admit(bytes)) {
                run = cache.newRun(headRoom, length);
            }
            return run;
        } finally {
            pinning.session.unpin();
        }
    }

    /**
     * Pins what may be a key of a request while room is made for a large argument of it: the first arguments behind the name, and the one in
     * front of the large one. Confined to its event loop.
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
            // The hash, which is all that a pin needs, is the same in every database.
            session.bind(keys[count++], 0, earlier.address(argument), earlier.length(argument));
        }
    }
}
