package io.varve.lua.lib.format;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;
import io.varve.lua.text.NumberParser;

/**
 * Splits JSON into tokens. Confined to the state's thread. The text ends at its first zero byte, as C's library reads
 * it.
 */
// Cases that return and cases that go on are mixed, as in the formats that they read.
@SuppressWarnings("StatementSwitchToExpressionSwitch")
final class JsonTokens {
    /** The kinds of tokens; errors show their names. */
    enum Kind {
        T_OBJ_BEGIN, T_OBJ_END, T_ARR_BEGIN, T_ARR_END, T_STRING, T_NUMBER, T_BOOLEAN, T_NULL, T_COLON, T_COMMA, T_END, T_ERROR
    }

    private final LuaState lua;
    private final byte[] text;
    private final boolean invalidNumbers;
    /** The bytes of a string with escapes. */
    private final LuaBuffer buffer;
    private int at;
    private int start;
    private Object value;
    private String problem = "";

    JsonTokens(LuaState lua, byte[] text, boolean invalidNumbers, LuaBuffer buffer) {
        this.lua = lua;
        this.text = text;
        this.invalidNumbers = invalidNumbers;
        this.buffer = buffer;
    }

    /** Where the last token begins, or its error is. */
    int start() {
        return start;
    }

    /** The end of the last token. */
    int at() {
        return at;
    }

    /** The value of a string, number or boolean. */
    Object value() {
        return value;
    }

    /** The problem of a token of kind T_ERROR. */
    String problem() {
        return problem;
    }

    Kind next() {
        int first = at;
        int c = byteAt(at);
        while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            c = byteAt(++at);
        }
        lua.tick(1 + (at - first >> 4));
        start = at;
        switch (c) {
            case '{' :
                return single(Kind.T_OBJ_BEGIN);
            case '}' :
                return single(Kind.T_OBJ_END);
            case '[' :
                return single(Kind.T_ARR_BEGIN);
            case ']' :
                return single(Kind.T_ARR_END);
            case ',' :
                return single(Kind.T_COMMA);
            case ':' :
                return single(Kind.T_COLON);
            case 0 :
                return Kind.T_END;
            case '"' :
                return string();
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' :
                return !invalidNumbers && isInvalidNumber() ? error("invalid number") : number();
            default :
                return word();
        }
    }

    private int byteAt(int index) {
        return index < text.length ? text[index] & 0xff : 0;
    }

    private Kind single(Kind kind) {
        at++;
        return kind;
    }

    private Kind error(String what) {
        start = at;
        problem = what;
        return Kind.T_ERROR;
    }

    private Kind word() {
        if (skips("true")) {
            value = true;
            return Kind.T_BOOLEAN;
        }
        if (skips("false")) {
            value = false;
            return Kind.T_BOOLEAN;
        }
        if (skips("null")) {
            return Kind.T_NULL;
        }
        int c = byteAt(at);
        boolean mayBeNumber = c == '+' || c == 'i' || c == 'I' || c == 'n' || c == 'N';
        return mayBeNumber && invalidNumbers && isInvalidNumber() ? number() : error("invalid token");
    }

    private boolean skips(String word) {
        for (int i = 0; i < word.length(); i++) {
            if (byteAt(at + i) != word.charAt(i)) {
                return false;
            }
        }
        at += word.length();
        return true;
    }

    /** Whether it is a number of C, but not of JSON. */
    private boolean isInvalidNumber() {
        int p = at;
        if (byteAt(p) == '+') {
            return true;
        }
        if (byteAt(p) == '-') {
            p++;
        }
        int c = byteAt(p);
        if (c == '0') {
            int second = byteAt(p + 1);
            return (second | 0x20) == 'x' || second >= '0' && second <= '9';
        }
        // C compares signed characters.
        if (c <= '9' || c > 127) {
            return false;
        }
        return isWord(p, "inf") || isWord(p, "nan");
    }

    private boolean isWord(int from, String word) {
        for (int i = 0; i < word.length(); i++) {
            if ((byteAt(from + i) | 0x20) != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private Kind number() {
        int end = NumberParser.end(text, at, text.length);
        if (end == at) {
            return error("invalid number");
        }
        Library.tickBytes(lua, end - at);
        value = LuaNumber.box(NumberParser.value(text, at, end));
        at = end;
        return Kind.T_NUMBER;
    }

    private Kind string() {
        int from = ++at;
        while (true) {
            int c = byteAt(at);
            if (c == '"') {
                Library.tickBytes(lua, at - from);
                lua.chargeString(at - from);
                value = LuaString.copyOf(text, from, at - from);
                at++;
                return Kind.T_STRING;
            }
            if (c == '\\') {
                return stringWithEscapes(from);
            }
            if (c == 0) {
                return error("unexpected end of string");
            }
            at++;
        }
    }

    private Kind stringWithEscapes(int from) {
        buffer.truncate(0);
        int copied = from;
        while (true) {
            int c = byteAt(at);
            if (c == '"') {
                buffer.append(text, copied, at - copied);
                Library.tickBytes(lua, at - from);
                value = buffer.toLuaString();
                at++;
                return Kind.T_STRING;
            }
            if (c == 0) {
                return error("unexpected end of string");
            }
            if (c == '\\') {
                buffer.append(text, copied, at - copied);
                if (byteAt(at + 1) == 'u') {
                    if (!unicode()) {
                        return error("invalid unicode escape code");
                    }
                } else {
                    int escaped = escaped(byteAt(at + 1));
                    if (escaped == 0) {
                        return error("invalid escape code");
                    }
                    buffer.append(escaped);
                    at += 2;
                }
                copied = at;
            } else {
                at++;
            }
        }
    }

    private static int escaped(int letter) {
        return switch (letter) {
            case '"', '\\', '/' -> letter;
            case 'b' -> '\b';
            case 't' -> '\t';
            case 'n' -> '\n';
            case 'f' -> '\f';
            case 'r' -> '\r';
            default -> 0;
        };
    }

    /** Reads an escape such as \\u00e9, or two of them that form a surrogate pair, as UTF-8. */
    private boolean unicode() {
        int unit = hexadecimal(at + 2);
        int length = 6;
        if (unit < 0) {
            return false;
        }
        int codePoint = unit;
        if ((unit & 0xF800) == 0xD800) {
            boolean followed = (unit & 0x400) == 0 && byteAt(at + 6) == '\\' && byteAt(at + 7) == 'u';
            int low = followed ? hexadecimal(at + 8) : -1;
            if (low < 0 || (low & 0xFC00) != 0xDC00) {
                return false;
            }
            codePoint = Character.toCodePoint((char) unit, (char) low);
            length = 12;
        }
        appendUtf8(codePoint);
        at += length;
        return true;
    }

    private void appendUtf8(int codePoint) {
        if (codePoint < 0x80) {
            buffer.append(codePoint);
        } else if (codePoint < 0x800) {
            buffer.append(codePoint >> 6 | 0xC0).append(codePoint & 0x3F | 0x80);
        } else if (codePoint < 0x10000) {
            buffer.append(codePoint >> 12 | 0xE0).append(codePoint >> 6 & 0x3F | 0x80).append(codePoint & 0x3F | 0x80);
        } else {
            buffer.append(codePoint >> 18 | 0xF0).append(codePoint >> 12 & 0x3F | 0x80)
                    .append(codePoint >> 6 & 0x3F | 0x80).append(codePoint & 0x3F | 0x80);
        }
    }

    private int hexadecimal(int from) {
        int number = 0;
        for (int i = from; i < from + 4; i++) {
            int digit = Character.digit(byteAt(i), 16);
            if (digit < 0) {
                return -1;
            }
            number = number << 4 | digit;
        }
        return number;
    }
}
