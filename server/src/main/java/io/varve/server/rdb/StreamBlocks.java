package io.varve.server.rdb;

import io.varve.memory.collection.stream.StreamBlock;

/**
 * Checks the blocks of a stream, one after the other: whoever walks one that was checked, forwards or backwards, stays
 * within it. Confined to its reader.
 *
 * <p>{@link StreamBlock} draws a block.
 */
final class StreamBlocks {
    /** Elements of an entry, beside its fields and values, that it counts. */
    private static final int SAME_ELEMENTS = 3;
    private static final int OTHER_ELEMENTS = 4;

    private final PayloadInput input;
    private long elements;
    private long lastMs;
    private long lastSeq;
    private long entries;
    private long firstMs;
    private long firstSeq;

    /** @param input reads bytes within a block */
    StreamBlocks(PayloadInput input) {
        this.input = input;
    }

    /** Begins another stream. */
    void begin() {
        lastMs = 0;
        lastSeq = 0;
        entries = 0;
        firstMs = 0;
        firstSeq = 0;
    }

    /** Entries that are not deleted, of all blocks. */
    long entries() {
        return entries;
    }

    /** The ID of the first entry that is not deleted; 0-0 if there is none. */
    long firstMs() {
        return firstMs;
    }

    long firstSeq() {
        return firstSeq;
    }

    /** Whether any entry that is not deleted has a greater ID. */
    boolean isBeyond(long ms, long seq) {
        return entries > 0 && StreamReader.compare(lastMs, lastSeq, ms, seq) > 0;
    }

    /** Whether an ID is not greater than that of the last entry that is not deleted. */
    private boolean isUpTo(long ms, long seq) {
        return entries > 0 && StreamReader.compare(ms, seq, lastMs, lastSeq) <= 0;
    }

    /**
     * Checks the next block.
     *
     * @param ms its ID
     * @return the number of its entries that are not deleted
     * @throws CorruptPayloadException if it is damaged, or not behind the one before
     */
    long check(long ms, long seq, long address, int length) {
        PayloadInput.require(!isUpTo(ms, seq));
        input.begin(address, length);
        PayloadInput.require(input.readUnsignedInt() == length);
        int counted = input.readUnsignedShort();
        elements = 0;
        long live = number();
        long deleted = number();
        long fields = number();
        PayloadInput.require(live > 0 && deleted >= 0 && fields >= 0);
        skip(fields);
        PayloadInput.require(number() == 0);
        long all = 0;
        long before = entries;
        while (input.left() > 1) {
            checkEntry(ms, seq, fields);
            all++;
        }
        PayloadInput.require(input.readByte() == Listpack.END
                && (counted == Listpack.UNCOUNTED || counted == elements)
                && entries - before == live && all - live == deleted);
        return live;
    }

    private void checkEntry(long blockMs, long blockSeq, long masterFields) {
        long flags = number();
        PayloadInput.require((flags & ~(StreamBlock.DELETED | StreamBlock.SAME_FIELDS)) == 0);
        long ms = blockMs + number();
        long seq = blockSeq + number();
        long counted = SAME_ELEMENTS + masterFields;
        if ((flags & StreamBlock.SAME_FIELDS) != 0) {
            skip(masterFields);
        } else {
            long fields = number();
            // Each has a byte, so that no sum overflows.
            PayloadInput.require(fields >= 0 && fields <= input.left());
            skip(2 * fields);
            counted = OTHER_ELEMENTS + 2 * fields;
        }
        PayloadInput.require(number() == counted);
        // A deleted entry may have any ID: XSETID can go back behind it.
        if ((flags & StreamBlock.DELETED) == 0) {
            PayloadInput.require(StreamReader.compare(ms, seq, blockMs, blockSeq) >= 0 && !isUpTo(ms, seq));
            addEntry(ms, seq);
        }
    }

    private void addEntry(long ms, long seq) {
        if (entries == 0) {
            firstMs = ms;
            firstSeq = seq;
        }
        entries++;
        lastMs = ms;
        lastSeq = seq;
    }

    private void skip(long count) {
        for (long i = 0; i < count; i++) {
            element();
        }
    }

    /** Reads an element that is an integer. */
    private long number() {
        long address = element();
        PayloadInput.require(io.varve.memory.collection.stream.Listpack.isInteger(address));
        return io.varve.memory.collection.stream.Listpack.integer(address);
    }

    /** Moves behind an element. @return its address */
    private long element() {
        long from = input.at();
        int type = input.readByte();
        if (type >= 0xF0) {
            input.skip(switch (type) {
                case 0xF0 -> input.readUnsignedInt();
                case 0xF1 -> Short.BYTES;
                case 0xF2 -> Short.BYTES + 1;
                case 0xF3 -> Integer.BYTES;
                case 0xF4 -> Long.BYTES;
                default -> throw new CorruptPayloadException();
            });
        } else if (type >= 0xE0) {
            input.skip((type & 0x0F) << 8 | input.readByte());
        } else if (type >= 0xC0) {
            input.skip(1);
        } else if (type >= 0x80) {
            input.skip(type & 0x3F);
        }
        Listpack.skipLength(input, input.at() - from);
        elements++;
        return from;
    }
}
