package io.varve.proxy.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A network before a member that can hang: nothing passes then, and no connection ends. Two threads serve each
 * connection. Guarded by {@code this}; the queue of sockets is a concurrent one.
 */
public final class HangingRelay implements AutoCloseable {
    private final ServerSocket listener;
    private final int target;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private boolean isHanging;

    /** @param target the port of the member */
    public HangingRelay(int target) throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.target = target;
        Thread.ofPlatform().daemon().start(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Lets nothing pass from now on, or all again. */
    public synchronized void hang(boolean isOn) {
        isHanging = isOn;
        notifyAll();
    }

    private synchronized void pass() throws InterruptedException {
        while (isHanging) {
            wait();
        }
    }

    private void accept() {
        try {
            while (true) {
                serve(listener.accept());
            }
        } catch (IOException closed) {
            sockets.forEach(HangingRelay::close);
        }
    }

    private void serve(Socket client) {
        sockets.add(client);
        try {
            Socket member = new Socket(InetAddress.getLoopbackAddress(), target);
            sockets.add(member);
            Thread.ofPlatform().daemon().start(() -> copy(client, member));
            Thread.ofPlatform().daemon().start(() -> copy(member, client));
        } catch (IOException unreachable) {
            close(client);
        }
    }

    private void copy(Socket from, Socket to) {
        byte[] bytes = new byte[16 << 10];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                pass();
                out.write(bytes, 0, count);
            }
        } catch (IOException closed) {
            close(from);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        close(to);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() throws IOException {
        hang(false);
        listener.close();
        sockets.forEach(HangingRelay::close);
    }
}
