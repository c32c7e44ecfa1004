package io.varve.server.net;

import java.util.Arrays;

import io.netty.util.concurrent.FastThreadLocal;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.server.resp.LargeBulks;
import org.jspecify.annotations.Nullable;

/** Large bulks go into runs of the cache. Thread-safe as the cache is; each event loop has its own {@link Pinning}. */
final class CacheRuns implements LargeBulks {
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
    public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
        Pinning pinning = pinnings.get();
        int headRoom = pinning.session.headRoom(longestArgument);
        pinning.pin(earlier);
        try {
            ValueRun run = cache.newRun(headRoom, length);
            if (run == null && cache.admit((long) headRoom + length)) {
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

        private void pin(LargeBulks.Earlier earlier) {
            count = 0;
            int last = earlier.count() - 1;
            for (int i = 1; i <= Math.min(FIRST, last); i++) {
                add(earlier, i);
            }
            if (last > FIRST) {
                add(earlier, last);
            }
            session.pin(keys, 0, count);
        }

        private void add(LargeBulks.Earlier earlier, int argument) {
            // The hash, which is all that a pin needs, is the same in every database.
            session.bind(keys[count++], 0, earlier.address(argument), earlier.length(argument));
        }
    }
}
