package io.varve.server.check;

import java.nio.charset.StandardCharsets;

/** Bytes of clients as printable text, in quotes and with escapes as redis-cli has them. Immutable: static methods. */
final class SafeText {
    /** Bytes that are shown. */
    static final int MAX_BYTES = 64;

    private SafeText() {}

    /**
     * Quotes a text.
     *
     * @param bytes the first bytes of it, of which at most {@link #MAX_BYTES} are shown
     * @param length the length of all of it, bytes
     */
    static String quote(byte[] bytes, long length) {
        int shown = Math.min(bytes.length, MAX_BYTES);
        StringBuilder text = new StringBuilder("\"");
        for (int i = 0; i < shown; i++) {
            append(text, bytes[i] & 0xFF);
        }
        text.append('"');
        return shown < length ? text + "... (" + Table.number(length) + " bytes)" : text.toString();
    }

    /** Quotes a text whose chars are bytes. */
    static String quote(String latin1) {
        return quote(latin1.getBytes(StandardCharsets.ISO_8859_1), latin1.length());
    }

    private static void append(StringBuilder text, int b) {
        switch (b) {
            case '\n' -> text.append("\\n");
            case '\r' -> text.append("\\r");
            case '\t' -> text.append("\\t");
            case '"', '\\' -> text.append('\\').append((char) b);
            default -> {
                if (b >= ' ' && b < 0x7F) {
                    text.append((char) b);
                } else {
                    text.append(String.format("\\x%02x", b));
                }
            }
        }
    }
}
