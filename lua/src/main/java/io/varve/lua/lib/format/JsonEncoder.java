package io.varve.lua.lib.format;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LightUserdata;
import io.varve.lua.LuaError;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;
import io.varve.lua.text.CNumbers;
import io.varve.lua.text.Printf;

/**
 * Writes one value as JSON. Confined to the state's thread. It keeps the tables that it is in on a stack of its own, so
 * that a script's settings decide how deep they nest.
 */
final class JsonEncoder {
    private static final byte[][] ESCAPES = escapes();
    private static final int NO_ARRAY = -1;

    private final LuaState lua;
    private final Arguments arguments;
    private final JsonSettings settings;
    private final LuaBuffer out;

    // The tables that are open. An array's length is positive; the place is its last index, or the position of a key.
    private LuaTable[] tables = new LuaTable[8];
    private int[] lengths = new int[8];
    private int[] places = new int[8];
    private int depth;
    /** How many values C's library would have on its stack. */
    private int stack = 1;

    JsonEncoder(LuaState lua, Arguments arguments, JsonSettings settings, LuaBuffer out) {
        this.lua = lua;
        this.arguments = arguments;
        this.settings = settings;
        this.out = out;
    }

    void encode(Object value) {
        write(value);
        while (depth > 0) {
            lua.tick();
            int top = depth - 1;
            if (lengths[top] > 0) {
                nextItem(top);
            } else {
                nextField(top);
            }
        }
    }

    private void nextItem(int top) {
        int index = ++places[top];
        if (index > lengths[top]) {
            out.append(']');
            depth--;
            stack--;
            return;
        }
        if (index > 1) {
            out.append(',');
        }
        write(tables[top].get(index));
    }

    private void nextField(int top) {
        LuaTable table = tables[top];
        int before = places[top];
        int position = table.nextPosition(before);
        if (position <= 0) {
            out.append('}');
            depth--;
            stack -= 2;
            return;
        }
        places[top] = position;
        if (before > 0) {
            out.append(',');
        }
        Object key = table.keyAt(position);
        if (key instanceof LuaString string) {
            writeString(string.array());
            out.append(':');
        } else if (key instanceof Double number) {
            out.append('"');
            writeNumber(number);
            out.append("\":");
        } else {
            throw cannotSerialise(key, "table key must be a number or string");
        }
        write(table.valueAt(position));
    }

    /** Writes a value, of a table only its beginning. */
    private void write(Object value) {
        switch (value) {
            case LuaString string -> writeString(string.array());
            case Double number -> writeNumber(number);
            case Boolean is -> out.append(is ? "true" : "false");
            case LuaTable table -> open(table);
            case null -> out.append("null");
            default -> {
                if (value != LightUserdata.NULL) {
                    throw cannotSerialise(value, "type not supported");
                }
                out.append("null");
            }
        }
    }

    private void open(LuaTable table) {
        if (depth + 1 > settings.encodeMaxDepth || stack + 3 > Library.MAX_STACK) {
            throw arguments.error("Cannot serialise, excessive nesting (" + (depth + 1) + ")");
        }
        int length = arrayLength(table);
        if (depth == tables.length) {
            tables = Arrays.copyOf(tables, 2 * depth);
            lengths = Arrays.copyOf(lengths, 2 * depth);
            places = Arrays.copyOf(places, 2 * depth);
        }
        tables[depth] = table;
        lengths[depth] = length;
        places[depth] = 0;
        depth++;
        stack += length > 0 ? 1 : 2;
        out.append(length > 0 ? '[' : '{');
    }

    /** The greatest index if all keys are positive integers and the table is not too sparse. */
    private int arrayLength(LuaTable table) {
        int max = 0;
        int items = 0;
        for (int p = table.nextPosition(0); p > 0; p = table.nextPosition(p)) {
            lua.tick();
            if (!(table.keyAt(p) instanceof Double number) || number < 1 || Math.floor(number) != number) {
                return NO_ARRAY;
            }
            if (number > max) {
                // An index beyond the range of int becomes negative, as in C, and the table an object.
                max = CNumbers.toIntDirectly(number);
            }
            items++;
        }
        if (settings.sparseRatio > 0 && max > items * settings.sparseRatio && max > settings.sparseSafe) {
            if (settings.sparseConvert == 0) {
                throw cannotSerialise(table, "excessively sparse array");
            }
            return NO_ARRAY;
        }
        return max;
    }

    private void writeNumber(double number) {
        boolean isNan = Double.isNaN(number);
        if (isNan || Double.isInfinite(number)) {
            if (settings.encodeInvalidNumbers == JsonSettings.REFUSE) {
                throw cannotSerialise(number, "must not be NaN or Inf");
            }
            if (settings.encodeInvalidNumbers == JsonSettings.AS_NULL) {
                out.append("null");
                return;
            }
            if (isNan) {
                out.append("nan");
                return;
            }
        }
        Printf.general(out, number, settings.encodePrecision);
    }

    private void writeString(byte[] text) {
        Library.tickBytes(lua, text.length);
        out.append('"');
        int copied = 0;
        for (int i = 0; i < text.length; i++) {
            byte[] escape = ESCAPES[text[i] & 0xff];
            if (escape != null) {
                out.append(text, copied, i - copied).append(escape);
                copied = i + 1;
            }
        }
        out.append(text, copied, text.length - copied).append('"');
    }

    private LuaError cannotSerialise(Object value, String problem) {
        return arguments.error("Cannot serialise " + LuaState.typeName(value) + ": " + problem);
    }

    private static byte[][] escapes() {
        byte[][] escapes = new byte[256][];
        for (int i = 0; i <= 127; i++) {
            char letter = switch (i) {
                case '\b' -> 'b';
                case '\t' -> 't';
                case '\n' -> 'n';
                case '\f' -> 'f';
                case '\r' -> 'r';
                case '"', '/', '\\' -> (char) i;
                default -> 0;
            };
            if (letter != 0) {
                escapes[i] = new byte[] {'\\', (byte) letter};
            } else if (i < ' ' || i == 127) {
                escapes[i] = LuaString.of("\\u00" + Character.forDigit(i >> 4, 16) + Character.forDigit(i & 15, 16))
                        .array();
            }
        }
        return escapes;
    }
}
