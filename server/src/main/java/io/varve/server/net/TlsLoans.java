package io.varve.server.net;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.Channel;
import io.varve.server.resp.ArgumentMemory;
import org.jspecify.annotations.Nullable;

/**
 * What encrypted connections have of the heap. Many threads: atomic counters.
 *
 * <p>Each has an engine of the JDK's, which lies on the heap from the moment it is accepted: whoever can reach the port can have one,
 * without a certificate or a password, and keep it while saying nothing. So connections are counted before they have one. They may take
 * two thirds of what clients together may have of the heap, so that those who are connected can still be served: that is a third of the
 * whole heap, less where the flash tier has a share.
 */
final class TlsLoans {
    /** What one connection takes, shaking hands or done with it. */
    static final int BYTES = 50 << 10;

    private final ArgumentMemory heap;
    private final int most;
    private final AtomicInteger taken = new AtomicInteger();

    /**
     * @param heap what clients may have of it
     * @param most connections at a time
     */
    TlsLoans(ArgumentMemory heap, int most) {
        this.heap = heap;
        this.most = most;
    }

    /** As many as two thirds of this has room for. */
    static TlsLoans of(ArgumentMemory heap) {
        return new TlsLoans(heap, Math.clamp(heap.limitBytes() / 3 * 2 / BYTES, 0, Integer.MAX_VALUE));
    }

    /**
     * Takes what one connection needs. It is given back when the channel is closed and nothing of its handshake is left to do.
     *
     * @param handshakes where its handshake is worked at
     * @return null if there is no room
     */
    // Who closes the channel is told whether it could be, not we.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Nullable
    TlsLoan take(Channel channel, Executor handshakes) {
        if (taken.incrementAndGet() > most) {
            taken.decrementAndGet();
            return null;
        }
        if (!heap.take(BYTES)) {
            taken.decrementAndGet();
            return null;
        }
        TlsLoan loan = new TlsLoan(handshakes, this::giveBack);
        channel.closeFuture().addListener(_ -> loan.letGo());
        return loan;
    }

    private void giveBack() {
        heap.give(BYTES);
        taken.decrementAndGet();
    }

    /** Connections at a time. */
    int most() {
        return most;
    }

    /** Connections that have theirs, and those that are closed while their handshakes are still worked at. */
    int taken() {
        return taken.get();
    }
}
