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
class TlsLoansTest {
    private final RequestHeapBudget heap = new RequestHeapBudget(3 * TlsLoans.BYTES);
    private final TlsLoans loans = TlsLoans.of(heap);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    /** What had been received may still hold a part of the handshake when the connection is closed. */
    @Test
    void aReservationIsReleasedOnce() {
        TlsHeapReservation reservation = take(channel, tasks::add);
        channel.close().syncUninterruptibly();
        assertThatThrownBy(() -> reservation.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(tasks).isEmpty();
        assertThat(loans.taken()).isZero();
        assertThat(heap.takenBytes()).isZero();
    }

    private TlsHeapReservation take(EmbeddedChannel by, Executor handshakes) {
        TlsHeapReservation reservation = loans.take(by, handshakes);
        assertThat(reservation).isNotNull();
        return java.util.Objects.requireNonNull(reservation);
    }

    @Test
    void twoThirdsAreForThem() {
        assertThat(loans.most()).isEqualTo(2);
        assertThat(TlsLoans.of(new RequestHeapBudget(0)).most()).isZero();
        assertThat(TlsLoans.of(new RequestHeapBudget(Long.MAX_VALUE)).most()).isEqualTo(Integer.MAX_VALUE);
        EmbeddedChannel another = new EmbeddedChannel();
        take(channel, Runnable::run);
        take(another, Runnable::run);
        assertThat(heap.takenBytes()).isEqualTo(2 * TlsLoans.BYTES);
        assertThat(loans.take(new EmbeddedChannel(), Runnable::run)).isNull();
        another.close().syncUninterruptibly();
        assertThat(loans.taken()).isEqualTo(1);
        take(new EmbeddedChannel(), Runnable::run);
        assertThat(loans.take(new EmbeddedChannel(), Runnable::run)).isNull();
    }

    @Test
    void reservedMemoryIsNotAvailableToOthers() {
        assertThat(heap.take(2 * TlsLoans.BYTES + 1)).isTrue();
        assertThat(loans.take(channel, Runnable::run)).isNull();
        assertThat(loans.taken()).isZero();
        heap.give(1);
        take(channel, Runnable::run);
        assertThat(loans.take(new EmbeddedChannel(), Runnable::run)).isNull();
        channel.close().syncUninterruptibly();
        assertThat(heap.takenBytes()).isEqualTo(2 * TlsLoans.BYTES);
        assertThat(loans.taken()).isZero();
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
        assertThat(loans.taken()).isEqualTo(1);
        tasks.remove().run();
        assertThat(ran).hasValue(1);
        assertThat(loans.taken()).isEqualTo(1);
        assertThatThrownBy(() -> tasks.remove().run()).hasMessage("no such certificate");
        assertThat(loans.taken()).isZero();
        assertThat(heap.takenBytes()).isZero();
    }

    @Test
    void tasksOfOneThatStaysDoNotGiveItBack() {
        TlsHeapReservation reservation = take(channel, tasks::add);
        reservation.execute(() -> {});
        tasks.remove().run();
        assertThat(loans.taken()).isEqualTo(1);
        channel.close().syncUninterruptibly();
        assertThat(loans.taken()).isZero();
    }

    @Test
    void aTaskThatIsRefusedHoldsNothing() {
        TlsHeapReservation reservation = take(channel, _ -> {
            throw new RejectedExecutionException("ended");
        });
        assertThatThrownBy(() -> reservation.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(loans.taken()).isEqualTo(1);
        channel.close().syncUninterruptibly();
        assertThat(loans.taken()).isZero();
    }
}
