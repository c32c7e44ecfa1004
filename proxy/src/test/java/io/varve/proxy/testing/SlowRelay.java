package io.varve.proxy.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A network between proxy and member that delays both directions by a random time, differently for each connection. Two
 * threads serve each connection; the queue of sockets is a concurrent one.
 *
 * <p>Requests are then long in flight, and those of two connections overtake each other.
 */
public final class SlowRelay implements AutoCloseable {
    private static final int MAX_DELAY_MICROS = 3_000;

    private final ServerSocket listener;
    private final int target;
    private final long seed;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

    public SlowRelay(RedisMember member, long seed) throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        target = member.port();
        this.seed = seed;
        Thread.ofPlatform().daemon().start(this::accept);
    }

    /** HOST:PORT. */
    public String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    private void accept() {
        try {
            for (int number = 0;; number++) {
                Socket client = listener.accept();
                Socket member = new Socket(InetAddress.getLoopbackAddress(), target);
                client.setTcpNoDelay(true);
                member.setTcpNoDelay(true);
                sockets.add(client);
                sockets.add(member);
                Random delays = new Random(seed + number);
                Random others = new Random(~seed + number);
                Thread.ofPlatform().daemon().start(() -> copy(client, member, delays));
                Thread.ofPlatform().daemon().start(() -> copy(member, client, others));
            }
        } catch (IOException closed) {
            sockets.forEach(SlowRelay::closeQuietly);
        }
    }

    private static void copy(Socket from, Socket to, Random delays) {
        byte[] bytes = new byte[16 << 10];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(delays.nextInt(MAX_DELAY_MICROS)));
                out.write(bytes, 0, count);
            }
        } catch (IOException closed) {
            closeQuietly(from);
        }
        closeQuietly(to);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        sockets.forEach(SlowRelay::closeQuietly);
    }
}
