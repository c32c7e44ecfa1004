package io.varve.experiments.paced;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

import io.varve.experiments.paced.Mix.Command;

/** A connection of the generator, with one request at a time. Confined to the generator's thread. */
final class PacedConnection implements AutoCloseable {
    private static final int REPLY_BYTES = 1 << 14;

    private final SocketChannel channel;
    private final Requests requests;
    private final Timings timings;
    private final long periodNanos;
    private final ByteBuffer in = ByteBuffer.allocateDirect(REPLY_BYTES);
    /** The due time of the next request that was not sent yet. */
    private long nextDue;
    private long due;
    private long sentNanos;
    private Command command = Command.GET;
    private boolean waiting;

    /** @param firstDue due time of its first request, by System.nanoTime() */
    PacedConnection(PacedSettings settings, Requests requests, Timings timings, Selector selector, long firstDue)
            throws IOException {
        this.requests = requests;
        this.timings = timings;
        this.periodNanos = settings.periodNanos();
        this.nextDue = firstDue;
        this.channel = SocketChannel.open(new InetSocketAddress(settings.host(), settings.port()));
        try {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** Sends a request that is due, if the previous one was answered. */
    void sendIfDue(long nowNanos) throws IOException {
        if (!waiting && nextDue <= nowNanos) {
            send(nowNanos);
        }
    }

    private void send(long nowNanos) throws IOException {
        command = requests.next();
        due = nextDue;
        nextDue += periodNanos;
        waiting = true;
        sentNanos = nowNanos;
        ByteBuffer out = requests.buffer();
        while (out.hasRemaining()) {
            channel.write(out); // a request fits the socket's buffer many times over
        }
    }

    /**
     * Reads available input; after a whole reply, sends a request that has become due meanwhile.
     *
     * @param endNanos requests that are due from this time on are not sent
     * @return whether a reply is whole
     */
    boolean read(long endNanos) throws IOException {
        if (channel.read(in) < 0) {
            throw new EOFException("the server closed a connection");
        }
        long now = System.nanoTime();
        timings.readClock(now);
        int reply = Reply.of(in);
        if (reply == Reply.PARTIAL) {
            return false;
        }
        if (!waiting) {
            throw new IOException("a reply without a request: " + Reply.text(in));
        }
        waiting = false;
        timings.add(command, due, sentNanos, now);
        if (reply == Reply.NONE) {
            timings.none(due);
        } else if (reply == Reply.ERROR) {
            timings.error(Reply.text(in) + " to " + command);
        }
        in.clear();
        if (nextDue <= now && nextDue < endNanos) {
            send(now);
        }
        return true;
    }

    /** Whether a reply, or a request that was due before the end, is missing. */
    boolean isBehind(long endNanos) {
        return waiting || nextDue < endNanos;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
