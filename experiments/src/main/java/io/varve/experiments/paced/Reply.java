package io.varve.experiments.paced;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Recognizes one RESP2 reply in place. Stateless. */
final class Reply {
    /** The reply is incomplete. */
    static final int PARTIAL = 0;
    /** A status, a number or a value. */
    static final int OK = 1;
    /** The key is absent. */
    static final int NONE = 2;
    /** An error. */
    static final int ERROR = 3;

    private Reply() {}

    /**
     * @param in received bytes, from 0 to its position
     * @throws IOException if it is not a reply to one of our commands
     */
    static int of(ByteBuffer in) throws IOException {
        int end = in.position();
        int line = lineEnd(in, end);
        if (line < 0) {
            return PARTIAL;
        }
        byte type = in.get(0);
        if (type == '$') {
            return bulk(in, line, end);
        }
        requireEnd(line + 2, end);
        return switch (type) {
            case '+', ':' -> OK;
            case '-' -> ERROR;
            default -> throw new IOException("unexpected type of reply: byte " + type);
        };
    }

    private static int bulk(ByteBuffer in, int line, int end) throws IOException {
        if (in.get(1) == '-') {
            requireEnd(line + 2, end);
            return NONE;
        }
        int length = 0;
        for (int i = 1; i < line; i++) {
            length = length * 10 + in.get(i) - '0';
        }
        int whole = line + 2 + length + 2;
        if (end < whole) {
            return PARTIAL;
        }
        requireEnd(whole, end);
        return OK;
    }

    /** The position of the first line's CR; -1 if the line is incomplete. */
    private static int lineEnd(ByteBuffer in, int end) {
        for (int i = 0; i + 1 < end; i++) {
            if (in.get(i) == '\r') {
                return in.get(i + 1) == '\n' ? i : -1;
            }
        }
        return -1;
    }

    private static void requireEnd(int whole, int end) throws IOException {
        if (whole != end) {
            throw new IOException("more than one reply to a request");
        }
    }

    /** The text of an error, or of other received bytes. */
    static String text(ByteBuffer in) {
        byte[] bytes = new byte[Math.min(in.position(), 200)];
        in.get(0, bytes);
        return new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1).strip();
    }
}
