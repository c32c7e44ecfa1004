package io.varve.server.rdb;

/**
 * Reads a zipmap, the oldest form of a small hash. Confined to its reader. It consists of a count that may be too
 * small, alternating fields and values, each after its length, and an end byte. Unused bytes may follow a value.
 */
final class Zipmap implements PackedEntries {
    private static final int END = 0xFF;
    private static final int LARGE = 0xFE;

    private final PayloadInput input;
    private boolean value;

    Zipmap(PayloadInput input) {
        this.input = input;
    }

    @Override
    public void begin(long address, int length) {
        input.begin(address, length);
        input.readByte();
        value = false;
    }

    @Override
    public boolean next() {
        int first = input.readByte();
        if (first == END) {
            PayloadInput.require(input.left() == 0 && !value);
            return false;
        }
        long length = first == LARGE ? input.readUnsignedInt() : first;
        int unused = value ? input.readByte() : 0;
        input.takeText(length);
        input.skip(unused);
        value = !value;
        return true;
    }
}
