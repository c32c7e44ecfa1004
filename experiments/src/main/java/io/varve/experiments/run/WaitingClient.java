package io.varve.experiments.run;

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
 * A client that sends a request and waits for its reply before the next: one of the paper's. Confined to one thread.
 *
 * <p>It reads as much of a reply as it needs to know where the reply ends and whether it is an error, a miss or a value.
 */
final class WaitingClient implements Closeable {
    private static final int HEAD_BYTES = 256;
    private static final int UNKNOWN = -1;

    private final SocketChannel channel;
    private final ByteBuffer out;
    private final ByteBuffer in;
    /** Bytes of the whole reply; unknown until its first line is there. */
    private int replyBytes = UNKNOWN;
    private boolean missed;
    long sentNanos;
    /** The number of the key of its last request, and whether that was a read: the caller's notes. */
    long key;
    boolean reading;

    /** @param mostBytes of a request, and of a value */
    WaitingClient(Target target, int mostBytes) throws IOException {
        this(SocketChannel.open(new InetSocketAddress(target.host(), target.port())), mostBytes);
    }

    WaitingClient(SocketChannel channel, int mostBytes) throws IOException {
        this.channel = channel;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        out = ByteBuffer.allocateDirect(mostBytes);
        in = ByteBuffer.allocateDirect(mostBytes + HEAD_BYTES);
    }

    SocketChannel channel() {
        return channel;
    }

    /** Where the next request is to be put; {@link #send} follows. */
    ByteBuffer request() {
        return out.clear();
    }

    /** Sends the request; the time of that is kept. */
    void send() throws IOException {
        out.flip();
        in.clear();
        replyBytes = UNKNOWN;
        sentNanos = System.nanoTime();
        while (out.hasRemaining()) {
            // No request is on its way but this one, and it is smaller than a socket's buffer: this does not spin.
            channel.write(out);
        }
    }

    /** Reads what there is, and waits for it if the channel does. @return whether the reply is whole */
    boolean receive() throws IOException {
        if (channel.read(in) < 0) {
            throw new EOFException("connection closed by the server");
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

    /** Whether the reply, which is whole, says that there is no such key. */
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
