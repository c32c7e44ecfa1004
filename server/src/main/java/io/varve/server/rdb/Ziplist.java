package io.varve.server.rdb;

/**
 * Reads a ziplist, the predecessor of the listpack. Confined to its reader. It consists of its length in bytes, the
 * offset of the last entry, the count of entries (65535 stands for that many or more), the entries, an end byte.
 *
 * <p>An entry consists of the length of the previous one, a type, which holds a number or a length or is followed by
 * one, and the bytes.
 */
final class Ziplist implements PackedEntries {
    private static final int END = 0xFF;
    private static final int UNCOUNTED = 0xFFFF;
    private static final int LARGE = 0xFE;

    private final PayloadInput input;
    private int count;
    private int seen;
    private long entryInFront;

    Ziplist(PayloadInput input) {
        this.input = input;
    }

    @Override
    public void begin(long address, int length) {
        input.begin(address, length);
        PayloadInput.require(input.readUnsignedInt() == length);
        input.readInt();
        count = input.readUnsignedShort();
        seen = 0;
        entryInFront = 0;
    }

    @Override
    public boolean next() {
        if (input.peekByte() == END) {
            PayloadInput.require(input.left() == 1 && (count == UNCOUNTED || count == seen));
            return false;
        }
        long from = input.at();
        int inFront = input.readByte();
        PayloadInput.require((inFront == LARGE ? input.readUnsignedInt() : inFront) == entryInFront);
        readEntry(input.readByte());
        entryInFront = input.at() - from;
        seen++;
        return true;
    }

    private void readEntry(int type) {
        switch (type >>> 6) {
            case 0 -> input.takeText(type);
            case 1 -> input.takeText((type & 0x3F) << 8 | input.readByte());
            case 2 -> {
                PayloadInput.require(type == 0x80);
                input.takeText(Integer.reverseBytes(input.readInt()) & 0xFFFF_FFFFL);
            }
            default -> readNumber(type);
        }
    }

    private void readNumber(int type) {
        switch (type) {
            case 0xC0 -> input.writeNumber(input.readShort());
            case 0xD0 -> input.writeNumber(input.readInt());
            case 0xE0 -> input.writeNumber(input.readLong());
            case 0xF0 -> input.writeNumber(input.readMedium());
            case 0xFE -> input.writeNumber((byte) input.readByte());
            default -> {
                PayloadInput.require(type >= 0xF1 && type <= 0xFD);
                input.writeNumber((type & 0x0F) - 1L);
            }
        }
    }
}
