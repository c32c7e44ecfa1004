package io.varve.lua.lib.format;

import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;
import io.varve.lua.text.CNumbers;

/** Writes values as MessagePack. Confined to the state's thread. */
final class MessagePackWriter {
    /** Tables that nest deeper become nil. */
    private static final int MAX_NESTING = 16;

    private final LuaState lua;
    private final LuaBuffer out;

    MessagePackWriter(LuaState lua, LuaBuffer out) {
        this.lua = lua;
        this.out = out;
    }

    void write(Object value, int level) {
        lua.tick();
        switch (value) {
            case LuaString string -> writeString(string.array());
            case Double number -> writeNumber(number);
            case Boolean is -> out.append(is ? 0xc3 : 0xc2);
            case LuaTable table when level < MAX_NESTING -> writeTable(table, level);
            case null, default -> out.append(0xc0);
        }
    }

    private void writeTable(LuaTable table, int level) {
        int entries = 0;
        int max = 0;
        boolean isArray = true;
        for (int p = table.nextPosition(0); p > 0; p = table.nextPosition(p)) {
            lua.tick();
            entries++;
            if (isArray) {
                if (table.keyAt(p) instanceof Double number && number > 0 && number == number.intValue()
                        && number <= Integer.MAX_VALUE) {
                    max = Math.max(max, number.intValue());
                } else {
                    isArray = false;
                }
            }
        }
        if (isArray && max == entries) {
            int length = table.length();
            writeLength(length, 0x90, 0xdc);
            for (int i = 1; i <= length; i++) {
                write(lua.index(table, (double) i), level + 1);
            }
            return;
        }
        writeLength(entries, 0x80, 0xde);
        for (int p = table.nextPosition(0); p > 0; p = table.nextPosition(p)) {
            write(table.keyAt(p), level + 1);
            write(table.valueAt(p), level + 1);
        }
    }

    /** Writes the beginning of an array or a map. */
    private void writeLength(int length, int fixed, int first) {
        if (length <= 15) {
            out.append(fixed | length);
        } else if (length <= 0xffff) {
            out.append(first);
            bigEndian(length, 2);
        } else {
            out.append(first + 1);
            bigEndian(length, 4);
        }
    }

    private void writeString(byte[] text) {
        int length = text.length;
        if (length < 32) {
            out.append(0xa0 | length);
        } else if (length <= 0xff) {
            out.append(0xd9).append(length);
        } else if (length <= 0xffff) {
            out.append(0xda);
            bigEndian(length, 2);
        } else {
            out.append(0xdb);
            bigEndian(length, 4);
        }
        Library.tickBytes(lua, length);
        out.append(text);
    }

    private void writeNumber(double number) {
        long integer = CNumbers.toLong(number);
        if (integer == number) {
            if (integer >= 0) {
                writePositive(integer);
            } else {
                writeNegative(integer);
            }
            return;
        }
        float single = (float) number;
        if (single == number) {
            out.append(0xca);
            bigEndian(Float.floatToRawIntBits(single), 4);
        } else {
            out.append(0xcb);
            bigEndian(Double.doubleToRawLongBits(number), 8);
        }
    }

    private void writePositive(long number) {
        if (number <= 127) {
            out.append((int) number);
        } else if (number <= 0xff) {
            out.append(0xcc).append((int) number);
        } else if (number <= 0xffff) {
            out.append(0xcd);
            bigEndian(number, 2);
        } else if (number <= 0xffff_ffffL) {
            out.append(0xce);
            bigEndian(number, 4);
        } else {
            out.append(0xcf);
            bigEndian(number, 8);
        }
    }

    private void writeNegative(long number) {
        if (number >= -32) {
            out.append((int) number);
        } else if (number >= Byte.MIN_VALUE) {
            out.append(0xd0).append((int) number);
        } else if (number >= Short.MIN_VALUE) {
            out.append(0xd1);
            bigEndian(number, 2);
        } else if (number >= Integer.MIN_VALUE) {
            out.append(0xd2);
            bigEndian(number, 4);
        } else {
            out.append(0xd3);
            bigEndian(number, 8);
        }
    }

    private void bigEndian(long bits, int bytes) {
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
            out.append((int) (bits >>> shift));
        }
    }
}
