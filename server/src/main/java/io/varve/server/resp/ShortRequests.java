package io.varve.server.resp;

import io.varve.memory.offheap.Memory;

/**
 * Decodes complete requests of a few short bulks, which most requests are: in one pass, a word at a time. Stateless.
 * All other input, including errors, it leaves to {@link RequestDecoder}.
 *
 * <p>The header of a bulk is at most 7 bytes, so it is read as one word. The position of a longer header's line end,
 * and its number, are computed for all bytes at once: a loop over digits costs a branch for each.
 *
 * <pre>
 *   byte    0    1    2    3    4    5 ..
 *         | $  | 1  | 6  | CR | LF | k        end = 3, two digits, length 16
 * </pre>
 */
final class ShortRequests {
    /** Maximum length of a short bulk: the limit for clients that have not authenticated. */
    private static final int MAX_BULK_BYTES = RequestDecoder.MAX_BULK_UNAUTHENTICATED_BYTES;
    /** Maximum number of digits of a length. */
    private static final int MAX_DIGITS = 5;
    private static final int MAX_ARGUMENTS = 9;
    private static final int MULTIBULK_HEAD_BYTES = 4;
    /** {@code *}, any byte, CR, LF. */
    private static final int MULTIBULK_HEAD = '*' | '\r' << 16 | '\n' << 24;
    private static final int MULTIBULK_HEAD_MASK = 0xFFFF_00FF;

    /** {@code $}, a digit, CR, LF; {@code $}, two digits, CR, LF. */
    private static final long ONE_DIGIT = '$' | '\r' << 16 | '\n' << 24;
    private static final long ONE_DIGIT_MASK = 0xFFFF_00FFL;
    private static final long TWO_DIGITS = '$' | (long) '\r' << 24 | (long) '\n' << 32;
    private static final long TWO_DIGITS_MASK = 0xFF_FF00_00FFL;

    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = ONES << 7;
    private static final long RETURNS = ONES * '\r';
    private static final long ZEROS = ONES * '0';
    /** Added to a byte over 9, it sets the byte's highest bit. */
    private static final long OVER_NINE = ONES * (128 - 10);
    private static final int NOT_SHORT = -1;

    private ShortRequests() {}

    /**
     * Decodes requests until the sink is full, {@code maxBytes} are used up, or one is incomplete or not short.
     *
     * @param address the address of the first byte of a request
     * @param bytes number of available bytes
     * @param maxBytes no further request is begun after this many bytes
     * @param thresholdBytes a longer bulk is not short
     * @return the number of bytes decoded
     */
    static int decode(long address, int bytes, int maxBytes, int thresholdBytes, RequestSink sink) {
        int longest = Math.min(MAX_BULK_BYTES, thresholdBytes);
        long end = address + bytes;
        long at = address;
        while (at - address < maxBytes && !sink.isFull()) {
            long next = request(at, end, longest, sink);
            if (next == NOT_SHORT) {
                break;
            }
            at = next;
        }
        return (int) (at - address);
    }

    /** @return the address after the request, or NOT_SHORT */
    private static long request(long start, long end, int longest, RequestSink sink) {
        if (end - start < MULTIBULK_HEAD_BYTES) {
            return NOT_SHORT;
        }
        int head = Memory.getInt(start);
        int arguments = (head >>> Byte.SIZE & 0xFF) - '0';
        if ((head & MULTIBULK_HEAD_MASK) != MULTIBULK_HEAD || arguments < 1 || arguments > MAX_ARGUMENTS) {
            return NOT_SHORT;
        }
        sink.beginRequest(arguments);
        long at = start + MULTIBULK_HEAD_BYTES;
        for (int i = 0; i < arguments; i++) {
            long content = end - at < Long.BYTES ? NOT_SHORT : bulk(at, sink, longest, end);
            if (content == NOT_SHORT) {
                sink.abandonRequest();
                return NOT_SHORT;
            }
            at = content;
        }
        sink.endRequest(Shortage.NONE);
        return at;
    }

    /**
     * Decodes a bulk. The position of the next bulk depends on this one's length, and nothing proceeds before it is
     * known. So lengths of one and of two digits are computed in the fewest steps, and the core predicts which of them
     * it is.
     *
     * @return the address after the bulk, or NOT_SHORT
     */
    private static long bulk(long at, RequestSink sink, int longest, long end) {
        long word = Memory.getLong(at);
        int first = (int) (word >>> Byte.SIZE) & 0xFF;
        int length;
        int headBytes;
        if ((word & ONE_DIGIT_MASK) == ONE_DIGIT && first >= '0' && first <= '9') {
            length = first - '0';
            headBytes = 4;
        } else {
            int second = (int) (word >>> 2 * Byte.SIZE) & 0xFF;
            if ((word & TWO_DIGITS_MASK) == TWO_DIGITS && first >= '1' && first <= '9' && second >= '0'
                    && second <= '9') {
                length = first * 10 + second - 11 * '0';
                headBytes = 5;
            } else {
                return longerBulk(word, at, sink, longest, end);
            }
        }
        return take(at + headBytes, length, sink, longest, end);
    }

    private static long take(long content, int length, RequestSink sink, int longest, long end) {
        if (length > longest || length + 2 > end - content) {
            return NOT_SHORT;
        }
        sink.argument(content, length);
        return content + length + 2;
    }

    private static long longerBulk(long word, long at, RequestSink sink, int longest, long end) {
        int lineEnd = firstReturn(word);
        if ((word & 0xFF) != '$' || lineEnd < 2 || lineEnd > MAX_DIGITS + 1
                || (word >>> (lineEnd + 1) * Byte.SIZE & 0xFF) != '\n') {
            return NOT_SHORT;
        }
        // The digits move to the upper end, and the bytes below them become leading zeros.
        int shift = (Long.BYTES - lineEnd) * Byte.SIZE;
        long digits = (word << shift ^ ZEROS) & -1L << shift + Byte.SIZE;
        boolean leadingZero = lineEnd > 2 && (word >>> Byte.SIZE & 0xFF) == '0';
        if ((digits + OVER_NINE & HIGH_BITS | digits & HIGH_BITS) != 0 || leadingZero) {
            return NOT_SHORT;
        }
        return take(at + lineEnd + 2, number(digits), sink, longest, end);
    }

    /** The index of the first byte that is CR; 8 if there is none. */
    private static int firstReturn(long word) {
        long difference = word ^ RETURNS;
        // The lowest set high bit is correct; those above it may be wrong because of a borrow.
        return Long.numberOfTrailingZeros(difference - ONES & ~difference & HIGH_BITS) / Byte.SIZE;
    }

    /** The value of eight decimal digits, the lowest byte first: pairs, then fours, then all. */
    private static int number(long digits) {
        long pairs = digits * 10 + (digits >>> 8);
        long upper = (pairs & 0x0000_00FF_0000_00FFL) * (100 + (1_000_000L << 32));
        long lower = (pairs >>> 16 & 0x0000_00FF_0000_00FFL) * (1 + (10_000L << 32));
        return (int) (upper + lower >>> 32);
    }
}
