package io.varve.server.rdb;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.rdb.ValueSink.Kind;
import io.varve.server.resp.DoubleReader;
import io.varve.server.resp.Numbers;

/**
 * Reads a payload of RESTORE, of any version up to the latest known one. Confined to its user; reused.
 *
 * <p>It never reads beyond the given bytes. Corrupt input throws a {@link CorruptPayloadException}, possibly after the
 * sink has received a part. It does not check for duplicate members or fields: the sink does,
 * and checks what {@link StreamSink} says.
 */
public final class PayloadReader {
    private static final int NEGATIVE_INFINITE = 255;
    private static final int INFINITE = 254;
    private static final int NOT_A_NUMBER = PayloadLayout.FIRST_SCORE_CODE;

    private final PayloadInput input;
    /** Input within a packed form. */
    private final PayloadInput packed;
    private final Listpack listpack;
    private final Ziplist ziplist;
    private final Zipmap zipmap;
    private final StreamReader streams;

    /** @param memory holds the bytes of numbers and of decompressed strings */
    public PayloadReader(PayloadMemory memory) {
        this(memory, memory);
    }

    /**
     * A reader for a sink that does not use the elements after it has received them. Each memory may then be reused
     * from text to text.
     *
     * @param texts holds the bytes of decompressed strings, and of numbers outside of packed forms
     * @param numbers holds the bytes of numbers within packed forms, of at most 20 bytes each
     */
    public PayloadReader(PayloadMemory texts, PayloadMemory numbers) {
        input = new PayloadInput(texts);
        packed = new PayloadInput(numbers);
        listpack = new Listpack(packed);
        ziplist = new Ziplist(packed);
        zipmap = new Zipmap(packed);
        streams = new StreamReader(input, packed);
    }

    /** Whether the version is known and the checksum correct. In a file a checksum of zero means none, but not here. */
    public static boolean isIntact(long payload, int length) {
        if (length < PayloadLayout.FOOTER_BYTES) {
            return false;
        }
        long footer = payload + length - PayloadLayout.FOOTER_BYTES;
        int version = Memory.getShort(footer) & 0xFFFF;
        long checksum = Memory.getLong(footer + PayloadLayout.VERSION_BYTES);
        return version >= 1 && version <= PayloadLayout.LATEST_VERSION
                && checksum == Crc64.of(payload, length - (long) Long.BYTES);
    }

    /**
     * Reads the value of a payload that is intact.
     *
     * @throws CorruptPayloadException if it is malformed, or of an unknown type
     */
    public void read(long payload, int length, ValueSink sink) {
        PayloadInput.require(length > PayloadLayout.FOOTER_BYTES);
        readValue(Memory.getByte(payload) & 0xFF, payload + 1, (long) length - PayloadLayout.FOOTER_BYTES - 1, sink);
    }

    /** Reads a text of an RDB file. @return its length; it begins at {@link #text} */
    public int readText(long address, long length) {
        input.begin(address, length);
        input.readText();
        return input.textLength();
    }

    /** The address of the text that was read last. */
    public long text() {
        return input.text();
    }

    /**
     * Reads a value of an RDB file.
     *
     * @param type as {@link RdbReader#type} gives it
     * @throws CorruptPayloadException if it is malformed, or of an unknown type
     */
    public void readValue(int type, long address, long length, ValueSink sink) {
        input.begin(address, length);
        switch (type) {
            case PayloadLayout.STRING -> {
                sink.begin(Kind.STRING);
                readElements(1, sink);
            }
            case PayloadLayout.LIST, PayloadLayout.LIST_ZIPLIST, PayloadLayout.LIST_OF_ZIPLISTS,
                    PayloadLayout.LIST_OF_LISTPACKS -> {
                sink.begin(Kind.LIST);
                readList(type, sink);
            }
            case PayloadLayout.SET, PayloadLayout.SET_INTEGERS, PayloadLayout.SET_LISTPACK -> {
                sink.begin(Kind.SET);
                readSet(type, sink);
            }
            case PayloadLayout.SORTED_SET, PayloadLayout.SORTED_SET_2, PayloadLayout.SORTED_SET_ZIPLIST,
                    PayloadLayout.SORTED_SET_LISTPACK -> {
                sink.begin(Kind.SORTED_SET);
                readSortedSet(type, sink);
            }
            case PayloadLayout.HASH, PayloadLayout.HASH_ZIPMAP, PayloadLayout.HASH_ZIPLIST,
                    PayloadLayout.HASH_LISTPACK, PayloadLayout.HASH_TIMED_EARLY,
                    PayloadLayout.HASH_TIMED_LISTPACK_EARLY, PayloadLayout.HASH_TIMED,
                    PayloadLayout.HASH_TIMED_LISTPACK, PayloadLayout.HASH_TIMED_VALKEY -> {
                sink.begin(Kind.HASH);
                readHash(type, sink);
            }
            case PayloadLayout.STREAM, PayloadLayout.STREAM_2, PayloadLayout.STREAM_3 -> {
                sink.begin(Kind.STREAM);
                streams.read(type, sink.stream());
            }
            default -> throw new CorruptPayloadException();
        }
    }

    private void readElements(long count, ValueSink sink) {
        for (long i = 0; i < count; i++) {
            input.readText();
            sink.element(input.text(), input.textLength());
        }
    }

    // --- lists and sets

    private void readList(int type, ValueSink sink) {
        switch (type) {
            case PayloadLayout.LIST -> readElements(input.readLength(), sink);
            case PayloadLayout.LIST_ZIPLIST -> readPackedElements(ziplist, sink);
            default -> {
                long nodes = input.readLength();
                for (long i = 0; i < nodes; i++) {
                    readNode(type, sink);
                }
            }
        }
    }

    private void readNode(int type, ValueSink sink) {
        if (type == PayloadLayout.LIST_OF_ZIPLISTS) {
            readPackedElements(ziplist, sink);
            return;
        }
        long container = input.readLength();
        if (container == PayloadLayout.NODE_PLAIN) {
            readElements(1, sink);
        } else {
            PayloadInput.require(container == PayloadLayout.NODE_PACKED);
            readPackedElements(listpack, sink);
        }
    }

    private void readSet(int type, ValueSink sink) {
        switch (type) {
            case PayloadLayout.SET -> readElements(input.readLength(), sink);
            case PayloadLayout.SET_INTEGERS -> readIntegers(sink);
            default -> readPackedElements(listpack, sink);
        }
    }

    /** Reads integers of one width, which precedes their count. */
    private void readIntegers(ValueSink sink) {
        input.readText();
        packed.begin(input.text(), input.textLength());
        int width = packed.readInt();
        long count = packed.readUnsignedInt();
        PayloadInput.require((width == Short.BYTES || width == Integer.BYTES || width == Long.BYTES)
                && packed.left() == count * width);
        for (long i = 0; i < count; i++) {
            packed.writeNumber(width == Short.BYTES
                    ? packed.readShort()
                    : width == Integer.BYTES ? packed.readInt() : packed.readLong());
            sink.element(packed.text(), packed.textLength());
        }
    }

    private void begin(PackedEntries entries) {
        input.readText();
        entries.begin(input.text(), input.textLength());
    }

    private void readPackedElements(PackedEntries entries, ValueSink sink) {
        begin(entries);
        while (entries.next()) {
            sink.element(packed.text(), packed.textLength());
        }
    }

    // --- sorted sets

    private void readSortedSet(int type, ValueSink sink) {
        switch (type) {
            case PayloadLayout.SORTED_SET_ZIPLIST -> readPackedMembers(ziplist, sink);
            case PayloadLayout.SORTED_SET_LISTPACK -> readPackedMembers(listpack, sink);
            default -> {
                long count = input.readLength();
                for (long i = 0; i < count; i++) {
                    input.readText();
                    long member = input.text();
                    int length = input.textLength();
                    double score = type == PayloadLayout.SORTED_SET_2
                            ? Double.longBitsToDouble(input.readLong())
                            : readScore();
                    member(sink, member, length, score);
                }
            }
        }
    }

    private static void member(ValueSink sink, long member, int length, double score) {
        PayloadInput.require(!Double.isNaN(score));
        sink.member(member, length, score);
    }

    /** Reads a score in the old form: text after its length, or a code for a non-finite value. */
    private double readScore() {
        int length = input.readByte();
        return switch (length) {
            case NEGATIVE_INFINITE -> Double.NEGATIVE_INFINITY;
            case INFINITE -> Double.POSITIVE_INFINITY;
            case NOT_A_NUMBER -> Double.NaN;
            default -> DoubleReader.parse(input.skip(length), length);
        };
    }

    private void readPackedMembers(PackedEntries entries, ValueSink sink) {
        begin(entries);
        while (entries.next()) {
            long member = packed.text();
            int length = packed.textLength();
            PayloadInput.require(entries.next());
            member(sink, member, length, DoubleReader.parse(packed.text(), packed.textLength()));
        }
    }

    // --- hashes

    private void readHash(int type, ValueSink sink) {
        switch (type) {
            case PayloadLayout.HASH_ZIPMAP -> readPackedFields(zipmap, sink);
            case PayloadLayout.HASH_ZIPLIST -> readPackedFields(ziplist, sink);
            case PayloadLayout.HASH_LISTPACK -> readPackedFields(listpack, sink);
            case PayloadLayout.HASH_TIMED_LISTPACK_EARLY -> readPackedTimedFields(sink);
            case PayloadLayout.HASH_TIMED_LISTPACK -> {
                readEarliest();
                readPackedTimedFields(sink);
            }
            case PayloadLayout.HASH_TIMED -> readFields(true, readEarliest() - 1, sink);
            case PayloadLayout.HASH_TIMED_EARLY -> readFields(true, 0, sink);
            case PayloadLayout.HASH_TIMED_VALKEY -> readValkeyFields(sink);
            default -> readFields(false, 0, sink);
        }
    }

    /** Reads the time that others are relative to; it is beyond all others if there are none. */
    private long readEarliest() {
        long earliest = input.readLong();
        PayloadInput.require(earliest >= 0 && earliest <= PayloadLayout.LATEST_TIME + 1);
        return earliest;
    }

    /** @param base added to a time that is not 0 */
    private void readFields(boolean areTimed, long base, ValueSink sink) {
        long count = input.readLength();
        for (long i = 0; i < count; i++) {
            long stored = areTimed ? input.readLength() : 0;
            PayloadInput.require(stored <= PayloadLayout.LATEST_TIME);
            long time = stored == 0 ? Item.NEVER : time(base + stored);
            input.readText();
            long field = input.text();
            int length = input.textLength();
            input.readText();
            sink.field(field, length, input.text(), input.textLength(), time);
        }
    }

    private void readValkeyFields(ValueSink sink) {
        long count = input.readLength();
        for (long i = 0; i < count; i++) {
            input.readText();
            long field = input.text();
            int length = input.textLength();
            input.readText();
            long stored = input.readLong();
            sink.field(field, length, input.text(), input.textLength(), stored == -1 ? Item.NEVER : time(stored));
        }
    }

    private static long time(long time) {
        PayloadInput.require(time >= 0 && time <= PayloadLayout.LATEST_TIME);
        return time;
    }

    private void readPackedTimedFields(ValueSink sink) {
        begin(listpack);
        while (listpack.next()) {
            long field = packed.text();
            int length = packed.textLength();
            PayloadInput.require(listpack.next());
            long value = packed.text();
            int valueLength = packed.textLength();
            PayloadInput.require(listpack.next() && Numbers.isLong(packed.text(), packed.textLength()));
            long stored = Numbers.toLong(packed.text(), packed.textLength());
            sink.field(field, length, value, valueLength, stored == 0 ? Item.NEVER : time(stored));
        }
    }

    private void readPackedFields(PackedEntries entries, ValueSink sink) {
        begin(entries);
        while (entries.next()) {
            long field = packed.text();
            int length = packed.textLength();
            PayloadInput.require(entries.next());
            sink.field(field, length, packed.text(), packed.textLength(), Item.NEVER);
        }
    }
}
