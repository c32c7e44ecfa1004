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
        int crc = 0;
        for (long at = address; at < end; at++) {
            byte next = Memory.getByte(at);
            if (next == '{') {
                return withBrace(address, at, end);
            }
            crc = HashSlot.crc16(crc, next);
        }
        return HashSlot.of(crc);
    }

    /** The slot of a key whose first open brace is there. */
    private static int withBrace(long address, long open, long end) {
        long close = find((byte) '}', open + 1, end);
        return HashSlot.of(close != end && close > open + 1 ? crc(open + 1, close) : crc(address, end));
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
