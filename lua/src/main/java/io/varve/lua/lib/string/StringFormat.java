package io.varve.lua.lib.string;

import io.varve.lua.Arguments;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.lib.base.LuaBuffer;
import io.varve.lua.text.CNumbers;
import io.varve.lua.text.FormatSpec;
import io.varve.lua.text.Printf;

/** The function {@code string.format}: one call. Confined to the state's thread. */
// Cases that return and cases that go on are mixed, as in the formats that they read.
@SuppressWarnings("StatementSwitchToExpressionSwitch")
final class StringFormat {
    private static final int MAX_FLAGS = 5;
    /** C Lua copies a string of this length, if no precision is given, without regard to the width. */
    private static final int LONG_STRING = 100;

    private final Arguments arguments;
    private final byte[] format;
    private final LuaBuffer out;
    private int at;

    private StringFormat(Arguments arguments, byte[] format, LuaBuffer out) {
        this.arguments = arguments;
        this.format = format;
        this.out = out;
    }

    static Object format(LuaState lua, Arguments arguments) {
        LuaString format = arguments.checkString(1);
        try (LuaBuffer out = new LuaBuffer(lua)) {
            new StringFormat(arguments, format.array(), out).run(lua);
            return out.toLuaString();
        }
    }

    private void run(LuaState lua) {
        int argument = 1;
        while (at < format.length) {
            int start = at;
            while (at < format.length && format[at] != '%') {
                at++;
            }
            out.append(format, start, at - start);
            if (at == format.length) {
                return;
            }
            lua.tick();
            at++;
            if (current() == '%' && at < format.length) {
                out.append('%');
                at++;
                continue;
            }
            argument++;
            if (arguments.isNone(argument)) {
                throw arguments.argumentError(argument, "no value");
            }
            convert(spec(), argument);
        }
    }

    private int current() {
        return at < format.length ? format[at] : 0;
    }

    private boolean atDigit() {
        int c = current();
        return c >= '0' && c <= '9';
    }

    /** Reads a conversion up to its letter. */
    private FormatSpec spec() {
        int flags = 0;
        int first = at;
        for (int flag = FormatSpec.flag(current()); flag != 0; flag = FormatSpec.flag(current())) {
            flags |= flag;
            at++;
        }
        if (at - first > MAX_FLAGS) {
            throw arguments.error("invalid format (repeated flags)");
        }
        int width = twoDigits();
        int precision = -1;
        if (current() == '.') {
            at++;
            precision = twoDigits();
        }
        if (atDigit()) {
            throw arguments.error("invalid format (width or precision too long)");
        }
        int letter = current();
        at++;
        return new FormatSpec(flags, width, precision, letter);
    }

    private int twoDigits() {
        int value = 0;
        for (int i = 0; i < 2 && atDigit(); i++) {
            value = value * 10 + current() - '0';
            at++;
        }
        return value;
    }

    private void convert(FormatSpec spec, int argument) {
        switch (spec.conversion()) {
            case 'c' :
                character(spec, CNumbers.toIntDirectly(arguments.checkNumber(argument)) & 0xff);
                break;
            case 'd', 'i' :
                Printf.signed(out, spec, CNumbers.toLong(arguments.checkNumber(argument)));
                break;
            case 'o', 'u', 'x', 'X' :
                Printf.unsigned(out, spec, CNumbers.toUnsignedLong(arguments.checkNumber(argument)));
                break;
            case 'e', 'E', 'f', 'g', 'G' :
                Printf.real(out, spec, arguments.checkNumber(argument));
                break;
            case 'q' :
                quote(arguments.checkString(argument).array());
                break;
            case 's' :
                byte[] text = arguments.checkString(argument).array();
                if (spec.precision() < 0 && text.length >= LONG_STRING) {
                    out.append(text);
                } else {
                    Printf.string(out, spec, text);
                }
                break;
            default :
                String letter = spec.conversion() == 0 ? "" : String.valueOf((char) (spec.conversion() & 0xff));
                throw arguments.error("invalid option '%" + letter + "' to 'format'");
        }
    }

    /** C Lua takes the text up to its first zero byte, so that a zero byte shows as its padding at most. */
    private void character(FormatSpec spec, int character) {
        int start = out.length();
        Printf.character(out, spec, character);
        if (character == 0) {
            int end = start;
            while (out.byteAt(end) != 0) {
                end++;
            }
            out.truncate(end);
        }
    }

    private void quote(byte[] text) {
        out.append('"');
        for (byte b : text) {
            switch (b) {
                case '"', '\\', '\n' :
                    out.append('\\').append(b);
                    break;
                case '\r' :
                    out.append("\\r");
                    break;
                case 0 :
                    out.append("\\000");
                    break;
                default :
                    out.append(b);
            }
        }
        out.append('"');
    }
}
