package io.varve.experiments.paced;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import io.varve.experiments.paced.Mix.Command;
import io.varve.experiments.plan.ValueSizes;

/**
 * The request sequence of one connection. Confined to the generator's thread. It depends only on the seed and the
 * connection's number, so that every server gets the same requests.
 */
final class Requests {
    /** The prefix of preloaded strings' keys; {@link #KEY_DIGITS} digits follow. */
    static final String KEY_PREFIX = "k";
    static final int KEY_DIGITS = 10;
    /** Maximum size of a request without its value. */
    private static final int COMMAND_BYTES = 160;

    private final PacedSettings settings;
    private final Mix mix;
    private final int connection;
    private final SplittableRandom random;
    private final byte[] value;
    private final ByteBuffer out;
    private long added;
    private long expiring;

    Requests(PacedSettings settings, Mix mix, int connection) {
        this.settings = settings;
        this.mix = mix;
        this.connection = connection;
        this.random = new SplittableRandom(ValueSizes.mixed(settings.seed(), connection));
        this.value = new byte[settings.values().max()];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) ('a' + i % 26);
        }
        this.out = ByteBuffer.allocateDirect(COMMAND_BYTES + value.length);
    }

    /** The buffer that {@link #next} fills, ready to be read. */
    ByteBuffer buffer() {
        return out;
    }

    /** Writes the next request to the buffer. */
    Command next() {
        Command command = mix.next(random);
        out.clear();
        switch (command) {
            case GET -> put(2, "GET", KEY_PREFIX, anyKey());
            case NEW -> {
                put(3, "SET", KEY_PREFIX, settings.keys() + connection + added++ * settings.connections());
                putValue();
            }
            case EXPIRING -> {
                put(5, "SET", "e", connection + expiring++ * settings.connections());
                putValue();
                putBulk("EX");
                putBulk(String.valueOf(random.nextInt(settings.ttls().min(), settings.ttls().max() + 1)));
            }
            case OVERWRITE -> {
                put(3, "SET", KEY_PREFIX, anyKey());
                putValue();
            }
            case DEL -> put(2, "DEL", KEY_PREFIX, anyKey());
            case HSET -> {
                put(4, "HSET", "h", random.nextInt(settings.hashes()));
                putField();
                putValue();
            }
            case HGET -> {
                put(3, "HGET", "h", random.nextInt(settings.hashes()));
                putField();
            }
            default -> throw new AssertionError(command);
        }
        out.flip();
        return command;
    }

    private long anyKey() {
        return random.nextLong(settings.keys() + added * settings.connections());
    }

    private void put(int words, String name, String prefix, long key) {
        out.put((byte) '*').put((byte) ('0' + words));
        putLineEnd();
        putBulk(name);
        putLength(prefix.length() + KEY_DIGITS);
        putAscii(prefix);
        long divisor = 1;
        for (int i = 1; i < KEY_DIGITS; i++) {
            divisor *= 10;
        }
        for (; divisor > 0; divisor /= 10) {
            out.put((byte) ('0' + key / divisor % 10));
        }
        putLineEnd();
    }

    private void putField() {
        putBulk("f" + (char) ('a' + random.nextInt(settings.fields())));
    }

    private void putValue() {
        int length = random.nextInt(settings.values().min(), settings.values().max() + 1);
        putLength(length);
        out.put(value, 0, length);
        putLineEnd();
    }

    private void putBulk(String word) {
        putLength(word.length());
        putAscii(word);
        putLineEnd();
    }

    private void putLength(int length) {
        out.put((byte) '$');
        if (length >= 1000) {
            out.put((byte) ('0' + length / 1000));
        }
        if (length >= 100) {
            out.put((byte) ('0' + length / 100 % 10));
        }
        if (length >= 10) {
            out.put((byte) ('0' + length / 10 % 10));
        }
        out.put((byte) ('0' + length % 10));
        putLineEnd();
    }

    private void putAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            out.put((byte) text.charAt(i));
        }
    }

    private void putLineEnd() {
        out.put((byte) '\r').put((byte) '\n');
    }

    /** The buffered request in readable form. */
    String text() {
        byte[] bytes = new byte[out.limit()];
        out.get(0, bytes);
        return new String(bytes, StandardCharsets.US_ASCII);
    }
}
