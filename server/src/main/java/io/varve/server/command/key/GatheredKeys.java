package io.varve.server.command.key;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.varve.server.command.HeapLoan;

/**
 * The keys of a part of the order, each once, as far as they are not too many for the heap. Those that are too long to be copied are
 * counted only. Confined to one thread.
 */
final class GatheredKeys {
    /** What a key takes beside its bytes: arrays, a buffer, an entry of a map. */
    private static final int KEY_OVERHEAD_BYTES = 128;

    private final ScanPart part;
    private final HeapLoan loan;
    private final long mostBytes;
    private final Map<ByteBuffer, Named> once = new LinkedHashMap<>();
    /** The hashes of those that are too long. */
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
     * @param loan      what they are charged to
     * @param mostBytes more than one key do not take more
     */
    GatheredKeys(ScanPart part, HeapLoan loan, long mostBytes) {
        this.part = part;
        this.loan = loan;
        this.mostBytes = mostBytes;
    }

    /** What a key takes of the heap while it is kept. */
    static long heapBytes(byte[] name) {
        return name.length + (long) KEY_OVERHEAD_BYTES;
    }

    /** Adds a key unless it is there. @return whether more can be added */
    boolean add(byte[] name, int type) {
        ByteBuffer key = ByteBuffer.wrap(name);
        if (hasEnded() || once.containsKey(key)) {
            return !hasEnded();
        }
        long more = heapBytes(name);
        if (!hasRoom(more)) {
            tooMany = true;
        } else if (loan.take(more)) {
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
            if (hasRoom(length)) {
                bytes += length;
                longOnes.add(hash);
            } else {
                tooMany = true;
            }
        }
    }

    private boolean hasRoom(long more) {
        return bytes + more <= mostBytes || size() == 0;
    }

    /** Whether nothing is added any more. */
    boolean hasEnded() {
        return tooMany || refused;
    }

    /** Whether there were more than may be kept at once: some are missing. */
    boolean areTooMany() {
        return tooMany;
    }

    /** Whether the heap had no room for one of them, or nobody waits for them. */
    boolean isRefused() {
        return refused;
    }

    /** The part in which they are. */
    ScanPart part() {
        return part;
    }

    Collection<Named> all() {
        return once.values();
    }

    int size() {
        return once.size() + longOnes.size();
    }

    /** Whether there are any that are too long. */
    boolean hasLongOnes() {
        return !longOnes.isEmpty();
    }

    /** They are not needed any more. */
    void giveBack() {
        once.values().forEach(found -> loan.give(heapBytes(found.name)));
        once.clear();
    }
}
