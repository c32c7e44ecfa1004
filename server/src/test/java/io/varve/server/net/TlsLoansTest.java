package io.varve.server.net;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.embedded.EmbeddedChannel;
import io.varve.server.resp.ArgumentMemory;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What encrypted connections have of the heap. Confined to the test's thread. */
class TlsLoansTest {
    private final ArgumentMemory heap = new ArgumentMemory(3 * TlsLoans.BYTES);
    private final TlsLoans loans = TlsLoans.of(heap);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    /** What had been received may still hold a part of the handshake when the connection is closed. */
    @Test
    void whatWasGivenBackIsNotGivenBackOnceMore() {
        TlsLoan loan = take(channel, tasks::add);
        channel.close().syncUninterruptibly();
        assertThatThrownBy(() -> loan.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(tasks).isEmpty();
        assertThat(loans.taken()).isZero();
        assertThat(heap.takenBytes()).isZero();
    }

    private TlsLoan take(EmbeddedChannel by, Executor handshakes) {
        TlsLoan loan = loans.take(by, handshakes);
        assertThat(loan).isNotNull();
        return java.util.Objects.requireNonNull(loan);
    }

    @Test
    void twoThirdsAreForThem() {
        assertThat(loans.most()).isEqualTo(2);
        assertThat(TlsLoans.of(new ArgumentMemory(0)).most()).isZero();
        assertThat(TlsLoans.of(new ArgumentMemory(Long.MAX_VALUE)).most()).isEqualTo(Integer.MAX_VALUE);
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
    void whatOthersHaveIsNotThere() {
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
    void aHandshakeThatWaitsKeepsItAfterItsConnection() {
        AtomicInteger ran = new AtomicInteger();
        TlsLoan loan = take(channel, tasks::add);
        loan.execute(ran::incrementAndGet);
        loan.execute(() -> {
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
        TlsLoan loan = take(channel, tasks::add);
        loan.execute(() -> {});
        tasks.remove().run();
        assertThat(loans.taken()).isEqualTo(1);
        channel.close().syncUninterruptibly();
        assertThat(loans.taken()).isZero();
    }

    @Test
    void aTaskThatIsRefusedHoldsNothing() {
        TlsLoan loan = take(channel, _ -> {
            throw new RejectedExecutionException("ended");
        });
        assertThatThrownBy(() -> loan.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(loans.taken()).isEqualTo(1);
        channel.close().syncUninterruptibly();
        assertThat(loans.taken()).isZero();
    }
}
