package io.varve.memory.collection.stream;

import io.varve.memory.offheap.Memory;

/**
 * A block of a stream's entries: a listpack as a node of a Redis stream has it. Immutable: static methods only; writers
 * hold the lock of the item's shard.
 *
 * <pre>
 *  master:  entries | deleted | fields | field 0 | ... | field n | 0
 *  entry:   flags | ms | seq | value 0 | ... | value n | elements                                 with SAME_FIELDS
 *  entry:   flags | ms | seq | fields | field 0 | value 0 | ... | field n | value n | elements    else
 * </pre>
 *
 * <p>{@code entries} counts those that are not deleted. IDs are differences from the block's ID, which is that of the
 * first entry. An entry with SAME_FIELDS has the fields of the master. {@code elements} counts those of the entry
 * before this one, for walks backwards. A deleted entry keeps its bytes.
 *
 * <p>Lengths are computed before anything is written, so that the caller can allocate first.
 */
public final class StreamBlock {
    /** The flags of an entry. */
    public static final int DELETED = 1;
    public static final int SAME_FIELDS = 2;

    /** Elements of the master beside its fields. */
    private static final int MASTER_ELEMENTS = 4;
    /** Elements of an entry with the same fields beside its values. */
    private static final int ENTRY_ELEMENTS = 4;

    /** The most bytes of fields and values in an entry, and of a block. */
    public static final long MAX_PAYLOAD_BYTES = 1 << 30;

    private StreamBlock() {}

    /** Bytes of an entry's fields and values. */
    public static long payloadBytes(StreamFields fields) {
        long bytes = 0;
        for (int i = 0; i < fields.count(); i++) {
            bytes += fields.fieldLength(i) + (long) fields.valueLength(i);
        }
        return bytes;
    }

    // --- the master

    /** The number of entries that are not deleted. */
    public static long entries(long block) {
        return Listpack.integer(Listpack.first(block));
    }

    private static long deletedAt(long block) {
        return Listpack.next(Listpack.first(block));
    }

    /** The number of deleted entries. */
    public static long deleted(long block) {
        return Listpack.integer(deletedAt(block));
    }

    private static long fieldsAt(long block) {
        return Listpack.next(deletedAt(block));
    }

    /** The number of the master's fields. */
    public static long masterFields(long block) {
        return Listpack.integer(fieldsAt(block));
    }

    /** The first field of the master. */
    static long firstField(long block) {
        return Listpack.next(fieldsAt(block));
    }

    /** The flags of the first entry; the end if there are no entries. */
    static long firstEntry(long block) {
        long at = firstField(block);
        for (long left = masterFields(block); left >= 0; left--) {
            at = Listpack.next(at);
        }
        return at;
    }

    // --- a new block

    /** Bytes of a block with one entry. */
    public static long newBytes(StreamFields fields) {
        int count = fields.count();
        long bytes = Listpack.HEADER_BYTES + Listpack.END_BYTES + Listpack.integerBytes(1) + 2L
                * Listpack.integerBytes(0)
                + Listpack.integerBytes(count);
        for (int i = 0; i < count; i++) {
            bytes += Listpack.textBytes(fields.fieldAddress(i), fields.fieldLength(i));
        }
        return bytes + entryBytes(fields, true, 0, 0);
    }

    /** Writes a block with one entry, whose ID is that of the block. */
    public static void create(long block, int bytes, StreamFields fields) {
        int count = fields.count();
        long at = Listpack.putInteger(Listpack.first(block), 1);
        at = Listpack.putInteger(at, 0);
        at = Listpack.putInteger(at, count);
        for (int i = 0; i < count; i++) {
            at = Listpack.putText(at, fields.fieldAddress(i), fields.fieldLength(i));
        }
        at = Listpack.putInteger(at, 0);
        putEntry(at, fields, true, 0, 0);
        Listpack.frame(block, bytes, MASTER_ELEMENTS + count + ENTRY_ELEMENTS + count);
    }

    // --- another entry

    /** Whether an entry with these fields has the same fields as the master. */
    public static boolean hasSameFields(long block, StreamFields fields) {
        int count = fields.count();
        if (masterFields(block) != count) {
            return false;
        }
        long at = firstField(block);
        for (int i = 0; i < count; i++) {
            if (!Listpack.isText(at, fields.fieldAddress(i), fields.fieldLength(i))) {
                return false;
            }
            at = Listpack.next(at);
        }
        return true;
    }

    /**
     * Bytes of the block with another entry.
     *
     * @param same whether it {@link #hasSameFields has the same fields}
     * @param ms the difference from the block's ID
     */
    public static long appendedBytes(long block, StreamFields fields, boolean same, long ms, long seq) {
        long entries = entries(block);
        return Listpack.bytes(block) + Listpack.integerBytes(entries + 1) - Listpack.integerBytes(entries)
                + entryBytes(fields, same, ms, seq);
    }

    /**
     * Adds an entry.
     *
     * @param bytes as {@link #appendedBytes} has computed it
     */
    public static void append(long block, int bytes, StreamFields fields, boolean same, long ms, long seq) {
        int elements = Listpack.elements(block);
        count(block, entries(block) + 1, deleted(block));
        long end = Listpack.end(block);
        putEntry(end, fields, same, ms, seq);
        Listpack.frame(block, bytes, elements + ENTRY_ELEMENTS + fields.count() * (same ? 1 : 2) + (same ? 0 : 1));
    }

    private static long entryBytes(StreamFields fields, boolean same, long ms, long seq) {
        int count = fields.count();
        long bytes = (long) Listpack.integerBytes(same ? SAME_FIELDS : 0) + Listpack.integerBytes(ms)
                + Listpack.integerBytes(seq) + Listpack.integerBytes(elementsBefore(count, same));
        if (!same) {
            bytes += Listpack.integerBytes(count);
        }
        for (int i = 0; i < count; i++) {
            if (!same) {
                bytes += Listpack.textBytes(fields.fieldAddress(i), fields.fieldLength(i));
            }
            bytes += Listpack.textBytes(fields.valueAddress(i), fields.valueLength(i));
        }
        return bytes;
    }

    private static void putEntry(long address, StreamFields fields, boolean same, long ms, long seq) {
        int count = fields.count();
        long at = Listpack.putInteger(address, same ? SAME_FIELDS : 0);
        at = Listpack.putInteger(at, ms);
        at = Listpack.putInteger(at, seq);
        if (!same) {
            at = Listpack.putInteger(at, count);
        }
        for (int i = 0; i < count; i++) {
            if (!same) {
                at = Listpack.putText(at, fields.fieldAddress(i), fields.fieldLength(i));
            }
            at = Listpack.putText(at, fields.valueAddress(i), fields.valueLength(i));
        }
        Listpack.putInteger(at, elementsBefore(count, same));
    }

    private static long elementsBefore(int fields, boolean same) {
        return same ? 3L + fields : 4L + 2L * fields;
    }

    // --- deletions

    /** Bytes of the block after so many entries were marked as deleted. */
    public static int markedBytes(long block, long marked) {
        long entries = entries(block);
        long deleted = deleted(block);
        return Listpack.bytes(block) + Listpack.integerBytes(entries - marked) - Listpack.integerBytes(entries)
                + Listpack.integerBytes(deleted + marked) - Listpack.integerBytes(deleted);
    }

    /** Marks an entry as deleted, without counting it. */
    static void mark(long entry) {
        Listpack.putInteger(entry, Listpack.integer(entry) | DELETED);
    }

    /**
     * Counts entries that were marked as deleted. The block's allocation must have the bytes of {@link #markedBytes}.
     */
    public static void countMarked(long block, long marked) {
        count(block, entries(block) - marked, deleted(block) + marked);
    }

    /** Removes the bytes of an entry that is not marked as deleted; returns those that the block then has. */
    static int drop(long block, long entry, long end) {
        int elements = Listpack.elements(block);
        int removed = 0;
        for (long at = entry; at != end; at = Listpack.next(at)) {
            removed++;
        }
        int bytes = Listpack.bytes(block);
        Memory.copy(end, entry, block + bytes - end);
        // From 65535 on the elements are not counted.
        Listpack.frame(block, bytes - (int) (end - entry), elements == 0xFFFF ? elements : elements - removed);
        count(block, entries(block) - 1, deleted(block));
        return Listpack.bytes(block);
    }

    /** Sets the counts, and moves what follows if they take more bytes or fewer. */
    private static void count(long block, long entries, long deleted) {
        long rest = fieldsAt(block);
        int bytes = Listpack.bytes(block);
        long moved = Listpack.first(block) + Listpack.integerBytes(entries) + Listpack.integerBytes(deleted);
        if (moved != rest) {
            Memory.copy(rest, moved, block + bytes - rest);
        }
        Listpack.putInteger(Listpack.putInteger(Listpack.first(block), entries), deleted);
        if (moved != rest) {
            Listpack.frame(block, bytes + (int) (moved - rest), Listpack.elements(block));
        }
    }
}
