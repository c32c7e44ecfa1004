package io.varve.flash.tier;

import java.util.HashSet;
import java.util.Set;

import io.varve.flash.tier.Fallen.Name;

/** Keys on flash that are to go, from the moment they were chosen until their lane has taken them out. Guarded by itself. */
final class Departures {
    /** What one takes on the heap beside its bytes: objects, entries of a set and a queue. */
    private static final int OVERHEAD_BYTES = 160;
    /** More than so many bytes wait only where a lane does not get on: then nothing is written that others would have to go for. */
    private static final long MOST_BYTES = 512 << 10;
    /** Whoever has time waits from here on. */
    private static final long MANY_BYTES = MOST_BYTES / 4;

    private final Set<Name> leaving = new HashSet<>();
    private long bytes;

    /** A key that is to go, and whether because there are too many; else because it is of no account. Immutable. */
    record Leaving(Name name, boolean evicted) {}

    /** @return false if the key is leaving already */
    synchronized boolean begin(Name name) {
        boolean fresh = leaving.add(name);
        bytes += fresh ? name.recordKey().length + OVERHEAD_BYTES : 0;
        return fresh;
    }

    /** It is gone, or stays. */
    synchronized void end(Name name) {
        if (leaving.remove(name)) {
            bytes -= name.recordKey().length + OVERHEAD_BYTES;
        }
    }

    synchronized int count() {
        return leaving.size();
    }

    synchronized boolean areMany() {
        return bytes > MANY_BYTES;
    }

    synchronized boolean areTooMany() {
        return bytes > MOST_BYTES;
    }
}
