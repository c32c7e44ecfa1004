package io.varve.server.clustering;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.varve.cluster.map.HashSlot;
import io.varve.server.keys.HeapKey;

/**
 * The copies of other members' keys at this member, and which of them it may serve. Guarded by its own monitor; a copy
 * is added and removed under the lock of its key's shard.
 *
 * <p>The owner of the keys renews its lease for all of its copies here. It returns a stamp, which is a time of this
 * member's clock that it has received before. All values that it sent between are at least as new as the stamp, so a
 * copy is served until one lease after it, however late the messages arrive. An owner has one connection: commands of
 * earlier ones are refused, and so is the service of copies that the present one has not sent.
 */
public final class KeyCopies {
    /** The greatest age of a value that is served. */
    public static final long LEASE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int DATABASE = 0;

    /** An owner of copies. Guarded by the monitor. */
    private static final class Source {
        private long clientId;
        /** Whether the present connection has renewed the lease: all copies have been sent. */
        private boolean isRenewed;
        /** When the lease ends, or the time for the first renewal. */
        private long untilNanos;
        private final Set<HeapKey> lost = new LinkedHashSet<>();
    }

    /**
     * Immutable.
     *
     * @param clientId the connection that has sent it
     */
    private record Copy(String sourceId, long clientId) {}

    private final LongSupplier clock;
    private final Map<String, Source> sources = new HashMap<>();
    private final Map<HeapKey, Copy> copies = new HashMap<>();
    /** The slots that have had copies. Their keys may outlive the names here. */
    private final BitSet slots = new BitSet();
    private volatile int count;
    private volatile Runnable onFirst = () -> {};

    /** @param clock nanoseconds that pass at a steady rate */
    public KeyCopies(LongSupplier clock) {
        this.clock = clock;
    }

    /** Sets what happens when there is a copy again. It runs under the lock of the key's shard. */
    public void onFirst(Runnable action) {
        onFirst = action;
    }

    /** The number of copies, those included that are not served any more and will be deleted. */
    public int count() {
        return count;
    }

    // --- for the owner

    /**
     * An owner begins to send copies on a connection.
     *
     * @return the first stamp
     */
    public synchronized long begin(String sourceId, long clientId) {
        Source source = sources.computeIfAbsent(sourceId, _ -> new Source());
        long now = clock.getAsLong();
        source.clientId = clientId;
        source.lost.clear();
        source.isRenewed = false;
        source.untilNanos = now + LEASE_NANOS;
        return now;
    }

    /** Whether an owner sends its copies on this connection. */
    public synchronized boolean accepts(String sourceId, long clientId) {
        Source source = sources.get(sourceId);
        return source != null && source.clientId == clientId;
    }

    /**
     * Renews the lease of an owner whose connection {@linkplain #accepts is accepted}.
     *
     * @param stamp not in the future
     * @return the next stamp
     */
    public synchronized long renew(String sourceId, long stamp) {
        long now = clock.getAsLong();
        Source source = sources.get(sourceId);
        long until = stamp + LEASE_NANOS;
        if (source != null && stamp - now <= 0) {
            source.isRenewed = true;
            if (until - source.untilNanos > 0) {
                source.untilNanos = until;
            }
        }
        return now;
    }

    /** Takes the keys that an owner has sent, and that are not here any more. */
    public synchronized List<HeapKey> takeLost(String sourceId) {
        Source source = sources.get(sourceId);
        if (source == null) {
            return List.of();
        }
        List<HeapKey> lost = List.copyOf(source.lost);
        source.lost.clear();
        return lost;
    }

    /** A copy has been stored. The shard of the key is locked. */
    public void add(HeapKey key, String sourceId, long clientId) {
        boolean isFirst;
        synchronized (this) {
            isFirst = copies.isEmpty();
            copies.put(key, new Copy(sourceId, clientId));
            slots.set(HashSlot.of(key.bytes()));
            count = copies.size();
        }
        if (isFirst) {
            onFirst.run();
        }
    }

    /**
     * Removes a copy of an owner. The shard of the key is locked.
     *
     * @return whether the owner had one here
     */
    public synchronized boolean remove(HeapKey key, String sourceId) {
        Copy copy = copies.get(key);
        if (copy == null || !copy.sourceId().equals(sourceId)) {
            return false;
        }
        copies.remove(key);
        count = copies.size();
        return true;
    }

    // --- for clients

    /** Whether this member may serve its copy of a key at this moment, if it still has it. */
    public boolean isServable(long address, int length, String ownerId) {
        if (count == 0) {
            return false;
        }
        HeapKey key = HeapKey.of(DATABASE, address, length);
        synchronized (this) {
            Copy copy = copies.get(key);
            return copy != null && copy.sourceId().equals(ownerId) && isServed(copy);
        }
    }

    /** A copy is missing: it was evicted or has expired. The owner will send it again. The shard is locked. */
    public synchronized void lose(long address, int length) {
        HeapKey key = HeapKey.of(DATABASE, address, length);
        Copy copy = copies.remove(key);
        count = copies.size();
        Source source = copy == null ? null : sources.get(copy.sourceId());
        if (source != null) {
            source.lost.add(key);
        }
    }

    private boolean isServed(Copy copy) {
        Source source = sources.get(copy.sourceId());
        return source != null && source.isRenewed && copy.clientId() == source.clientId
                && clock.getAsLong() - source.untilNanos < 0;
    }

    // --- for the deletion

    /** Whether a key must stay, although its slot is another member's. */
    public boolean holds(long address, int length) {
        if (count == 0) {
            return false;
        }
        HeapKey key = HeapKey.of(DATABASE, address, length);
        synchronized (this) {
            return copies.containsKey(key);
        }
    }

    /** Whether the slot has had a copy since the start, so that a key may be left of it. */
    public synchronized boolean hasHad(int slot) {
        return slots.get(slot);
    }

    /** Whether this member has had any copy since the start. */
    public synchronized boolean hasHadAny() {
        return !slots.isEmpty();
    }

    /** The copies that are not served any more. */
    public synchronized List<HeapKey> stale() {
        List<HeapKey> stale = new ArrayList<>();
        copies.forEach((key, copy) -> {
            if (isStale(copy)) {
                stale.add(key);
            }
        });
        return stale;
    }

    private boolean isStale(Copy copy) {
        Source source = sources.get(copy.sourceId());
        return source == null || copy.clientId() != source.clientId || clock.getAsLong() - source.untilNanos >= 0;
    }

    /**
     * Forgets a copy that is not served any more. The shard of the key is locked.
     *
     * @return whether it was such a copy
     */
    public synchronized boolean forget(HeapKey key) {
        Copy copy = copies.get(key);
        if (copy == null || !isStale(copy)) {
            return false;
        }
        copies.remove(key);
        count = copies.size();
        Source source = sources.get(copy.sourceId());
        if (source != null && source.clientId == copy.clientId()) {
            // It was late, and may come back on this connection.
            source.lost.add(key);
        }
        return true;
    }
}
