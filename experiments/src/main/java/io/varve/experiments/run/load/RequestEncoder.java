package io.varve.experiments.run.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import io.varve.experiments.plan.RequestSet;

/** Encodes the requests of a set, by the keys' numbers. Confined to one thread. */
public final class RequestEncoder {
    private static final byte[] GET = ascii("*2\r\n$3\r\nGET\r\n$");
    private static final byte[] SET = ascii("*3\r\n$3\r\nSET\r\n$");
    private static final byte[] LINE_END = ascii("\r\n");
    /** Text from which values are cut; the start position varies within this many bytes. */
    private static final int TEXT_BYTES = 1 << 16;
    private static final int HEADS_BYTES = 64;

    private final RequestSet set;
    private final long seed;
    private final byte[] key;
    private final byte[] keyHead;
    private final byte[] text;

    public RequestEncoder(RequestSet set, long seed) {
        this.set = set;
        this.seed = seed;
        this.key = new byte[set.keyBytes()];
        this.keyHead = ascii(set.keyBytes() + "\r\n");
        this.text = new byte[TEXT_BYTES + set.maxValueBytes()];
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < text.length; i++) {
            text[i] = RequestSet.character(random.nextLong());
        }
    }

    /** Length of the longest request. */
    public int maxBytes() {
        return HEADS_BYTES + set.keyBytes() + set.maxValueBytes();
    }

    void get(ByteBuffer into, long number) {
        into.put(GET);
        putKey(into, number);
    }

    /** @param draw a random number, which determines length and bytes of the value */
    public void set(ByteBuffer into, long number, long draw) {
        int valueBytes = set.valueBytes(seed, draw);
        into.put(SET);
        putKey(into, number);
        into.put((byte) '$');
        putNumber(into, valueBytes);
        into.put(LINE_END);
        into.put(text, (int) (draw & (TEXT_BYTES - 1)), valueBytes);
        into.put(LINE_END);
    }

    private void putKey(ByteBuffer into, long number) {
        set.putKey(seed, number, key);
        into.put(keyHead);
        into.put(key);
        into.put(LINE_END);
    }

    private static void putNumber(ByteBuffer into, int number) {
        if (number >= 10) {
            putNumber(into, number / 10);
        }
        into.put((byte) ('0' + number % 10));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
