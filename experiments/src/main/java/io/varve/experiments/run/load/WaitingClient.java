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
 * A client that sends a request and waits for its reply before the next, as the paper's do. Confined to one thread.
 *
 * <p>It reads only as much of a reply as it needs to find its end and to distinguish an error, a miss and a value.
 */
final class WaitingClient implements Closeable {
    private static final int HEAD_BYTES = 256;
    private static final int UNKNOWN = -1;

    private final SocketChannel channel;
    private final ByteBuffer out;
    private final ByteBuffer in;
    /** Length of the whole reply; unknown until its first line has arrived. */
    private int replyBytes = UNKNOWN;
    private boolean missed;
    long sentNanos;
    /** The number of the key of its last request, and whether that was a read: set by the caller. */
    long key;
    boolean reading;

    /** @param maxBytes maximum size of a request, and of a value */
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

    /** Sends the request and records the time. */
    void send() throws IOException {
        out.flip();
        in.clear();
        replyBytes = UNKNOWN;
        sentNanos = System.nanoTime();
        while (out.hasRemaining()) {
            // It is the only outstanding request, and smaller than a socket's buffer, so this does not spin.
            channel.write(out);
        }
    }

    /** Reads available input, and blocks if the channel does. @return whether the reply is whole */
    boolean receive() throws IOException {
        if (channel.read(in) < 0) {
            throw new EOFException("the server closed the connection");
        }
        if (replyBytes == UNKNOWN) {
            replyBytes = replyBytes();
        }
        if (replyBytes == UNKNOWN || in.position() < replyBytes) {
            return false;
        }
        if (in.position() > replyBytes) {
            throw new IOException("more than one reply to a request: " + text(in.position()));
        }
        return true;
    }

    /** Whether the whole reply says that the key does not exist. */
    boolean missed() {
        return missed;
    }

    private int replyBytes() throws IOException {
        int end = 0;
        while (end + 1 < in.position() && !(in.get(end) == '\r' && in.get(end + 1) == '\n')) {
            end++;
        }
        if (end + 1 >= in.position()) {
            if (in.position() > HEAD_BYTES) {
                throw new IOException("not a reply: " + text(HEAD_BYTES));
            }
            return UNKNOWN;
        }
        int lineBytes = end + 2;
        missed = in.get(0) == '$' && in.get(1) == '-';
        return switch (in.get(0)) {
            case '+' -> lineBytes;
            case '$' -> missed ? lineBytes : lineBytes + valueBytes(end) + 2;
            case '-' -> throw new RespErrorException(text(end));
            default -> throw new IOException("not a reply to GET or SET: " + text(lineBytes));
        };
    }

    private int valueBytes(int end) {
        int bytes = 0;
        for (int i = 1; i < end; i++) {
            bytes = bytes * 10 + in.get(i) - '0';
        }
        return bytes;
    }

    private String text(int bytes) {
        byte[] copy = new byte[Math.min(bytes, HEAD_BYTES)];
        in.get(0, copy);
        return new String(copy, StandardCharsets.ISO_8859_1).strip();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
