package io.varve.server.command.value;

import io.varve.memory.Cache;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.Handler;

/**
 * The values of a command with several keys. Confined to its event loop; reused from command to command, each of which
 * releases the memory at its end. It is valid while the shards of the keys are locked. It stores the address of a value
 * off the heap, because a command may name very many. For a tree it stores the key's number in place of the length.
 *
 * <pre>
 *  0               8        12         16
 *  +---------------+--------+----------+
 *  | value address | length | encoding |
 *  +---------------+--------+----------+
 * </pre>
 */
public final class Operands {
    private static final CommandScratch<Operands> SCRATCH = CommandScratch.madeBy(_ -> new Operands());

    private static final int LENGTH_OFFSET = 8;
    private static final int ENCODING_OFFSET = 12;
    private static final int ENTRY_BYTES = 16;

    private final WorkMemory entries = new WorkMemory();
    private int count;

    /** The instance of a context. */
    public static Operands of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /** Wraps a handler so that the operands' memory is released after it. */
    public static Handler releasing(Handler handler) {
        return context -> {
            try {
                handler.run(context);
            } finally {
                Operands.of(context).release();
            }
        };
    }

    /**
     * Removes all operands and reserves memory for the expected number.
     *
     * @throws io.varve.memory.item.CacheFullException if memory is full
     */
    public void clear(Cache cache, int expected) {
        count = 0;
        entries.require(cache, (long) expected * ENTRY_BYTES);
    }

    private long at(int index) {
        return entries.address() + (long) index * ENTRY_BYTES;
    }

    /** Adds a value; a missing value has the address 0. */
    public void add(long address, int length, int encoding) {
        long entry = at(count++);
        Memory.putLong(entry, address);
        Memory.putInt(entry + LENGTH_OFFSET, length);
        Memory.putInt(entry + ENCODING_OFFSET, encoding);
    }

    /** Adds a tree, which is opened by its key. */
    public void addTree(int keyNumber) {
        add(0, keyNumber, Item.TREE);
    }

    /** Whether it is a tree, which is opened by its key. */
    public boolean isTree(int index) {
        return encoding(index) == Item.TREE;
    }

    /** The number of a tree's key among the command's keys. */
    public int keyNumber(int index) {
        return length(index);
    }

    /** Number of operands. */
    public int count() {
        return count;
    }

    /** Address of a value; 0 if it is missing, or a tree. */
    public long address(int index) {
        return Memory.getLong(at(index));
    }

    /** Length of a value that is no tree, bytes. */
    public int length(int index) {
        return Memory.getInt(at(index) + LENGTH_OFFSET);
    }

    /** One of {@link Encodings}, or the mark of a tree. */
    public int encoding(int index) {
        return Memory.getInt(at(index) + ENCODING_OFFSET);
    }

    /** Whether one of them is the value at this address. */
    public boolean have(long address) {
        for (int i = 0; i < count; i++) {
            if (address(i) == address) {
                return true;
            }
        }
        return false;
    }

    /** Updates the address of a value that has moved. */
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
