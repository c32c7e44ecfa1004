package io.varve.server.keys;

import io.varve.cluster.map.HashSlot;
import io.varve.memory.item.KeySlots;
import io.varve.memory.offheap.Memory;

/**
 * The hash slots of keys in native memory, as {@link HashSlot} defines them. Immutable; allocates nothing.
 */
public final class KeyHashSlots implements KeySlots {
    /** The only instance: caches compare it by identity. */
    public static final KeyHashSlots INSTANCE = new KeyHashSlots();

    private KeyHashSlots() {}

    @Override
    public int slot(long address, int length) {
        long end = address + length;
        long open = find((byte) '{', address, end);
        if (open != end) {
            long close = find((byte) '}', open + 1, end);
            if (close != end && close > open + 1) {
                return HashSlot.of(crc(open + 1, close));
            }
        }
        return HashSlot.of(crc(address, end));
    }

    private static int crc(long from, long end) {
        int crc = 0;
        for (long at = from; at < end; at++) {
            crc = HashSlot.crc16(crc, Memory.getByte(at));
        }
        return crc;
    }

    private static long find(byte wanted, long from, long end) {
        for (long at = from; at < end; at++) {
            if (Memory.getByte(at) == wanted) {
                return at;
            }
        }
        return end;
    }
}
