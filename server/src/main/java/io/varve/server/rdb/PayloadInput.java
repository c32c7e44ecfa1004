package io.varve.server.rdb;

import io.varve.memory.offheap.Memory;
import io.varve.server.resp.Numbers;

/**
 * A read position in a payload, or in a packed form within it, which never passes the end. Confined to its reader.
 *
 * <p>A length is 6 or 14 bits after two bits that say so, or 32 or 64 bits in network order. A string may instead be a
 * number of 8, 16 or 32 bits, or compressed by LZF.
 */
final class PayloadInput {
    private static final int LONGEST_TEXT = Integer.MAX_VALUE - 64;

    private final PayloadMemory memory;
    private long at;
    private long end;
    private long text;
    private int textLength;

    PayloadInput(PayloadMemory memory) {
        this.memory = memory;
    }

    void begin(long address, long length) {
        at = address;
        end = address + length;
    }

    long at() {
        return at;
    }

    long left() {
        return end - at;
    }

    static void require(boolean good) {
        if (!good) {
            throw new CorruptPayloadException();
        }
    }

    /** Skips bytes, which must exist. @return their address */
    long skip(long bytes) {
        require(bytes >= 0 && bytes <= left());
        long from = at;
        at += bytes;
        return from;
    }

    int readByte() {
        return Memory.getByte(skip(1)) & 0xFF;
    }

    /** The next byte, without moving. */
    int peekByte() {
        require(left() > 0);
        return Memory.getByte(at) & 0xFF;
    }

    int readShort() {
        return Memory.getShort(skip(Short.BYTES));
    }

    int readUnsignedShort() {
        return readShort() & 0xFFFF;
    }

    int readInt() {
        return Memory.getInt(skip(Integer.BYTES));
    }

    long readUnsignedInt() {
        return readInt() & 0xFFFF_FFFFL;
    }

    long readLong() {
        return Memory.getLong(skip(Long.BYTES));
    }

    /** A signed number of three bytes. */
    int readMedium() {
        long from = skip(3);
        return Memory.getByte(from) & 0xFF | (Memory.getByte(from + 1) & 0xFF) << 8 | Memory.getByte(from + 2) << 16;
    }

    /** A length or a count. */
    long readLength() {
        int first = readByte();
        return switch (first >>> 6) {
            case 0 -> first;
            case 1 -> (first & 0x3F) << 8 | readByte();
            case 2 -> readLongLength(first);
            default -> throw new CorruptPayloadException();
        };
    }

    /** A number of 64 bits that is stored as a length, and may be larger than one. */
    long readUnsigned() {
        if (peekByte() == 0x81) {
            skip(1);
            return Long.reverseBytes(readLong());
        }
        return readLength();
    }

    private long readLongLength(int first) {
        require(first == 0x80 || first == 0x81);
        long length = first == 0x80
                ? Integer.reverseBytes(readInt()) & 0xFFFF_FFFFL
                : Long.reverseBytes(readLong());
        require(length >= 0);
        return length;
    }

    /** Reads a string: {@link #text} and {@link #textLength} then locate it. */
    void readText() {
        int first = peekByte();
        if (first >>> 6 < 3) {
            long length = readLength();
            require(length <= LONGEST_TEXT);
            text = skip(length);
            textLength = (int) length;
            return;
        }
        skip(1);
        switch (first & 0x3F) {
            case 0 -> writeNumber((byte) readByte());
            case 1 -> writeNumber(readShort());
            case 2 -> writeNumber(readInt());
            case 3 -> unpack();
            default -> throw new CorruptPayloadException();
        }
    }

    /** Moves behind a string. */
    void skipText() {
        int first = peekByte();
        if (first >>> 6 < 3) {
            skip(readLength());
            return;
        }
        skip(1);
        switch (first & 0x3F) {
            case 0 -> skip(1);
            case 1 -> skip(Short.BYTES);
            case 2 -> skip(Integer.BYTES);
            case 3 -> {
                long packed = readLength();
                readLength();
                skip(packed);
            }
            default -> throw new CorruptPayloadException();
        }
    }

    /** Moves behind a value of a type. */
    void skipValue(int type) {
        switch (type) {
            case PayloadLayout.STRING, PayloadLayout.HASH_ZIPMAP, PayloadLayout.LIST_ZIPLIST,
                    PayloadLayout.SET_INTEGERS, PayloadLayout.SORTED_SET_ZIPLIST, PayloadLayout.HASH_ZIPLIST,
                    PayloadLayout.HASH_LISTPACK, PayloadLayout.SORTED_SET_LISTPACK, PayloadLayout.SET_LISTPACK,
                    PayloadLayout.HASH_TIMED_LISTPACK_EARLY ->
                skipText();
            case PayloadLayout.HASH_TIMED_LISTPACK -> {
                skip(Long.BYTES);
                skipText();
            }
            case PayloadLayout.HASH_TIMED -> {
                skip(Long.BYTES);
                skipElements(type, readLength());
            }
            case PayloadLayout.LIST, PayloadLayout.SET, PayloadLayout.SORTED_SET, PayloadLayout.HASH,
                    PayloadLayout.SORTED_SET_2, PayloadLayout.LIST_OF_ZIPLISTS, PayloadLayout.LIST_OF_LISTPACKS,
                    PayloadLayout.HASH_TIMED_EARLY, PayloadLayout.HASH_TIMED_VALKEY ->
                skipElements(type, readLength());
            case PayloadLayout.STREAM, PayloadLayout.STREAM_2, PayloadLayout.STREAM_3 -> skipStream(type);
            default -> throw new CorruptPayloadException();
        }
    }

    private void skipStream(int type) {
        for (long blocks = readLength(); blocks > 0; blocks--) {
            skipText();
            skipText();
        }
        skipNumbers(type == PayloadLayout.STREAM ? StreamReader.FIRST_NUMBERS : StreamReader.NUMBERS);
        for (long groups = readLength(); groups > 0; groups--) {
            skipText();
            skipNumbers(type == PayloadLayout.STREAM ? 2 : 3);
            for (long pending = readLength(); pending > 0; pending--) {
                skip(StreamReader.ID_BYTES + Long.BYTES);
                readUnsigned();
            }
            for (long consumers = readLength(); consumers > 0; consumers--) {
                skipText();
                skip(type == PayloadLayout.STREAM_3 ? 2 * Long.BYTES : Long.BYTES);
                long owned = readLength();
                require(owned <= left() / StreamReader.ID_BYTES);
                skip(owned * StreamReader.ID_BYTES);
            }
        }
    }

    private void skipNumbers(int count) {
        for (int i = 0; i < count; i++) {
            readUnsigned();
        }
    }

    private void skipElements(int type, long count) {
        for (long i = 0; i < count; i++) {
            if (type == PayloadLayout.HASH_TIMED || type == PayloadLayout.HASH_TIMED_EARLY
                    || type == PayloadLayout.LIST_OF_LISTPACKS) {
                readLength();
            }
            skipText();
            switch (type) {
                case PayloadLayout.SORTED_SET -> {
                    int length = readByte();
                    skip(length >= PayloadLayout.FIRST_SCORE_CODE ? 0 : length);
                }
                case PayloadLayout.SORTED_SET_2 -> skip(Long.BYTES);
                case PayloadLayout.HASH, PayloadLayout.HASH_TIMED, PayloadLayout.HASH_TIMED_EARLY -> skipText();
                case PayloadLayout.HASH_TIMED_VALKEY -> {
                    skipText();
                    skip(Long.BYTES);
                }
                default -> {
                    // The text is the whole element.
                }
            }
        }
    }

    private void unpack() {
        long packed = readLength();
        long length = readLength();
        require(packed <= left() && packed <= LONGEST_TEXT && length <= LONGEST_TEXT
                && length <= packed * Lzf.MAX_EXPANSION);
        textLength = (int) length;
        text = memory.take(textLength);
        Lzf.unpack(skip(packed), (int) packed, text, textLength);
    }

    /** Makes the decimal form of a number the current text. */
    void writeNumber(long value) {
        textLength = Numbers.longChars(value);
        text = memory.take(textLength);
        Numbers.putLong(text, value);
    }

    /** Makes the next bytes the current text. */
    void takeText(long length) {
        require(length <= LONGEST_TEXT);
        text = skip(length);
        textLength = (int) length;
    }

    long text() {
        return text;
    }

    int textLength() {
        return textLength;
    }
}
