package io.varve.server.net;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.Channel;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * The heap budget of encrypted connections. Many threads: atomic counters.
 *
 * <p>Each connection has an engine of the JDK, which is on the heap from the moment of accept. Anybody who can reach
 * the port can have one, without a certificate or a password, and hold it silently. So connections are counted before
 * they get one. They may take two thirds of the clients' heap budget, so that connected clients can still be served:
 * one third of the whole heap, less where the flash tier has a share.
 */
final class TlsLoans {
    /** Heap bytes of one connection, during and after its handshake. */
    static final int BYTES = 50 << 10;

    private final RequestHeapBudget heap;
    private final int most;
    private final AtomicInteger taken = new AtomicInteger();

    /**
     * @param heap budget of the clients
     * @param most maximum number of concurrent connections
     */
    TlsLoans(RequestHeapBudget heap, int most) {
        this.heap = heap;
        this.most = most;
    }

    /** Creates a budget of as many connections as fit in two thirds of this. */
    static TlsLoans of(RequestHeapBudget heap) {
        return new TlsLoans(heap, Math.clamp(heap.limitBytes() / 3 * 2 / BYTES, 0, Integer.MAX_VALUE));
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
    TlsHeapReservation take(Channel channel, Executor handshakes) {
        if (taken.incrementAndGet() > most) {
            taken.decrementAndGet();
            return null;
        }
        if (!heap.take(BYTES)) {
            taken.decrementAndGet();
            return null;
        }
        TlsHeapReservation reservation = new TlsHeapReservation(handshakes, this::giveBack);
        channel.closeFuture().addListener(_ -> reservation.releaseAll());
        return reservation;
    }

    private void giveBack() {
        heap.give(BYTES);
        taken.decrementAndGet();
    }

    /** Maximum number of concurrent connections. */
    int most() {
        return most;
    }

    /** Connections that hold a reservation, including closed ones whose handshake tasks still run. */
    int taken() {
        return taken.get();
    }
}
