package io.varve.server.rdb;

/**
 * Reads a listpack: its length in bytes, its count of entries (65535 stands for that many or more), the entries, an end
 * byte. Confined to its reader.
 *
 * <p>An entry consists of a type, which holds a number or a length or is followed by one, and the bytes. The length of
 * both follows, seven bits a byte, for readers that walk backwards.
 */
final class Listpack implements PackedEntries {
    static final int HEADER_BYTES = 6;
    static final int END = 0xFF;
    static final int UNCOUNTED = 0xFFFF;

    private final PayloadInput input;
    private int count;
    private int seen;

    Listpack(PayloadInput input) {
        this.input = input;
    }

    @Override
    public void begin(long address, int length) {
        input.begin(address, length);
        PayloadInput.require(input.readUnsignedInt() == length);
        count = input.readUnsignedShort();
        seen = 0;
    }

    @Override
    public boolean next() {
        long from = input.at();
        int type = input.readByte();
        if (type == END) {
            PayloadInput.require(input.left() == 0 && (count == UNCOUNTED || count == seen));
            return false;
        }
        readEntry(type);
        skipLength(input, input.at() - from);
        seen++;
        return true;
    }

    private void readEntry(int type) {
        if (type < 0x80) {
            input.writeNumber(type);
        } else if (type < 0xC0) {
            input.takeText(type & 0x3F);
        } else if (type < 0xE0) {
            int bits = (type & 0x1F) << 8 | input.readByte();
            // Thirteen bits with a sign.
            input.writeNumber(bits << 19 >> 19);
        } else if (type < 0xF0) {
            input.takeText((type & 0x0F) << 8 | input.readByte());
        } else {
            switch (type) {
                case 0xF0 -> input.takeText(input.readUnsignedInt());
                case 0xF1 -> input.writeNumber(input.readShort());
                case 0xF2 -> input.writeNumber(input.readMedium());
                case 0xF3 -> input.writeNumber(input.readInt());
                case 0xF4 -> input.writeNumber(input.readLong());
                default -> throw new CorruptPayloadException();
            }
        }
    }

    /** Number of bytes of the length that follows an entry. */
    static int lengthBytes(long entryBytes) {
        return entryBytes <= 127
                ? 1
                : entryBytes < 16383 ? 2 : entryBytes < 2097151 ? 3 : entryBytes < 268435455 ? 4 : 5;
    }

    /** Skips the length behind an entry, which must be right. */
    static void skipLength(PayloadInput input, long entryBytes) {
        int bytes = lengthBytes(entryBytes);
        for (int i = bytes - 1; i >= 0; i--) {
            int expected = (int) (entryBytes >>> 7 * i) & 0x7F | (i == bytes - 1 ? 0 : 0x80);
            PayloadInput.require(input.readByte() == expected);
        }
    }
}
