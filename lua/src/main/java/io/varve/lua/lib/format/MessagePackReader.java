package io.varve.lua.lib.format;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;

/**
 * Reads values of MessagePack. Confined to the state's thread. It keeps the tables that it is in on a stack of its own,
 * which is as deep as C's library allows. A table is put into its parent before it has items, so that the state counts
 * the memory of all of them; only a table that is a key waits for its items.
 */
final class MessagePackReader {
    private static final String TOO_MANY = "too many return values at once; use unpack_one or unpack_limit instead.";
    private static final int MAP = -1;

    private final LuaState lua;
    private final Arguments arguments;
    private final byte[] data;
    private int at;

    // The tables that are open: what is still to be read, the last index of an array, and the key of the next value.
    private LuaTable[] tables = new LuaTable[4];
    private long[] remaining = new long[4];
    private int[] indexes = new int[4];
    private Object[] keys = new Object[4];
    private boolean[] hasKey = new boolean[4];
    private int depth;
    /** How many values C's library would have on its stack. */
    private int stack;
    /** Whether the value that was read last is a table that has been opened. */
    private boolean opened;

    MessagePackReader(LuaState lua, Arguments arguments, byte[] data, int offset) {
        this.lua = lua;
        this.arguments = arguments;
        this.data = data;
        at = offset;
    }

    boolean hasMore() {
        return at < data.length;
    }

    int position() {
        return at;
    }

    /** Reads one value. The number of values on C's stack says how deep it may nest. */
    Object read(int stackNow) {
        stack = stackNow;
        Object root = value();
        lua.root(root);
        while (depth > 0) {
            int top = depth - 1;
            if (remaining[top] == 0) {
                close(top);
            } else if (indexes[top] == MAP) {
                readField(top);
            } else {
                remaining[top]--;
                indexes[top]++;
                stack++;
                readInto(top, LuaNumber.box(indexes[top]));
                if (!opened) {
                    stack--;
                }
            }
        }
        return root;
    }

    private void close(int top) {
        depth--;
        LuaTable table = tables[top];
        tables[top] = null;
        stack--;
        if (depth == 0) {
            return;
        }
        int parent = depth - 1;
        if (indexes[parent] != MAP) {
            stack--;
        } else if (!hasKey[parent]) {
            // The table is a key: it stays on the stack until its value has been read.
            keys[parent] = table;
            hasKey[parent] = true;
            stack++;
        } else {
            hasKey[parent] = false;
            stack--;
        }
    }

    private void readField(int top) {
        if (!hasKey[top]) {
            Object key = value();
            if (!opened) {
                keys[top] = key;
                hasKey[top] = true;
                stack++;
            } else {
                lua.root(key);
            }
            return;
        }
        remaining[top]--;
        readInto(top, keys[top]);
        if (!opened) {
            hasKey[top] = false;
            stack--;
        }
    }

    private void readInto(int top, Object key) {
        LuaTable table = tables[top];
        Object value = value();
        table.set(key, value);
    }

    private void need(long bytes) {
        if (data.length - at < bytes) {
            throw arguments.error("Missing bytes in input.");
        }
    }

    private long bigEndian(int from, int bytes) {
        long bits = 0;
        for (int i = from; i < from + bytes; i++) {
            bits = bits << 8 | data[i] & 0xff;
        }
        return bits;
    }

    /** The value at the present position; of an array or a map the empty table, which is open then. */
    private Object value() {
        opened = false;
        need(1);
        if (stack + 1 > Library.MAX_STACK) {
            throw Library.stackOverflow(arguments, TOO_MANY);
        }
        lua.tick();
        int first = data[at] & 0xff;
        if (first < 0x80 || first >= 0xe0) {
            at++;
            return LuaNumber.box((byte) first);
        }
        if (first < 0x90) {
            at++;
            return open(first & 15, true);
        }
        if (first < 0xa0) {
            at++;
            return open(first & 15, false);
        }
        if (first < 0xc0) {
            return string(1, first & 31);
        }
        return switch (first) {
            case 0xc0 -> constant(null);
            case 0xc2 -> constant(false);
            case 0xc3 -> constant(true);
            case 0xca -> LuaNumber.box((double) Float.intBitsToFloat((int) unsigned(4)));
            case 0xcb -> LuaNumber.box(Double.longBitsToDouble(unsigned(8)));
            case 0xcc -> LuaNumber.box((double) unsigned(1));
            case 0xcd -> LuaNumber.box((double) unsigned(2));
            case 0xce -> LuaNumber.box((double) unsigned(4));
            case 0xcf, 0xd3 -> LuaNumber.box((double) unsigned(8));
            case 0xd0 -> LuaNumber.box((double) (byte) unsigned(1));
            case 0xd1 -> LuaNumber.box((double) (short) unsigned(2));
            case 0xd2 -> LuaNumber.box((double) (int) unsigned(4));
            case 0xd9 -> stringWithLength(1);
            case 0xda -> stringWithLength(2);
            case 0xdb -> stringWithLength(4);
            case 0xdc -> open(unsigned(2), false);
            case 0xdd -> open(unsigned(4), false);
            case 0xde -> open(unsigned(2), true);
            case 0xdf -> open(unsigned(4), true);
            default -> throw arguments.error("Bad data format in input.");
        };
    }

    private Object constant(Object value) {
        at++;
        return value;
    }

    /** The bits after the first byte, which they end. */
    private long unsigned(int bytes) {
        need(1 + bytes);
        long bits = bigEndian(at + 1, bytes);
        at += 1 + bytes;
        return bits;
    }

    private LuaString stringWithLength(int bytes) {
        need(1 + bytes);
        return string(1 + bytes, bigEndian(at + 1, bytes));
    }

    private LuaString string(int header, long length) {
        need(header + length);
        lua.chargeString(length);
        Library.tickBytes(lua, (int) length);
        LuaString string = LuaString.copyOf(data, at + header, (int) length);
        at += header + (int) length;
        return string;
    }

    private LuaTable open(long length, boolean map) {
        LuaTable table = lua.newTable();
        stack++;
        if (!map && stack + 1 > Library.MAX_STACK) {
            throw stackOverflowOfArray();
        }
        if (depth == tables.length) {
            tables = Arrays.copyOf(tables, 2 * depth);
            remaining = Arrays.copyOf(remaining, 2 * depth);
            indexes = Arrays.copyOf(indexes, 2 * depth);
            keys = Arrays.copyOf(keys, 2 * depth);
            hasKey = Arrays.copyOf(hasKey, 2 * depth);
        }
        tables[depth] = table;
        remaining[depth] = length;
        indexes[depth] = map ? MAP : 0;
        hasKey[depth] = false;
        depth++;
        opened = true;
        return table;
    }

    private LuaError stackOverflowOfArray() {
        return Library.stackOverflow(arguments, "in function mp_decode_to_lua_array");
    }
}
