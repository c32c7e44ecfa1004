package io.varve.experiments.run.load;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespErrorException;

/**
 * A client that sends a request, or a pipeline of some, and waits for all replies before the next, as the paper's do
 * with one. Confined to one thread.
 *
 * <p>It reads only as much of a reply as it needs to find its end and to distinguish an error, a miss and a value.
 */
final class WaitingClient implements Closeable {
    private static final int HEAD_BYTES = 256;
    private static final int UNKNOWN = -1;

    private final SocketChannel channel;
    private final ByteBuffer out;
    private final ByteBuffer in;
    /** Start of the first reply that is not whole, in the input. */
    private int replyStart;
    /** Length of that reply; unknown until its first line has arrived. */
    private int replyBytes = UNKNOWN;
    /** Replies that are not whole. */
    private int awaited;
    private boolean missed;
    private int misses;
    long sentNanos;
    /** The number of the key of its last request, and whether that was a read: set by the caller. */
    long key;
    boolean reading;

    /** @param maxBytes maximum size of all requests of a pipeline, and of their values */
    WaitingClient(Target target, int maxBytes) throws IOException {
        this(SocketChannel.open(new InetSocketAddress(target.host(), target.port())), maxBytes);
    }

    WaitingClient(SocketChannel channel, int maxBytes) throws IOException {
        this.channel = channel;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        out = ByteBuffer.allocateDirect(maxBytes);
        in = ByteBuffer.allocateDirect(maxBytes + HEAD_BYTES);
    }

    SocketChannel channel() {
        return channel;
    }

    /** The buffer for the next request; {@link #send} follows. */
    ByteBuffer request() {
        return out.clear();
    }

    /**
     * Sends the requests and records the time.
     *
     * @param requests the number of requests in the buffer
     */
    void send(int requests) throws IOException {
        out.flip();
        in.clear();
        replyStart = 0;
        replyBytes = UNKNOWN;
        awaited = requests;
        misses = 0;
        sentNanos = System.nanoTime();
        while (out.hasRemaining()) {
            // There is no other outstanding request, and a socket's buffer is larger, so this hardly ever spins.
            channel.write(out);
        }
    }

    /** Reads available input, and blocks if the channel does. @return whether all replies are whole */
    boolean receive() throws IOException {
        if (channel.read(in) < 0) {
            throw new EOFException("the server closed the connection");
        }
        while (awaited > 0) {
            if (replyBytes == UNKNOWN) {
                replyBytes = replyBytes();
            }
            if (replyBytes == UNKNOWN || in.position() < replyStart + replyBytes) {
                return false;
            }
            replyStart += replyBytes;
            replyBytes = UNKNOWN;
            awaited--;
            misses += missed ? 1 : 0;
        }
        if (in.position() > replyStart) {
            throw new IOException("more replies than requests: " + text(replyStart, in.position()));
        }
        return true;
    }

    /** The number of replies that say that the key does not exist. */
    int misses() {
        return misses;
    }

    /** Whether the whole reply says that the key does not exist. */
    boolean missed() {
        return missed;
    }

    private int replyBytes() throws IOException {
        int end = replyStart;
        while (end + 1 < in.position() && !(in.get(end) == '\r' && in.get(end + 1) == '\n')) {
            end++;
        }
        if (end + 1 >= in.position()) {
            if (in.position() - replyStart > HEAD_BYTES) {
                throw new IOException("not a reply: " + text(replyStart, replyStart + HEAD_BYTES));
            }
            return UNKNOWN;
        }
        int lineBytes = end + 2 - replyStart;
        missed = in.get(replyStart) == '$' && in.get(replyStart + 1) == '-';
        return switch (in.get(replyStart)) {
            case '+' -> lineBytes;
            case '$' -> missed ? lineBytes : lineBytes + valueBytes(end) + 2;
            case '-' -> throw new RespErrorException(text(replyStart, end));
            default -> throw new IOException("not a reply to GET or SET: " + text(replyStart, end));
        };
    }

    private int valueBytes(int end) {
        int bytes = 0;
        for (int i = replyStart + 1; i < end; i++) {
            bytes = bytes * 10 + in.get(i) - '0';
        }
        return bytes;
    }

    private String text(int from, int to) {
        byte[] copy = new byte[Math.min(to - from, HEAD_BYTES)];
        in.get(from, copy);
        return new String(copy, StandardCharsets.ISO_8859_1).strip();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
