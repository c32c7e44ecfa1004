package io.varve.server.command.value;

import io.varve.memory.Cache;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Handler;
import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;

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
public final class Operands {
    private static final Workspace<Operands> WORKSPACE = Workspace.madeBy(_ -> new Operands());

    private static final int LENGTH_OFFSET = 8;
    private static final int ENCODING_OFFSET = 12;
    private static final int ENTRY_BYTES = 16;

    private final WorkMemory entries = new WorkMemory();
    private int count;

    /** That of an invocation. */
    public static Operands of(Invocation call) {
        return WORKSPACE.of(call);
    }

    /** Runs a command that notes operands, and gives their memory back. */
    public static Handler releasing(Handler handler) {
        return call -> {
            try {
                handler.run(call);
            } finally {
                Operands.of(call).release();
            }
        };
    }

    /**
     * Forgets all; there will be so many.
     *
     * @throws io.varve.memory.item.CacheFullException if there is no room to note them
     */
    public void clear(Cache cache, int expected) {
        count = 0;
        entries.require(cache, (long) expected * ENTRY_BYTES);
    }

    private long at(int index) {
        return entries.address() + (long) index * ENTRY_BYTES;
    }

    /** Notes a value; one that is missing has the address 0. */
    public void add(long address, int length, int encoding) {
        long entry = at(count++);
        Memory.putLong(entry, address);
        Memory.putInt(entry + LENGTH_OFFSET, length);
        Memory.putInt(entry + ENCODING_OFFSET, encoding);
    }

    /** Notes a tree, which is looked at by its key. */
    public void addTree(int keyNumber) {
        add(0, keyNumber, Item.TREE);
    }

    /** Whether it is a tree, which is looked at by its key. */
    public boolean isTree(int index) {
        return encoding(index) == Item.TREE;
    }

    /** The number of a tree's key among those of the command. */
    public int keyNumber(int index) {
        return length(index);
    }

    /** How many there are. */
    public int count() {
        return count;
    }

    /** Where a value is; 0 if it is missing, or a tree. */
    public long address(int index) {
        return Memory.getLong(at(index));
    }

    /** Bytes of a value that is no tree. */
    public int length(int index) {
        return Memory.getInt(at(index) + LENGTH_OFFSET);
    }

    /** Of {@link Encodings}, or that it is a tree. */
    public int encoding(int index) {
        return Memory.getInt(at(index) + ENCODING_OFFSET);
    }

    /** Whether one of them is the value that is here. */
    public boolean have(long address) {
        for (int i = 0; i < count; i++) {
            if (address(i) == address) {
                return true;
            }
        }
        return false;
    }

    /** A value has moved. */
    public void moved(long from, long to) {
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
