package io.varve.memory.collection.stream;

/**
 * A position at an entry of a block, deleted or not, and at one of its fields. Confined to the caller; valid until the
 * next write to the stream.
 */
public final class BlockCursor {
    private long block;
    private long masterMs;
    private long masterSeq;
    private long first;

    /** The entry's flags, where it begins; and its elements behind the ID. */
    private long entry;
    private long rest;
    private int flags;
    private long ms;
    private long seq;
    private int fields;

    /** The present field and its value, and what the next field and value follow. */
    private long field;
    private long value;
    private long nextField;
    private long nextValue;
    private int fieldsLeft;

    /** Opens a block; the position is at no entry. */
    public void open(long newBlock, long ms, long seq) {
        block = newBlock;
        masterMs = ms;
        masterSeq = seq;
        first = StreamBlock.firstEntry(block);
    }

    /** Follows the block to another address. */
    public void moved(long newBlock) {
        long by = newBlock - block;
        block = newBlock;
        first += by;
        entry += by;
        rest += by;
        field += by;
        value += by;
        nextField += by;
        nextValue += by;
    }

    /** Moves to the first entry; false if there is none. */
    public boolean first() {
        return moveTo(first);
    }

    /** Moves to the last entry; false if there is none. */
    public boolean last() {
        return before(Listpack.end(block));
    }

    /** Moves to the next entry; false if there is none. The fields may have been walked or not. */
    public boolean next() {
        return moveTo(end());
    }

    /** The address behind the entry. */
    private long end() {
        long at = rest;
        long left = isSame() ? fields : 2L * fields;
        if (fieldsLeft < fields) {
            at = nextValue;
            left = isSame() ? fieldsLeft : 2L * fieldsLeft;
        }
        for (long i = left; i >= 0; i--) {
            at = Listpack.next(at);
        }
        return at;
    }

    /** Moves to the previous entry; false if there is none. */
    public boolean previous() {
        return before(entry);
    }

    private boolean before(long end) {
        if (end == first) {
            return false;
        }
        long at = Listpack.previous(end);
        for (long i = Listpack.integer(at); i > 0; i--) {
            at = Listpack.previous(at);
        }
        return moveTo(at);
    }

    private boolean moveTo(long address) {
        if (Listpack.isEnd(address)) {
            return false;
        }
        entry = address;
        flags = (int) Listpack.integer(address);
        long at = Listpack.next(address);
        ms = masterMs + Listpack.integer(at);
        at = Listpack.next(at);
        seq = masterSeq + Listpack.integer(at);
        at = Listpack.next(at);
        if (isSame()) {
            fields = (int) StreamBlock.masterFields(block);
        } else {
            fields = (int) Listpack.integer(at);
            at = Listpack.next(at);
        }
        rest = at;
        fieldsLeft = fields;
        return true;
    }

    private boolean isSame() {
        return (flags & StreamBlock.SAME_FIELDS) != 0;
    }

    // --- the entry

    public boolean isDeleted() {
        return (flags & StreamBlock.DELETED) != 0;
    }

    /** Milliseconds of the entry's ID. */
    public long ms() {
        return ms;
    }

    /** Sequence number of the entry's ID. */
    public long seq() {
        return seq;
    }

    /** The number of fields. */
    public int fields() {
        return fields;
    }

    /** Marks the entry as deleted; the caller counts it with {@link StreamBlock#countMarked}. */
    public void mark() {
        StreamBlock.mark(entry);
        flags |= StreamBlock.DELETED;
    }

    /**
     * Removes the entry's bytes from the block, and counts it neither as an entry nor as deleted. The position is then
     * undefined.
     *
     * @return bytes of the block, which has become shorter
     */
    public int drop() {
        return StreamBlock.drop(block, entry, end());
    }

    // --- its fields

    /** Moves to the first field, and then to the next one; false if there is none left. */
    public boolean nextField() {
        if (fieldsLeft == 0) {
            return false;
        }
        if (isSame()) {
            field = fieldsLeft == fields ? StreamBlock.firstField(block) : nextField;
            value = fieldsLeft == fields ? rest : nextValue;
            nextField = Listpack.next(field);
        } else {
            field = fieldsLeft == fields ? rest : nextValue;
            value = Listpack.next(field);
        }
        nextValue = Listpack.next(value);
        fieldsLeft--;
        return true;
    }

    /** The element with the field, as {@link Listpack} reads it. */
    public long field() {
        return field;
    }

    /** The element with the field's value, as {@link Listpack} reads it. */
    public long value() {
        return value;
    }
}
