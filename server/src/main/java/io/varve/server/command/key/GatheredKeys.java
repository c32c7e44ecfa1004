package io.varve.server.command.key;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.varve.server.command.HeapReservation;

/**
 * The distinct keys of one part of the scan order, within a size limit. Confined to one thread. Keys that are too long
 * to be copied are only counted.
 */
final class GatheredKeys {
    /** Overhead of a key beside its bytes: arrays, a buffer, a map entry. */
    private static final int KEY_OVERHEAD_BYTES = 128;

    private final ScanPart part;
    private final HeapReservation reservation;
    private final long maxBytes;
    private final Map<ByteBuffer, Named> once = new LinkedHashMap<>();
    /** The hashes of the keys that are too long. */
    private final Set<Long> longOnes = new HashSet<>();
    private long bytes;
    private boolean tooMany;
    private boolean refused;

    /** A key, and the code of its item's type. Immutable. */
    static final class Named {
        private final byte[] name;
        private final int type;

        Named(byte[] name, int type) {
            this.name = name;
            this.type = type;
        }

        byte[] name() {
            return name;
        }

        int type() {
            return type;
        }
    }

    /**
     * @param reservation the reservation that the keys are charged to
     * @param maxBytes maximum size of the keys, unless there is only one
     */
    GatheredKeys(ScanPart part, HeapReservation reservation, long maxBytes) {
        this.part = part;
        this.reservation = reservation;
        this.maxBytes = maxBytes;
    }

    /** Heap bytes of a key while it is held. */
    static long heapBytes(byte[] name) {
        return name.length + (long) KEY_OVERHEAD_BYTES;
    }

    /** Adds a key unless it is present. @return whether more keys can be added */
    boolean add(byte[] name, int type) {
        ByteBuffer key = ByteBuffer.wrap(name);
        if (hasEnded() || once.containsKey(key)) {
            return !hasEnded();
        }
        long more = heapBytes(name);
        if (!reserve(more)) {
            tooMany = true;
        } else if (reservation.tryReserve(more)) {
            bytes += more;
            once.put(key, new Named(name, type));
        } else {
            refused = true;
        }
        return !hasEnded();
    }

    /** Counts a key that is too long to be copied. */
    void addLong(long hash, int length) {
        if (!hasEnded() && !longOnes.contains(hash)) {
            if (reserve(length)) {
                bytes += length;
                longOnes.add(hash);
            } else {
                tooMany = true;
            }
        }
    }

    private boolean reserve(long more) {
        return bytes + more <= maxBytes || size() == 0;
    }

    /** Whether no more keys are added. */
    boolean hasEnded() {
        return tooMany || refused;
    }

    /** Whether the part has more keys than the limit allows, so that some are missing. */
    boolean isOverLimit() {
        return tooMany;
    }

    /** Whether the heap budget was exhausted, or the client has disconnected. */
    boolean isRefused() {
        return refused;
    }

    /** The part that the keys belong to. */
    ScanPart part() {
        return part;
    }

    Collection<Named> all() {
        return once.values();
    }

    int size() {
        return once.size() + longOnes.size();
    }

    /** Whether there are any keys that are too long. */
    boolean hasLongOnes() {
        return !longOnes.isEmpty();
    }

    /** Releases the keys and their reservation. */
    void release() {
        once.values().forEach(found -> reservation.release(heapBytes(found.name)));
        once.clear();
    }
}
