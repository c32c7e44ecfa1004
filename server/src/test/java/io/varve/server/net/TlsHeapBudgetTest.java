package io.varve.server.net;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.embedded.EmbeddedChannel;
import io.varve.server.resp.RequestHeapBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the heap budget of encrypted connections. Confined to the test's thread. */
class TlsHeapBudgetTest {
    private final RequestHeapBudget heap = new RequestHeapBudget(3 * TlsHeapBudget.BYTES);
    private final TlsHeapBudget budget = TlsHeapBudget.of(heap);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    /** The received bytes may still contain a part of the handshake when the connection is closed. */
    @Test
    void aReservationIsReleasedOnce() {
        TlsHeapReservation reservation = take(channel, tasks::add);
        channel.close().syncUninterruptibly();
        assertThatThrownBy(() -> reservation.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(tasks).isEmpty();
        assertThat(budget.connections()).isZero();
        assertThat(heap.reservedBytes()).isZero();
    }

    private TlsHeapReservation take(EmbeddedChannel by, Executor handshakes) {
        TlsHeapReservation reservation = budget.reserve(by, handshakes);
        assertThat(reservation).isNotNull();
        return java.util.Objects.requireNonNull(reservation);
    }

    @Test
    void twoThirdsAreForThem() {
        assertThat(budget.maxConnections()).isEqualTo(2);
        assertThat(TlsHeapBudget.of(new RequestHeapBudget(0)).maxConnections()).isZero();
        assertThat(TlsHeapBudget.of(new RequestHeapBudget(Long.MAX_VALUE)).maxConnections())
                .isEqualTo(Integer.MAX_VALUE);
        EmbeddedChannel another = new EmbeddedChannel();
        take(channel, Runnable::run);
        take(another, Runnable::run);
        assertThat(heap.reservedBytes()).isEqualTo(2 * TlsHeapBudget.BYTES);
        assertThat(budget.reserve(new EmbeddedChannel(), Runnable::run)).isNull();
        another.close().syncUninterruptibly();
        assertThat(budget.connections()).isEqualTo(1);
        take(new EmbeddedChannel(), Runnable::run);
        assertThat(budget.reserve(new EmbeddedChannel(), Runnable::run)).isNull();
    }

    @Test
    void reservedMemoryIsNotAvailableToOthers() {
        assertThat(heap.tryReserve(2 * TlsHeapBudget.BYTES + 1)).isTrue();
        assertThat(budget.reserve(channel, Runnable::run)).isNull();
        assertThat(budget.connections()).isZero();
        heap.release(1);
        take(channel, Runnable::run);
        assertThat(budget.reserve(new EmbeddedChannel(), Runnable::run)).isNull();
        channel.close().syncUninterruptibly();
        assertThat(heap.reservedBytes()).isEqualTo(2 * TlsHeapBudget.BYTES);
        assertThat(budget.connections()).isZero();
    }

    @Test
    void aPendingHandshakeKeepsItsReservation() {
        AtomicInteger ran = new AtomicInteger();
        TlsHeapReservation reservation = take(channel, tasks::add);
        reservation.execute(ran::incrementAndGet);
        reservation.execute(() -> {
            throw new IllegalStateException("no such certificate");
        });
        channel.close().syncUninterruptibly();
        assertThat(budget.connections()).isEqualTo(1);
        tasks.remove().run();
        assertThat(ran).hasValue(1);
        assertThat(budget.connections()).isEqualTo(1);
        assertThatThrownBy(() -> tasks.remove().run()).hasMessage("no such certificate");
        assertThat(budget.connections()).isZero();
        assertThat(heap.reservedBytes()).isZero();
    }

    @Test
    void tasksOfAnOpenConnectionDoNotReleaseIt() {
        TlsHeapReservation reservation = take(channel, tasks::add);
        reservation.execute(() -> {});
        tasks.remove().run();
        assertThat(budget.connections()).isEqualTo(1);
        channel.close().syncUninterruptibly();
        assertThat(budget.connections()).isZero();
    }

    @Test
    void aTaskThatIsRefusedHoldsNothing() {
        TlsHeapReservation reservation = take(channel, _ -> {
            throw new RejectedExecutionException("ended");
        });
        assertThatThrownBy(() -> reservation.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(budget.connections()).isEqualTo(1);
        channel.close().syncUninterruptibly();
        assertThat(budget.connections()).isZero();
    }
}
