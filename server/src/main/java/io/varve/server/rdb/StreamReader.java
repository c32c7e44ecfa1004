package io.varve.server.rdb;

import io.varve.memory.offheap.Memory;

/**
 * Reads a stream of a payload. Confined to its {@link PayloadReader}.
 *
 * <pre>
 *  blocks  | (ID, listpack) ... | length | last ID | first ID | deleted ID | added | groups | group ...
 *  group:    name | last ID | read | pending | (ID, time, deliveries) ... | consumers | consumer ...
 *  consumer: name | seen time | active time | owned | ID ...
 * </pre>
 *
 * <p>Numbers are written as lengths, IDs as two of them; but IDs of blocks and of pending entries as 16 bytes in
 * network order, and times as 8 bytes. Type 15 has neither first ID, deleted ID and added nor read; only type 21 has
 * the active time.
 */
final class StreamReader {
    static final int ID_BYTES = 2 * Long.BYTES;
    /** The numbers between the blocks and the groups. */
    static final int NUMBERS = 8;
    /** Those of type 15. */
    static final int FIRST_NUMBERS = 3;

    private static final long UNKNOWN = -1;

    private final PayloadInput input;
    private final StreamBlocks blocks;
    private int type;
    private long ms;
    private long seq;

    /** @param block reads bytes within a block */
    StreamReader(PayloadInput input, PayloadInput block) {
        this.input = input;
        blocks = new StreamBlocks(block);
    }

    void read(int of, StreamSink sink) {
        type = of;
        blocks.begin();
        for (long left = input.readLength(); left > 0; left--) {
            readBlock(sink);
        }
        StreamFacts facts = readFacts();
        sink.facts(facts);
        for (long left = input.readLength(); left > 0; left--) {
            readGroup(facts, sink);
        }
    }

    private void readBlock(StreamSink sink) {
        input.readText();
        PayloadInput.require(input.textLength() == ID_BYTES);
        long blockMs = Long.reverseBytes(Memory.getLong(input.text()));
        long blockSeq = Long.reverseBytes(Memory.getLong(input.text() + Long.BYTES));
        input.readText();
        long entries = blocks.check(blockMs, blockSeq, input.text(), input.textLength());
        sink.block(blockMs, blockSeq, input.text(), input.textLength(), entries);
    }

    private StreamFacts readFacts() {
        long length = input.readLength();
        long lastMs = input.readUnsigned();
        long lastSeq = input.readUnsigned();
        PayloadInput.require(length == blocks.entries() && !blocks.isBeyond(lastMs, lastSeq));
        if (type == PayloadLayout.STREAM) {
            // As in Redis, the first ID of an empty stream is the greatest one.
            return length == 0
                    ? new StreamFacts(length, lastMs, lastSeq, -1, -1, 0, 0, length)
                    : new StreamFacts(length, lastMs, lastSeq, blocks.firstMs(), blocks.firstSeq(), 0, 0, length);
        }
        return new StreamFacts(length, lastMs, lastSeq, input.readUnsigned(), input.readUnsigned(),
                input.readUnsigned(), input.readUnsigned(), input.readLength());
    }

    private void readGroup(StreamFacts facts, StreamSink sink) {
        input.readText();
        long name = input.text();
        int nameLength = input.textLength();
        long lastMs = input.readUnsigned();
        long lastSeq = input.readUnsigned();
        long read = type == PayloadLayout.STREAM ? readBy(facts, lastMs, lastSeq) : input.readUnsigned();
        PayloadInput.require(read >= UNKNOWN);
        sink.group(name, nameLength, lastMs, lastSeq, read);
        long pending = input.readLength();
        for (long i = 0; i < pending; i++) {
            readId(i == 0);
            sink.pending(ms, seq, input.readLong(), input.readUnsigned());
        }
        for (long left = input.readLength(); left > 0; left--) {
            pending -= readConsumer(sink);
        }
        PayloadInput.require(pending == 0);
    }

    /** What a group has read up to an ID of a stream without deletions, as Redis estimates it. */
    private static long readBy(StreamFacts facts, long ms, long seq) {
        if (facts.length() == 0) {
            return 0;
        }
        int toLast = compare(ms, seq, facts.lastMs(), facts.lastSeq());
        if (toLast >= 0) {
            return toLast == 0 ? facts.added() : UNKNOWN;
        }
        int toFirst = compare(ms, seq, facts.firstMs(), facts.firstSeq());
        return toFirst > 0 ? UNKNOWN : toFirst == 0 ? 1 : 0;
    }

    /** @return the number of entries that are pending for the consumer */
    private long readConsumer(StreamSink sink) {
        input.readText();
        long name = input.text();
        int nameLength = input.textLength();
        long seen = input.readLong();
        sink.consumer(name, nameLength, seen, type == PayloadLayout.STREAM_3 ? input.readLong() : seen);
        long owned = input.readLength();
        for (long i = 0; i < owned; i++) {
            readId(i == 0);
            sink.owned(ms, seq);
        }
        return owned;
    }

    /** Reads an ID, which must be greater than the one before. */
    private void readId(boolean isFirst) {
        long nextMs = Long.reverseBytes(input.readLong());
        long nextSeq = Long.reverseBytes(input.readLong());
        PayloadInput.require(isFirst || compare(nextMs, nextSeq, ms, seq) > 0);
        ms = nextMs;
        seq = nextSeq;
    }

    /** Compares two IDs. */
    static int compare(long ms, long seq, long otherMs, long otherSeq) {
        return ms == otherMs ? Long.compareUnsigned(seq, otherSeq) : Long.compareUnsigned(ms, otherMs);
    }
}
