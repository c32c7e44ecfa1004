package io.varve.lua.lib.format;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;
import io.varve.lua.text.CNumbers;

/** The library {@code struct}: values as C structures lay them out on x86. Stateless. */
// Cases that return and cases that go on are mixed, as in the formats that they read.
@SuppressWarnings("StatementSwitchToExpressionSwitch")
public final class StructLibrary {
    private StructLibrary() {}

    /** Adds the library to the globals. */
    public static void install(LuaState lua, LuaTable globals) {
        LuaTable struct = lua.newTable();
        Library.register(struct, "pack", StructLibrary::pack);
        Library.register(struct, "size", StructLibrary::size);
        Library.register(struct, "unpack", StructLibrary::unpack);
        Library.publish(globals, "struct", struct);
    }

    private static Object pack(LuaState lua, Arguments arguments) {
        StructFormat format = new StructFormat(arguments, arguments.checkString(1));
        int argument = 1;
        long total = 0;
        try (LuaBuffer out = new LuaBuffer(lua)) {
            while (format.next()) {
                lua.tick();
                int padding = format.padding(total);
                out.fill(0, padding);
                int before = out.length();
                switch (format.option()) {
                    case 'x' :
                        out.append(0);
                        break;
                    case 'f' :
                        float single = (float) number(arguments, ++argument);
                        integer(out, format, Float.floatToRawIntBits(single));
                        break;
                    case 'd' :
                        integer(out, format, Double.doubleToRawLongBits(number(arguments, ++argument)));
                        break;
                    case 'c', 's' :
                        string(arguments, out, format, ++argument);
                        break;
                    default :
                        if (format.isInteger()) {
                            integer(out, format, bits(number(arguments, ++argument)));
                        } else {
                            format.control();
                        }
                }
                total += padding + out.length() - before;
            }
            return out.toLuaString();
        }
    }

    /** The first missing argument is nil, because C's buffer begins there. */
    private static double number(Arguments arguments, int index) {
        if (arguments.isNone(index)) {
            throw arguments.argumentError(index, "number expected, got nil");
        }
        return arguments.checkNumber(index);
    }

    private static long bits(double number) {
        return number < 0 ? CNumbers.toLong(number) : CNumbers.toUnsignedLong(number);
    }

    private static void integer(LuaBuffer out, StructFormat format, long value) {
        int size = format.size();
        for (int i = 0; i < size; i++) {
            int index = format.isLittleEndian() ? i : size - 1 - i;
            out.append(index < Long.BYTES ? (int) (value >>> 8 * index) : 0);
        }
    }

    private static void string(Arguments arguments, LuaBuffer out, StructFormat format, int argument) {
        if (arguments.isNone(argument)) {
            throw arguments.argumentError(argument, "string expected, got nil");
        }
        byte[] text = arguments.checkString(argument).array();
        int size = format.size() == 0 ? text.length : format.size();
        if (text.length < size) {
            throw arguments.argumentError(argument + 1, "string too short");
        }
        out.append(text, 0, size);
        if (format.option() == 's') {
            out.append(0);
        }
    }

    private static Object size(LuaState lua, Arguments arguments) {
        StructFormat format = new StructFormat(arguments, arguments.checkString(1));
        long total = 0;
        while (format.next()) {
            lua.tick();
            total += format.padding(total);
            int option = format.option();
            if (option == 's') {
                throw arguments.argumentError(1, "option 's' has no fixed size");
            } else if (option == 'c' && format.size() == 0) {
                throw arguments.argumentError(1, "option 'c0' has no fixed size");
            }
            boolean letterOrDigit = option >= '0' && option <= '9' || (option | 0x20) >= 'a' && (option | 0x20) <= 'z';
            if (!letterOrDigit) {
                format.control();
            }
            total += format.size();
        }
        return LuaNumber.box(total);
    }

    private static Object unpack(LuaState lua, Arguments arguments) {
        StructFormat format = new StructFormat(arguments, arguments.checkString(1));
        byte[] data = arguments.checkString(2).array();
        long position = arguments.optLong(3, 1);
        if (position == 0) {
            throw arguments.argumentError(3, "offset must be 1 or greater");
        }
        position--;
        Object[] values = new Object[4];
        int count = 0;
        int roots = lua.roots();
        try {
            while (format.next()) {
                lua.tick();
                position += format.padding(position);
                checkLength(arguments, data, position, Integer.toUnsignedLong(format.size()));
                if (arguments.count() + count + 2 > Library.MAX_STACK) {
                    throw Library.stackOverflow(arguments, "too many results");
                }
                int at = (int) position;
                if (count + 1 >= values.length) {
                    values = Arrays.copyOf(values, 2 * values.length);
                }
                position += format.size();
                switch (format.option()) {
                    case 'x' :
                        break;
                    case 'f' :
                        float single = Float.intBitsToFloat((int) bits(data, at, format));
                        values[count++] = LuaNumber.box((double) single);
                        break;
                    case 'd' :
                        values[count++] = LuaNumber.box(Double.longBitsToDouble(bits(data, at, format)));
                        break;
                    case 'c' :
                        int length = format.size();
                        if (length == 0) {
                            length = previousSize(arguments, data, at, count == 0 ? null : values[count - 1]);
                            count--;
                            position += length;
                        }
                        values[count++] = text(lua, data, at, length);
                        break;
                    case 's' :
                        int end = endOfString(lua, arguments, data, at);
                        values[count++] = text(lua, data, at, end - at);
                        position = end + 1L;
                        break;
                    default :
                        if (format.isInteger()) {
                            values[count++] = LuaNumber.box(number(data, at, format));
                        } else {
                            format.control();
                        }
                }
            }
            values[count++] = LuaNumber.box(position + 1);
            return lua.results(values, 0, count);
        } finally {
            lua.unroot(roots);
        }
    }

    /** Positions and lengths count without a sign, so that none can overflow. */
    private static void checkLength(Arguments arguments, byte[] data, long position, long size) {
        if (Long.compareUnsigned(size, data.length) > 0
                || Long.compareUnsigned(position, data.length - size) > 0) {
            throw arguments.argumentError(2, "data string too short");
        }
    }

    private static LuaString text(LuaState lua, byte[] data, int from, int length) {
        lua.chargeString(length);
        Library.tickBytes(lua, length);
        LuaString text = LuaString.copyOf(data, from, length);
        lua.root(text);
        return text;
    }

    private static int previousSize(Arguments arguments, byte[] data, int position, Object previous) {
        Double size = LuaNumber.toNumber(previous);
        if (size == null) {
            throw arguments.error("format 'c0' needs a previous size");
        }
        long length = CNumbers.toUnsignedLong(size);
        checkLength(arguments, data, position, length);
        return (int) length;
    }

    private static int endOfString(LuaState lua, Arguments arguments, byte[] data, int from) {
        int end = from;
        while (end < data.length && data[end] != 0) {
            end++;
        }
        Library.tickBytes(lua, end - from);
        if (end == data.length) {
            throw arguments.error("unfinished string in data");
        }
        return end;
    }

    private static long bits(byte[] data, int at, StructFormat format) {
        int size = format.size();
        long value = 0;
        for (int i = 0; i < size; i++) {
            int index = format.isLittleEndian() ? size - 1 - i : i;
            value = value << 8 | data[at + index] & 0xff;
        }
        return value;
    }

    private static double number(byte[] data, int at, StructFormat format) {
        long value = bits(data, at, format);
        if (!format.isSigned()) {
            return CNumbers.ofUnsigned(value);
        }
        // As on x86 a shift by more than 63 takes the low bits of its distance: Java's shifts do the same.
        long sign = -1L << format.size() * 8 - 1;
        return (value & sign) != 0 ? value | sign : value;
    }
}
