package io.varve.server.command;

import io.varve.memory.Cache;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;

/**
 * The values that a command with several keys works on. Confined to its event loop; reused from command to command, each of
 * which gives the memory back at its end, and valid while the shards of the keys are locked. A value is noted by where it is,
 * off the heap, so that a command may name very many; one that is a tree, by its key's number, in the place of the length.
 *
 * <pre>
 *  0               8        12         16
 *  +---------------+--------+----------+
 *  | value address | length | encoding |
 *  +---------------+--------+----------+
 * </pre>
 */
final class Operands {
    private static final int LENGTH_OFFSET = 8;
    private static final int ENCODING_OFFSET = 12;
    private static final int ENTRY_BYTES = 16;

    private final WorkMemory entries = new WorkMemory();
    private int count;

    /** Runs a command that notes operands, and gives their memory back. */
    static Handler releasing(Handler handler) {
        return call -> {
            try {
                handler.run(call);
            } finally {
                call.operands().release();
            }
        };
    }

    /**
     * Forgets all; there will be so many.
     *
     * @throws io.varve.memory.item.CacheFullException if there is no room to note them
     */
    void clear(Cache cache, int expected) {
        count = 0;
        entries.require(cache, (long) expected * ENTRY_BYTES);
    }

    private long at(int index) {
        return entries.address() + (long) index * ENTRY_BYTES;
    }

    /** Notes a value; one that is missing has the address 0. */
    void add(long address, int length, int encoding) {
        long entry = at(count++);
        Memory.putLong(entry, address);
        Memory.putInt(entry + LENGTH_OFFSET, length);
        Memory.putInt(entry + ENCODING_OFFSET, encoding);
    }

    /** Notes a tree, which is looked at by its key. */
    void addTree(int keyNumber) {
        add(0, keyNumber, Item.TREE);
    }

    boolean isTree(int index) {
        return encoding(index) == Item.TREE;
    }

    /** The number of a tree's key among those of the command. */
    int keyNumber(int index) {
        return length(index);
    }

    int count() {
        return count;
    }

    long address(int index) {
        return Memory.getLong(at(index));
    }

    int length(int index) {
        return Memory.getInt(at(index) + LENGTH_OFFSET);
    }

    int encoding(int index) {
        return Memory.getInt(at(index) + ENCODING_OFFSET);
    }

    /** Whether one of them is the value that is here. */
    boolean have(long address) {
        for (int i = 0; i < count; i++) {
            if (address(i) == address) {
                return true;
            }
        }
        return false;
    }

    /** A value has moved. */
    void moved(long from, long to) {
        for (int i = 0; i < count; i++) {
            if (address(i) == from) {
                Memory.putLong(at(i), to);
            }
        }
    }

    private void release() {
        count = 0;
        entries.release();
    }
}
