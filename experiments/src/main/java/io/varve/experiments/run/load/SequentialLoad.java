package io.varve.experiments.run.load;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;

/**
 * Sends a command of redis-benchmark once for every key, so that each exists before it is read. Confined to one thread.
 *
 * <p>It inserts consecutive numbers where redis-benchmark inserts random ones of twelve digits.
 */
public final class SequentialLoad {
    /** The placeholder of redis-benchmark; as long as the digits. */
    public static final String PLACE = "__rand_int__";
    private static final int BATCH = 200;

    private final byte[] one;
    private final int place;

    public SequentialLoad(List<String> command) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(("*" + command.size() + "\r\n").getBytes(StandardCharsets.US_ASCII));
        for (String word : command) {
            bytes.writeBytes(("$" + word.length() + "\r\n" + word + "\r\n").getBytes(StandardCharsets.US_ASCII));
        }
        one = bytes.toByteArray();
        place = bytes.toString(StandardCharsets.US_ASCII).indexOf(PLACE);
        if (place < 0) {
            throw new IllegalArgumentException("the command has no " + PLACE + ": " + command);
        }
    }

    /** The encoded command for that key. */
    public byte[] encoded(long key) {
        byte[] bytes = one.clone();
        putDigits(bytes, place, key);
        return bytes;
    }

    private static void putDigits(byte[] bytes, int at, long number) {
        long rest = number;
        for (int i = PLACE.length() - 1; i >= 0; i--) {
            bytes[at + i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
    }

    public void send(Target target, long keys, RunContext context) throws IOException {
        byte[] batch = new byte[BATCH * one.length];
        for (int i = 0; i < BATCH; i++) {
            System.arraycopy(one, 0, batch, i * one.length, one.length);
        }
        try (RespConnection connection = new RespConnection(target.host(), target.port())) {
            for (long next = 0; next < keys && !context.cancellation.isCancelled() && !context.isFailed();) {
                int count = (int) Math.min(BATCH, keys - next);
                for (int i = 0; i < count; i++) {
                    putDigits(batch, i * one.length + place, next++);
                }
                connection.send(batch, count * one.length);
                for (int i = 0; i < count; i++) {
                    connection.readReply();
                }
            }
        }
    }
}
