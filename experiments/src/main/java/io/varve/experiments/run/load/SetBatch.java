package io.varve.experiments.run.load;

import java.nio.charset.StandardCharsets;

import io.varve.experiments.wire.RespConnection;

/**
 * A pipelined batch of commands, encoded by hand so that one thread of ours is faster than the server it loads.
 * Confined to one thread.
 *
 * <p>Keys consist of a prefix and a number in digits: by default one letter and seven digits, 8 bytes.
 */
public final class SetBatch {
    public static final int MAX_KEYS = 10_000_000;
    private static final int KEY_DIGITS = 7;
    private static final String KEY_PREFIX = "k";
    private static final byte[] SET = "*3\r\n$3\r\nSET\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SET_UNTIL = "*5\r\n$3\r\nSET\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] EX = "$2\r\nEX\r\n$4\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int SECONDS_DIGITS = 4;
    private static final byte[] GET = "*2\r\n$3\r\nGET\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] DEL = "*2\r\n$3\r\nDEL\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] PXAT = "$4\r\nPXAT\r\n$13\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int UNIX_MILLIS_DIGITS = 13;
    /** Maximum size of a command without the bytes of value and key. */
    private static final int COMMAND_BYTES = 96;

    private final byte[] keyHead;
    private final int keyDigits;
    private final byte[] bytes;
    private final byte[] value;
    private int length;
    private int count;
    /** Number of commands that were sent and have no reply yet. */
    private int pending;

    /**
     * @param commands maximum number of commands
     * @param maxValueBytes maximum length of a value
     */
    public SetBatch(int commands, int maxValueBytes) {
        this(commands, maxValueBytes, KEY_PREFIX, KEY_DIGITS);
    }

    /**
     * @param commands maximum number of commands
     * @param maxValueBytes maximum length of a value
     * @param keyPrefix prefix of every key
     * @param keyDigits number of digits that follow
     */
    public SetBatch(int commands, int maxValueBytes, String keyPrefix, int keyDigits) {
        this.keyHead = ("$" + (keyPrefix.length() + keyDigits) + "\r\n" + keyPrefix)
                .getBytes(StandardCharsets.US_ASCII);
        this.keyDigits = keyDigits;
        bytes = new byte[commands * (COMMAND_BYTES + keyHead.length + maxValueBytes)];
        value = new byte[maxValueBytes];
        for (int i = 0; i < maxValueBytes; i++) {
            value[i] = (byte) ('a' + i % 26);
        }
    }

    public int count() {
        return count;
    }

    public void set(int key, int valueBytes) {
        put(SET);
        putKey(key);
        putValue(valueBytes);
        count++;
    }

    /** @param expireAtMillis Unix time in ms */
    public void setUntil(int key, int valueBytes, long expireAtMillis) {
        put(SET_UNTIL);
        putKey(key);
        putValue(valueBytes);
        put(PXAT);
        putDigits(expireAtMillis, UNIX_MILLIS_DIGITS);
        putLineEnd();
        count++;
    }

    /** @param seconds the TTL, 1000 to 9999 s */
    public void setFor(int key, int valueBytes, int seconds) {
        put(SET_UNTIL);
        putKey(key);
        putValue(valueBytes);
        put(EX);
        putDigits(seconds, SECONDS_DIGITS);
        putLineEnd();
        count++;
    }

    public void get(int key) {
        put(GET);
        putKey(key);
        count++;
    }

    public void delete(int key) {
        put(DEL);
        putKey(key);
        count++;
    }

    /** Sends all commands and reads their replies; then the batch is empty. @return the number of error replies */
    public int exchange(RespConnection connection, ErrorSink errors) throws java.io.IOException {
        send(connection);
        return receive(connection, errors);
    }

    /** Sends all commands; then the batch is empty, and the replies are still to be read. */
    void send(RespConnection connection) throws java.io.IOException {
        connection.send(bytes, length);
        pending += count;
        length = 0;
        count = 0;
    }

    /** Reads the replies to all sent commands. @return the number of error replies */
    int receive(RespConnection connection, ErrorSink errors) throws java.io.IOException {
        int failed = 0;
        for (; pending > 0; pending--) {
            try {
                connection.readReply();
            } catch (io.varve.experiments.wire.RespErrorException e) {
                failed++;
                errors.error(String.valueOf(e.getMessage()));
            }
        }
        return failed;
    }

    /** Receives the text of an error reply. */
    public interface ErrorSink {
        void error(String message);
    }

    private void putKey(int key) {
        put(keyHead);
        putDigits(key, keyDigits);
        putLineEnd();
    }

    private void putValue(int valueBytes) {
        bytes[length++] = '$';
        putDigits(valueBytes,
                valueBytes < 10 ? 1 : valueBytes < 100 ? 2 : valueBytes < 1000 ? 3 : valueBytes < 10_000 ? 4 : 5);
        putLineEnd();
        System.arraycopy(value, 0, bytes, length, valueBytes);
        length += valueBytes;
        putLineEnd();
    }

    private void putDigits(long number, int digits) {
        long rest = number;
        for (int i = digits - 1; i >= 0; i--) {
            bytes[length + i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        length += digits;
    }

    private void put(byte[] text) {
        System.arraycopy(text, 0, bytes, length, text.length);
        length += text.length;
    }

    private void putLineEnd() {
        bytes[length++] = '\r';
        bytes[length++] = '\n';
    }
}
