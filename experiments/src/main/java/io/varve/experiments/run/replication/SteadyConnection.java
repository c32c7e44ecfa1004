package io.varve.experiments.run.replication;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * A connection of a steady load, with any number of requests in flight. Confined to the load's thread, except before
 * its start and after its end.
 */
final class SteadyConnection implements AutoCloseable {
    private static final byte[] GET = "*2\r\n$3\r\nGET\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SET = "*3\r\n$3\r\nSET\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] KEY = ("$" + (SteadyLoad.KEY_PREFIX.length() + SteadyLoad.KEY_DIGITS) + "\r\n"
            + SteadyLoad.KEY_PREFIX).getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LINE_END = "\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int BUFFER_BYTES = 1 << 16;
    /** Size of a request without its value. */
    private static final int COMMAND_BYTES = 96;
    /** Maximum number of requests in flight; a power of two. */
    private static final int MAX_WAITING = 1 << 18;

    private final SocketChannel channel;
    private final Replies replies;
    private final byte[] valueHead;
    private final ByteBuffer in;
    private ByteBuffer out;
    /** The times of the requests in flight: a ring. */
    private final long[] times = new long[MAX_WAITING];
    private long sent;
    private long answered;

    SteadyConnection(String host, int port, int valueBytes, Replies replies) throws IOException {
        this.replies = replies;
        valueHead = ("$" + valueBytes + "\r\n").getBytes(StandardCharsets.US_ASCII);
        in = ByteBuffer.allocate(BUFFER_BYTES + valueBytes);
        out = ByteBuffer.allocate(BUFFER_BYTES + valueBytes);
        channel = SocketChannel.open(new InetSocketAddress(host, port));
        try {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
        } catch (IOException failed) {
            channel.close();
            throw failed;
        }
    }

    void register(Selector selector) throws IOException {
        channel.register(selector, SelectionKey.OP_READ, this);
    }

    void get(int key, long nowNanos) throws IOException {
        begin(0, nowNanos);
        out.put(GET);
        putKey(key);
    }

    void set(int key, byte[] value, long nowNanos) throws IOException {
        begin(value.length, nowNanos);
        out.put(SET);
        putKey(key);
        out.put(valueHead).put(value).put(LINE_END);
    }

    private void begin(int valueBytes, long nowNanos) throws IOException {
        if (waiting() == MAX_WAITING) {
            throw new IOException("the server has not answered " + MAX_WAITING + " requests of a connection: the rate"
                    + " is too high for it");
        }
        times[(int) (sent++ & MAX_WAITING - 1)] = nowNanos;
        if (out.remaining() < COMMAND_BYTES + valueBytes) {
            out = ByteBuffer.allocate(2 * out.capacity()).put(out.flip());
        }
    }

    private void putKey(int key) {
        out.put(KEY);
        int end = out.position() + SteadyLoad.KEY_DIGITS;
        int rest = key;
        for (int i = end - 1; i >= out.position(); i--) {
            out.put(i, (byte) ('0' + rest % 10));
            rest /= 10;
        }
        out.position(end).put(LINE_END);
    }

    /** Writes what the connection takes; the rest waits. */
    void flush() throws IOException {
        if (out.position() > 0) {
            out.flip();
            channel.write(out);
            out.compact();
        }
    }

    /** Reads all whole replies. */
    void read() throws IOException {
        if (channel.read(in) < 0) {
            throw new EOFException("the server closed a connection");
        }
        long now = System.nanoTime();
        in.flip();
        for (int length = lengthOfReply(); length > 0; length = lengthOfReply()) {
            if (answered == sent) {
                throw new IOException("a reply without a request");
            }
            note(in.get(in.position()), in.get(in.position() + 1));
            replies.latencies().recordValue(Replies.bounded(now - times[(int) (answered++ & MAX_WAITING - 1)]));
            in.position(in.position() + length);
        }
        in.compact();
    }

    private void note(byte type, byte next) {
        if (type == '-') {
            replies.errors().incrementAndGet();
        } else if (type == '$' && next == '-') {
            replies.missed().incrementAndGet();
        }
    }

    /** Length of the next reply; 0 if it is not whole. */
    private int lengthOfReply() throws IOException {
        int start = in.position();
        int end = start + 1;
        while (end + 1 < in.limit() && in.get(end) != '\r') {
            end++;
        }
        if (end + 1 >= in.limit()) {
            return 0;
        }
        int head = end + LINE_END.length - start;
        return switch (in.get(start)) {
            case '+', '-', ':' -> head;
            case '$' -> {
                int length = in.get(start + 1) == '-' ? 0 : digits(start + 1, end) + LINE_END.length;
                yield in.limit() - start < head + length ? 0 : head + length;
            }
            default -> throw new IOException("not a reply to GET or SET: type " + (char) in.get(start));
        };
    }

    private int digits(int from, int to) {
        int number = 0;
        for (int i = from; i < to; i++) {
            number = 10 * number + in.get(i) - '0';
        }
        return number;
    }

    /** Number of requests without a reply. */
    long waiting() {
        return sent - answered;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
