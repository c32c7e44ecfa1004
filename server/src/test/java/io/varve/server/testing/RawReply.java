package io.varve.server.testing;

import java.util.List;

/**
 * A reply as it was sent. Immutable.
 *
 * @param kind the type byte
 * @param text the line or the bulk's bytes (as ISO 8859-1), or the head of an aggregate
 * @param elements of an aggregate; a map's keys and values alternate
 */
public record RawReply(char kind, String text, List<RawReply> elements) {
    public boolean isError() {
        return kind == '-';
    }

    public boolean isNull() {
        return kind == '_' || text.equals("-1 (null)");
    }

    public boolean isInteger() {
        return kind == ':';
    }

    public boolean isAggregate() {
        return kind == '*' || kind == '~' || kind == '%';
    }

    public long integer() {
        return Long.parseLong(text);
    }

    @Override
    public String toString() {
        if (elements.isEmpty()) {
            return kind + quote(text);
        }
        return kind + elements.toString();
    }

    /** Text with what cannot be printed escaped, shortened in the middle. */
    public static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            if (text.length() > 200 && i == 100) {
                quoted.append("…(").append(text.length()).append(" bytes)…");
                i = text.length() - 50;
            }
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c >= ' ' && c < 127) {
                quoted.append(c);
            } else {
                quoted.append(String.format("\\x%02x", (int) c));
            }
        }
        return quoted.append('"').toString();
    }
}
