package io.varve.server.net;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.Channel;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * The heap budget of encrypted connections. Many threads: atomic counters.
 *
 * <p>Each connection has an engine of the JDK, which is on the heap from the moment of accept. Any client who can reach
 * the port can have one, without a certificate or a password, and hold it silently. So connections are counted before
 * they get one. They may take two thirds of the clients' heap budget, so that connected clients can still be served:
 * one third of the whole heap, less where the flash tier has a share.
 */
final class TlsHeapBudget {
    /** Heap bytes of one connection, during and after its handshake. */
    static final int BYTES = 50 << 10;

    private final RequestHeapBudget heap;
    private final int maxConnections;
    private final AtomicInteger connections = new AtomicInteger();

    /**
     * @param heap budget of the clients
     * @param maxConnections maximum number of concurrent connections
     */
    TlsHeapBudget(RequestHeapBudget heap, int maxConnections) {
        this.heap = heap;
        this.maxConnections = maxConnections;
    }

    /** Creates a budget of as many connections as fit in two thirds of this. */
    static TlsHeapBudget of(RequestHeapBudget heap) {
        return new TlsHeapBudget(heap, Math.clamp(heap.limitBytes() / 3 * 2 / BYTES, 0, Integer.MAX_VALUE));
    }

    /**
     * Reserves the heap bytes of one connection. They are returned when the channel is closed and no task of its
     * handshake remains.
     *
     * @param handshakes executes the handshake
     * @return null if the budget is exhausted
     */
    // The code that closes the channel sees the result; it is of no interest here.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Nullable
    TlsHeapReservation reserve(Channel channel, Executor handshakes) {
        if (connections.incrementAndGet() > maxConnections) {
            connections.decrementAndGet();
            return null;
        }
        if (!heap.tryReserve(BYTES)) {
            connections.decrementAndGet();
            return null;
        }
        TlsHeapReservation reservation = new TlsHeapReservation(handshakes, this::release);
        channel.closeFuture().addListener(_ -> reservation.releaseAll());
        return reservation;
    }

    private void release() {
        heap.release(BYTES);
        connections.decrementAndGet();
    }

    /** Maximum number of concurrent connections. */
    int maxConnections() {
        return maxConnections;
    }

    /** Connections that hold a reservation, including closed ones whose handshake tasks still run. */
    int connections() {
        return connections.get();
    }
}
