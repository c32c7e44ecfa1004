package io.varve.lua.syntax;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import io.varve.lua.LuaError;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaString;

/** Splits a chunk into tokens. Confined to one thread. */
final class Lexer {
    private static final int END = -1;
    private static final int NO_TOKEN = 0;
    private final byte[] source;
    private final String chunkName;
    private final Map<LuaString, LuaString> strings = new HashMap<>();
    private byte[] string = new byte[64];
    private int stringLength;
    /** The marks that messages show before and after the string. */
    private String delimiter = "";
    private String closingDelimiter = "";
    private int at;
    private int tokenStart;
    private int line = 1;
    private int lastLine = 1;
    private int token;
    private LuaString text = LuaString.EMPTY;
    private double number;
    private int ahead = NO_TOKEN;
    private LuaString aheadText = LuaString.EMPTY;
    private double aheadNumber;

    /** @param chunkName as {@link ChunkName} shows it */
    Lexer(byte[] source, String chunkName) {
        this.source = source;
        this.chunkName = chunkName;
    }

    int token() {
        return token;
    }

    /** The text of a name or a string. */
    LuaString text() {
        return text;
    }

    double number() {
        return number;
    }

    /** The line at which the lexer is: that of the current token's end. */
    int line() {
        return line;
    }

    /** The line of the last token that was consumed. */
    int lastLine() {
        return lastLine;
    }

    void next() {
        lastLine = line;
        if (ahead != NO_TOKEN) {
            token = ahead;
            text = aheadText;
            number = aheadNumber;
            ahead = NO_TOKEN;
        } else {
            token = scan();
        }
    }

    /** The token after the current one. */
    int peek() {
        LuaString currentText = text;
        double currentNumber = number;
        ahead = scan();
        aheadText = text;
        aheadNumber = number;
        text = currentText;
        number = currentNumber;
        return ahead;
    }

    // ---- errors -----------------------------------------------------------------------------------------------------

    /** An error near the current token. */
    LuaError syntaxError(String message) {
        return error(message, token);
    }

    /** An error near a token; 0: near none. */
    LuaError error(String message, int near) {
        String full = chunkName + ":" + line + ": " + message;
        if (near == NO_TOKEN) {
            return new LuaError(full);
        }
        String text = switch (near) {
            case Token.NAME, Token.NUMBER -> upToZero(new String(source, tokenStart, at - tokenStart,
                    StandardCharsets.ISO_8859_1));
            case Token.STRING -> upToZero(delimiter
                    + new String(string, 0, stringLength, StandardCharsets.ISO_8859_1) + closingDelimiter);
            default -> Token.text(near);
        };
        return new LuaError(full + " near '" + text + "'");
    }

    private static String upToZero(String text) {
        int zero = text.indexOf(0);
        return zero < 0 ? text : text.substring(0, zero);
    }

    // ---- scanner ----------------------------------------------------------------------------------------------------

    private int current() {
        return at < source.length ? source[at] & 0xff : END;
    }

    private int scan() {
        while (true) {
            tokenStart = at;
            int c = current();
            switch (c) {
                case END -> {
                    return Token.END_OF_SOURCE;
                }
                case '\n', '\r' -> newLine();
                case ' ', '\t', '\f', 0x0b -> at++;
                case '-' -> {
                    at++;
                    if (current() != '-') {
                        return '-';
                    }
                    at++;
                    skipComment();
                }
                case '[' -> {
                    int level = longBracket();
                    if (level >= 0) {
                        text = readLong(level, Token.STRING);
                        return Token.STRING;
                    }
                    if (level == -1) {
                        at++;
                        return '[';
                    }
                    begin(new String(source, tokenStart, at - tokenStart, StandardCharsets.ISO_8859_1));
                    throw error("invalid long string delimiter", Token.STRING);
                }
                case '=' -> {
                    return either('=', Token.EQUAL, '=');
                }
                case '<' -> {
                    return either('=', Token.LESS_EQUAL, '<');
                }
                case '>' -> {
                    return either('=', Token.GREATER_EQUAL, '>');
                }
                case '~' -> {
                    return either('=', Token.NOT_EQUAL, '~');
                }
                case '"', '\'' -> {
                    text = readString(c);
                    return Token.STRING;
                }
                case '.' -> {
                    return dots();
                }
                default -> {
                    return word(c);
                }
            }
        }
    }

    private int either(int second, int both, int one) {
        at++;
        if (current() == second) {
            at++;
            return both;
        }
        return one;
    }

    private int dots() {
        at++;
        if (current() == '.') {
            at++;
            if (current() == '.') {
                at++;
                return Token.DOTS;
            }
            return Token.CONCAT;
        }
        if (!isDigit(current())) {
            return '.';
        }
        return readNumber();
    }

    private int word(int c) {
        if (isDigit(c)) {
            return readNumber();
        }
        if (!isLetter(c)) {
            at++;
            return c;
        }
        while (isLetter(current()) || isDigit(current())) {
            at++;
        }
        String word = new String(source, tokenStart, at - tokenStart, StandardCharsets.ISO_8859_1);
        int reserved = Token.ofWord(word);
        if (reserved == Token.NAME) {
            text = unique(LuaString.of(word));
        }
        return reserved;
    }

    private LuaString unique(LuaString string) {
        return strings.computeIfAbsent(string, LuaString::shared);
    }

    private void newLine() {
        int first = current();
        at++;
        int second = current();
        if ((second == '\n' || second == '\r') && second != first) {
            at++;
        }
        line++;
    }

    private void skipComment() {
        if (current() == '[') {
            int level = longBracket();
            if (level >= 0) {
                readLong(level, NO_TOKEN);
                return;
            }
        }
        while (current() != '\n' && current() != '\r' && current() != END) {
            at++;
        }
    }

    /**
     * Reads "[", some "=" and "[", and stops at the last one. Returns how many "=" there are; else -1 at a plain "[",
     * where it stays, or -2 after a bad delimiter.
     */
    private int longBracket() {
        int start = at;
        int bracket = current();
        at++;
        int level = 0;
        while (current() == '=') {
            at++;
            level++;
        }
        if (current() == bracket) {
            return level;
        }
        if (level == 0) {
            at = start;
            return -1;
        }
        return -2;
    }

    /** @param kind STRING, or NO_TOKEN for a comment */
    private LuaString readLong(int level, int kind) {
        at++;
        begin("[" + "=".repeat(level) + "[");
        if (current() == '\n' || current() == '\r') {
            newLine();
        }
        while (true) {
            int c = current();
            switch (c) {
                case END -> throw error(kind == NO_TOKEN ? "unfinished long comment" : "unfinished long string",
                        Token.END_OF_SOURCE);
                case '[' -> {
                    int from = at;
                    int found = longBracket();
                    if (found == level && level == 0) {
                        throw error("nesting of [[...]] is deprecated", '[');
                    }
                    at = found == -1 ? from + 1 : at;
                    append(from);
                }
                case ']' -> {
                    int from = at;
                    if (longBracket() == level) {
                        at++;
                        closingDelimiter = "]" + "=".repeat(level) + "]";
                        return unique(LuaString.copyOf(string, 0, stringLength));
                    }
                    at = at == from ? from + 1 : at;
                    append(from);
                }
                case '\n', '\r' -> {
                    newLine();
                    append((byte) '\n');
                }
                default -> {
                    append((byte) c);
                    at++;
                }
            }
        }
    }

    private LuaString readString(int quote) {
        at++;
        String mark = String.valueOf((char) quote);
        begin(mark);
        while (current() != quote) {
            int c = current();
            switch (c) {
                case END -> throw error("unfinished string", Token.END_OF_SOURCE);
                case '\n', '\r' -> throw error("unfinished string", Token.STRING);
                case '\\' -> {
                    at++;
                    readEscape();
                }
                default -> {
                    append((byte) c);
                    at++;
                }
            }
        }
        at++;
        closingDelimiter = mark;
        return unique(LuaString.copyOf(string, 0, stringLength));
    }

    private void begin(String opening) {
        stringLength = 0;
        delimiter = opening;
        closingDelimiter = "";
    }

    private void readEscape() {
        int c = current();
        switch (c) {
            case END -> {
            }
            case '\n', '\r' -> {
                append((byte) '\n');
                newLine();
            }
            case 'a' -> escaped(7);
            case 'b' -> escaped('\b');
            case 'f' -> escaped('\f');
            case 'n' -> escaped('\n');
            case 'r' -> escaped('\r');
            case 't' -> escaped('\t');
            case 'v' -> escaped(0x0b);
            default -> {
                if (!isDigit(c)) {
                    escaped(c);
                    return;
                }
                int value = 0;
                for (int i = 0; i < 3 && isDigit(current()); i++) {
                    value = 10 * value + current() - '0';
                    at++;
                }
                if (value > 255) {
                    throw error("escape sequence too large", Token.STRING);
                }
                append((byte) value);
            }
        }
    }

    private void escaped(int value) {
        append((byte) value);
        at++;
    }

    private void append(byte value) {
        if (stringLength == string.length) {
            string = Arrays.copyOf(string, 2 * stringLength);
        }
        string[stringLength++] = value;
    }

    /** Appends the source from an index to where the lexer is. */
    private void append(int from) {
        for (int i = from; i < at; i++) {
            append(source[i]);
        }
    }

    private int readNumber() {
        while (isDigit(current()) || current() == '.') {
            at++;
        }
        if (current() == 'e' || current() == 'E') {
            at++;
            if (current() == '+' || current() == '-') {
                at++;
            }
        }
        while (isLetter(current()) || isDigit(current())) {
            at++;
        }
        Double value = LuaNumber.parse(source, tokenStart, at);
        if (value == null) {
            throw error("malformed number", Token.NUMBER);
        }
        number = value;
        return Token.NUMBER;
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isLetter(int c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_';
    }
}
