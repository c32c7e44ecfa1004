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

    private void unpack() {
        long packed = readLength();
        long length = readLength();
        require(packed <= left() && length <= LONGEST_TEXT && length <= packed * Lzf.MAX_EXPANSION);
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
