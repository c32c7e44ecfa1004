package io.varve.proxy.resp;

import io.netty.buffer.ByteBuf;

/**
 * Finds the end of a RESP2 or RESP3 reply, which may arrive in pieces. Confined to the event loop of its connection.
 *
 * <p>It keeps no stack: an aggregate of n elements adds n to the number of replies that are missing. So it takes the
 * same memory for any depth, and it creates no object for a reply.
 */
public final class ReplyScanner {
    private static final int MAX_DIGITS = 18;
    /** Maximum number of elements of one aggregate, and of missing replies. */
    private static final long MAX_ELEMENTS = 1L << 32;

    private enum State {
        /** At the type byte of a reply or an element. */
        KIND,
        /** In a line without a number that matters: it ends at the line feed. */
        LINE,
        /** In the number of a line. */
        NUMBER,
        /** In the bytes of a bulk. */
        BULK
    }

    private State state = State.KIND;
    private long missing = 1;
    private byte kind;
    private boolean negative;
    private int digits;
    private long number;
    private long bulkLeft;

    /**
     * Continues with further bytes.
     *
     * @return the index after the reply; -1 if the reply does not end before {@code to}
     * @throws MalformedReplyException if the bytes are no reply
     */
    public int scan(ByteBuf bytes, int from, int to) {
        int at = from;
        while (at < to) {
            switch (state) {
                case KIND -> begin(bytes.getByte(at++));
                case LINE -> {
                    int end = bytes.indexOf(at, to, (byte) '\n');
                    if (end < 0) {
                        return -1;
                    }
                    at = end + 1;
                    ended();
                }
                case NUMBER -> number(bytes.getByte(at++));
                case BULK -> {
                    int taken = (int) Math.min(bulkLeft, to - at);
                    at += taken;
                    bulkLeft -= taken;
                    if (bulkLeft == 0) {
                        ended();
                    }
                }
            }
            if (missing == 0) {
                missing = 1;
                return at;
            }
        }
        return -1;
    }

    private void begin(byte type) {
        kind = type;
        switch (type) {
            case '+', '-', ':', ',', '(', '#', '_' -> state = State.LINE;
            case '$', '=', '!', '*', '~', '>', '%', '|' -> {
                state = State.NUMBER;
                negative = false;
                digits = 0;
                number = 0;
            }
            default -> throw new MalformedReplyException("a reply begins with byte " + type);
        }
    }

    private void number(byte next) {
        if (next >= '0' && next <= '9' && digits < MAX_DIGITS) {
            number = number * 10 + (next - '0');
            digits++;
        } else if (next == '-' && digits == 0 && !negative) {
            negative = true;
        } else if (next == '\n' && digits > 0) {
            numberEnded();
        } else if (next != '\r') {
            throw new MalformedReplyException("a length contains byte " + next);
        }
    }

    private void numberEnded() {
        if (negative) {
            ended();
            return;
        }
        if (kind == '$' || kind == '=' || kind == '!') {
            bulkLeft = number + 2;
            state = State.BULK;
            return;
        }
        long elements = kind == '%' || kind == '|' ? 2 * number : number;
        if (elements > MAX_ELEMENTS || missing + elements > MAX_ELEMENTS) {
            throw new MalformedReplyException("an aggregate has " + number + " elements");
        }
        // An attribute stands in front of the reply that it belongs to.
        missing += kind == '|' ? elements : elements - 1;
        state = State.KIND;
    }

    private void ended() {
        missing--;
        state = State.KIND;
    }
}
