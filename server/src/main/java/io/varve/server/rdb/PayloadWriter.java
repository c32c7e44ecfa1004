package io.varve.server.rdb;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.DoubleText;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * Writes a payload of DUMP, in version 10, or 12 for a hash whose fields have times; or, with a {@link Drain}, the
 * entries of an RDB file. Confined to its user; reused.
 *
 * <pre>
 *  string -> text -> end
 *  list -+-> (beginPacked -> entry … -> endPacked) … -> endList -> end
 *  set, hash, sortedSet -> text, score … -> end
 *  timedHash -> (time -> text -> text) … -> end
 *  integers -> integer … -> end
 *  packedHash, packedSortedSet -> beginPacked -> entry, scoreEntry … -> endPacked -> end
 *  stream -> (blockId -> text) … -> number, text, id, millis … -> end
 * </pre>
 *
 * <p>In a file, {@link #entry} precedes each value and nothing follows it.
 */
public final class PayloadWriter {
    /** A listpack in a list is closed at this size. */
    private static final int NODE_BYTES = 8 << 10;
    private static final int LONGEST_NUMBER = 11;
    /** Larger than an entry that is a score. */
    private static final int SCORE_BYTES = 2 * DoubleText.MAX_CHARS;
    private static final int WIDE_LENGTH = 0x80;
    private static final int WIDE_LENGTH_BYTES = 1 + Integer.BYTES;

    /** Takes the bytes of a file. Confined to its user. */
    @FunctionalInterface
    public interface Drain {
        /** Takes bytes, which change after the call. */
        void take(long address, long length);
    }

    /** A file's bytes are drained when there are this many. */
    private static final int DRAINED_BYTES = 64 << 10;
    /** Shorter texts are not compressed, as in Redis. */
    private static final int MIN_COMPRESSED_BYTES = 20;
    /** Longer texts are not compressed: a command may wait meanwhile. */
    private static final int MAX_COMPRESSED_BYTES = 64 << 10;
    private static final int COMPRESSED = 0xC3;
    private static final int MAX_HEAD_BYTES = 2 * (1 + Long.BYTES) + 1;

    private final GrowingMemory memory;
    private final @Nullable Drain drain;
    private final LzfPacker packer = new LzfPacker();
    private boolean compresses;
    /** Whether bytes behind the current ones are set later, so that nothing can be drained. */
    private boolean isPatching;
    private long base;
    private static final int STEP_BYTES = 256;

    private long capacity;
    private long at;
    /** Address of the list's node count, and the count so far. */
    private long nodesAt;
    private int nodes;
    /** Address of the listpack's length, and its entry count so far. */
    private long packedAt;
    private int entries;
    private int width;
    private int version;
    private long earliestTime;

    /** A writer of payloads. */
    public PayloadWriter(GrowingMemory memory) {
        this.memory = memory;
        drain = null;
    }

    /**
     * A writer of a file's entries.
     *
     * @param memory grows to some 64 KB, or a little more than the largest packed value
     */
    public PayloadWriter(GrowingMemory memory, Drain drain) {
        this.memory = memory;
        this.drain = drain;
    }

    // --- files

    /** Whether texts and packed values are compressed by LZF where that saves memory. */
    public void compresses(boolean compress) {
        compresses = compress;
    }

    /**
     * Writes the head of a file.
     *
     * @param version 10, or 12 if it will hold a hash whose fields have times
     */
    public void head(int version) {
        for (byte letter : (RdbFileLayout.MAGIC + "00" + version).getBytes(StandardCharsets.US_ASCII)) {
            putByte(letter);
        }
    }

    /** The version of a file. */
    public static int version(boolean hasTimedHashes) {
        return hasTimedHashes ? PayloadLayout.TIMED_VERSION : PayloadLayout.VERSION;
    }

    public void auxiliary(String name, String value) {
        putByte(RdbFileLayout.AUXILIARY);
        ascii(name);
        ascii(value);
    }

    private void ascii(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        putLength(bytes.length);
        for (byte each : bytes) {
            putByte(each);
        }
    }

    /** Writes a library of functions to a file, before the entries. */
    public void library(long source, int length) {
        putByte(RdbFileLayout.FUNCTION);
        text(source, length);
    }

    public void selectDatabase(int database) {
        putByte(RdbFileLayout.SELECT_DATABASE);
        putLength(database);
    }

    /** Announces the numbers of keys of the selected database. */
    public void sizes(long keys, long expiring) {
        putByte(RdbFileLayout.RESIZE_DATABASE);
        putLength(keys);
        putLength(expiring);
    }

    /**
     * Announces the key of the next value.
     *
     * @param expireAtMillis the key's expiry time, ms since the epoch, or {@link Item#NEVER}
     * @param idleSeconds seconds since its last access; -1 if unknown
     * @param frequency its logarithmic access count, 0 to 255; -1 if unknown
     * @param isPinned whether it is never evicted
     */
    public void entry(long key, int keyLength, long expireAtMillis, long idleSeconds, int frequency,
            boolean isPinned) {
        if (isPinned) {
            auxiliary(RdbFileLayout.PINNED, RdbFileLayout.YES);
        }
        if (expireAtMillis != Item.NEVER) {
            putByte(RdbFileLayout.EXPIRE_MILLIS);
            putLong(expireAtMillis);
        }
        if (idleSeconds >= 0) {
            putByte(RdbFileLayout.IDLE);
            putLength(idleSeconds);
        }
        if (frequency >= 0) {
            putByte(RdbFileLayout.FREQUENCY);
            putByte(frequency);
        }
        keyAddress = key;
        this.keyLength = keyLength;
    }

    /** Ends the entries; the checksum follows, {@link Crc64} of all bytes so far or zero, eight bytes. */
    public void endEntries() {
        putByte(RdbFileLayout.END);
        drainAll();
    }

    /** Drains everything that was written. */
    public void drainAll() {
        long length = at;
        at = 0;
        Objects.requireNonNull(drain).take(base, length);
    }

    private void drainIfFull() {
        if (drain != null && !isPatching && at >= DRAINED_BYTES) {
            drainAll();
        }
    }

    private long keyAddress;
    private int keyLength;

    // --- types

    private void begin(int type) {
        version = PayloadLayout.VERSION;
        if (drain == null) {
            at = 0;
            capacity = 0;
            putByte(type);
            return;
        }
        drainIfFull();
        putByte(type);
        text(keyAddress, keyLength);
    }

    public void string() {
        begin(PayloadLayout.STRING);
    }

    public void list() {
        begin(PayloadLayout.LIST_OF_LISTPACKS);
        nodesAt = at;
        nodes = 0;
        isPatching = true;
        putWideLength(0);
    }

    /** Begins a list of texts: the old form, which needs no memory for the whole list. For files. */
    public void plainList(long count) {
        begin(PayloadLayout.LIST);
        putLength(count);
    }

    /** Whether this writes a file. */
    public boolean isFile() {
        return drain != null;
    }

    public void endList() {
        putBigEndian(base + nodesAt + 1, nodes);
        isPatching = false;
    }

    public void set(long count) {
        begin(PayloadLayout.SET);
        putLength(count);
    }

    public void hash(long count) {
        begin(PayloadLayout.HASH);
        putLength(count);
    }

    /**
     * Begins a hash whose fields have expiry times.
     *
     * @param earliest the earliest of these times, milliseconds since the epoch
     */
    public void timedHash(long count, long earliest) {
        begin(PayloadLayout.HASH_TIMED);
        version = PayloadLayout.TIMED_VERSION;
        earliestTime = earliest;
        putLong(earliest);
        putLength(count);
    }

    /** The expiry time of the next field, or {@link Item#NEVER}. */
    public void time(long time) {
        putLength(time == Item.NEVER ? 0 : time - earliestTime + 1);
    }

    public void sortedSet(long count) {
        begin(PayloadLayout.SORTED_SET_2);
        putLength(count);
    }

    /** Begins a stream, whose blocks, numbers and groups follow in the order that {@link StreamReader} draws. */
    public void stream(long blocks) {
        begin(PayloadLayout.STREAM_2);
        putLength(blocks);
    }

    /** Writes the ID of a stream's block. */
    public void blockId(long ms, long seq) {
        putLength(StreamReader.ID_BYTES);
        id(ms, seq);
    }

    /** Writes the ID of a pending entry. */
    public void id(long ms, long seq) {
        putLong(Long.reverseBytes(ms));
        putLong(Long.reverseBytes(seq));
        drainIfFull();
    }

    /** Writes an unsigned number of a stream. */
    public void number(long value) {
        if (value < 0) {
            putByte(WIDE_LENGTH | 1);
            putLong(Long.reverseBytes(value));
        } else {
            putLength(value);
        }
    }

    /** Writes a time of a stream, milliseconds since the epoch. */
    public void millis(long time) {
        putLong(time);
    }

    public void packedHash() {
        begin(PayloadLayout.HASH_LISTPACK);
    }

    public void packedSortedSet() {
        begin(PayloadLayout.SORTED_SET_LISTPACK);
    }

    /**
     * Begins a set of integers, which follow in ascending order.
     *
     * @param min the first of them
     * @param greatest the last of them
     */
    public void integers(int count, long min, long greatest) {
        begin(PayloadLayout.SET_INTEGERS);
        width = min >= Short.MIN_VALUE && greatest <= Short.MAX_VALUE
                ? Short.BYTES
                : min >= Integer.MIN_VALUE && greatest <= Integer.MAX_VALUE ? Integer.BYTES : Long.BYTES;
        putLength(2L * Integer.BYTES + (long) count * width);
        putInt(width);
        putInt(count);
    }

    public void integer(long value) {
        require(Long.BYTES);
        Memory.putLong(base + at, value);
        at += width;
    }

    // --- texts

    /** Writes a string of any length; short numbers are written as numbers. */
    public void text(long address, int length) {
        if (length <= LONGEST_NUMBER && Numbers.isLong(address, length)) {
            long value = Numbers.toLong(address, length);
            if (value == (int) value) {
                putNumber((int) value);
                return;
            }
        }
        if (compresses && length > MIN_COMPRESSED_BYTES && length <= MAX_COMPRESSED_BYTES
                && putCompressed(address, length)) {
            drainIfFull();
            return;
        }
        putLength(length);
        if (drain != null && !isPatching && length > DRAINED_BYTES) {
            drainAll();
            drain.take(address, length);
            return;
        }
        putBytes(address, length);
        drainIfFull();
    }

    /** @return false, with nothing written, if the compressed form is hardly shorter */
    private boolean putCompressed(long address, int length) {
        require(MAX_HEAD_BYTES + (long) length);
        int packed = packer.pack(address, length, base + at + MAX_HEAD_BYTES);
        if (packed == 0) {
            return false;
        }
        long from = base + at + MAX_HEAD_BYTES;
        putByte(COMPRESSED);
        putLength(packed);
        putLength(length);
        Memory.copy(from, base + at, packed);
        at += packed;
        return true;
    }

    private void putNumber(int value) {
        if (value == (byte) value) {
            putByte(0xC0);
            putByte(value);
        } else if (value == (short) value) {
            putByte(0xC1);
            putShort(value);
        } else {
            putByte(0xC2);
            putInt(value);
        }
    }

    /** Writes a score after its member. */
    public void score(double score) {
        putLong(Double.doubleToRawLongBits(score));
    }

    // --- listpacks

    /** Begins the listpack of a hash or a sorted set. */
    public void beginPacked() {
        packedAt = at;
        entries = 0;
        isPatching = true;
        putWideLength(0);
        putInt(0);
        putShort(0);
    }

    public void endPacked() {
        putByte(Listpack.END);
        long listpack = packedAt + WIDE_LENGTH_BYTES;
        int length = Math.toIntExact(at - listpack);
        putBigEndian(base + packedAt + 1, length);
        Memory.putInt(base + listpack, length);
        Memory.putShort(base + listpack + Integer.BYTES, (short) Math.min(entries, Listpack.UNCOUNTED));
        isPatching = false;
        if (compresses && length > MIN_COMPRESSED_BYTES && length <= MAX_COMPRESSED_BYTES) {
            compress(listpack, length);
        }
    }

    /** Replaces the listpack that was written last by its compressed form, if that is shorter. */
    private void compress(long listpack, int length) {
        long packedFrom = packedAt;
        long end = at;
        require(MAX_HEAD_BYTES + (long) length);
        if (putCompressed(base + listpack, length)) {
            long written = at - end;
            Memory.copy(base + end, base + packedFrom, written);
            at = packedFrom + written;
        }
    }

    /** Writes a list element to a listpack that has space for it. */
    public void element(long address, int length) {
        if (entries > 0 && nodes > 0 && at - packedAt + length > NODE_BYTES) {
            endPacked();
            entries = 0;
        }
        if (nodes == 0 || entries == 0) {
            putByte(PayloadLayout.NODE_PACKED);
            beginPacked();
            nodes++;
        }
        entry(address, length);
    }

    /** Ends the list. */
    public void endElements() {
        endPacked();
        endList();
    }

    /** Writes an entry of a listpack; numbers are written as numbers. */
    public void entry(long address, int length) {
        long from = at;
        if (length <= Numbers.MAX_LONG_CHARS && Numbers.isLong(address, length)) {
            putIntegerEntry(Numbers.toLong(address, length));
        } else {
            if (length < 1 << 6) {
                putByte(0x80 | length);
            } else if (length < 1 << 12) {
                putByte(0xE0 | length >> 8);
                putByte(length);
            } else {
                putByte(0xF0);
                putInt(length);
            }
            putBytes(address, length);
        }
        endEntry(from);
    }

    /** Writes an entry that is a score. */
    public void scoreEntry(double score) {
        // The text is written after its place and then copied; space for both is reserved, so that nothing moves in
        // between.
        require(4L * SCORE_BYTES);
        long text = base + at + SCORE_BYTES;
        entry(text, DoubleText.put(text, score));
    }

    private void putIntegerEntry(long value) {
        if (value >= 0 && value <= 127) {
            putByte((int) value);
        } else if (value >= -4096 && value <= 4095) {
            putByte(0xC0 | (int) (value >> 8) & 0x1F);
            putByte((int) value);
        } else if (value == (short) value) {
            putByte(0xF1);
            putShort((int) value);
        } else if (value >= -(1 << 23) && value < 1 << 23) {
            putByte(0xF2);
            putShort((int) value);
            putByte((int) (value >> 16));
        } else if (value == (int) value) {
            putByte(0xF3);
            putInt((int) value);
        } else {
            putByte(0xF4);
            putLong(value);
        }
    }

    private void endEntry(long from) {
        long length = at - from;
        int bytes = Listpack.lengthBytes(length);
        for (int i = bytes - 1; i >= 0; i--) {
            putByte((int) (length >>> 7 * i) & 0x7F | (i == bytes - 1 ? 0 : 0x80));
        }
        entries++;
    }

    // --- end

    /** Ends the payload. @return its length in bytes; it begins at the start of the memory */
    public int end() {
        putShort(version);
        putLong(Crc64.of(base, at));
        return Math.toIntExact(at);
    }

    // --- bytes

    private void require(long more) {
        if (at + more > capacity) {
            // PayloadMemory chooses its growth step, and it grows seldom.
            capacity = at + more + STEP_BYTES;
            base = memory.require(capacity);
        }
    }

    private void putByte(int value) {
        require(1);
        Memory.putByte(base + at++, (byte) value);
    }

    private void putShort(int value) {
        require(Short.BYTES);
        Memory.putShort(base + at, (short) value);
        at += Short.BYTES;
    }

    private void putInt(int value) {
        require(Integer.BYTES);
        Memory.putInt(base + at, value);
        at += Integer.BYTES;
    }

    private void putLong(long value) {
        require(Long.BYTES);
        Memory.putLong(base + at, value);
        at += Long.BYTES;
    }

    private void putBytes(long address, int length) {
        require(length);
        Memory.copy(address, base + at, length);
        at += length;
    }

    private void putLength(long length) {
        if (length < 1 << 6) {
            putByte((int) length);
        } else if (length < 1 << 14) {
            putByte(0x40 | (int) (length >> 8));
            putByte((int) length);
        } else if (length <= 0xFFFF_FFFFL) {
            putWideLength((int) length);
        } else {
            putByte(WIDE_LENGTH | 1);
            putLong(Long.reverseBytes(length));
        }
    }

    /** Writes a length that is set later. */
    private void putWideLength(int length) {
        putByte(WIDE_LENGTH);
        putInt(Integer.reverseBytes(length));
    }

    private static void putBigEndian(long address, int value) {
        Memory.putInt(address, Integer.reverseBytes(value));
    }
}
