package io.varve.flash.wait;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.LockWait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests who runs the work of workers. The test's thread lends, other threads are workers. */
@Timeout(60)
class ShardLoanTest {
    private final ShardLoan loan = new ShardLoan();
    private final Thread lender = Thread.currentThread();

    private boolean isLender() {
        return Thread.currentThread().equals(lender);
    }

    private static boolean refused() {
        throw new IllegalStateException("the work of the other thread, for the test");
    }

    @Test
    void aWorkerRunsItsWorkWhileNobodyLends() {
        assertThat(loan.run(() -> true, ShardLoanTest::refused)).isTrue();
        assertThat(loan.run(() -> false, ShardLoanTest::refused)).isFalse();
    }

    @Test
    void theLenderRunsTheWork() {
        CompletableFuture<Boolean> worker = new CompletableFuture<>();
        boolean done = loan.lend(
                () -> worker.completeAsync(() -> loan.run(ShardLoanTest::refused, this::isLender)),
                worker::isDone, () -> {});
        assertThat(done).isTrue();
        assertThat(worker.join()).isTrue();
    }

    /** The worker waits for a shard before the loan begins. */
    @Test
    void aWorkerThatWaitsGivesUp() throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        CompletableFuture<Boolean> worker = CompletableFuture.supplyAsync(() -> loan.run(() -> {
            waits.countDown();
            while (!LockWait.isInVain()) {
                LockWait.check();
                Thread.onSpinWait();
            }
            return false;
        }, this::isLender));
        assertThat(waits.await(1, TimeUnit.MINUTES)).isTrue();
        assertThat(loan.lend(() -> {}, worker::isDone, () -> {})).isTrue();
        assertThat(worker.join()).isTrue();
    }

    /** A worker does its work itself if the loan ends before. */
    @Test
    void workIsReturnedAtTheEnd() throws Exception {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        Thread worker = new Thread(() -> result.complete(loan.run(() -> !isLender(), ShardLoanTest::refused)));
        assertThatThrownBy(() -> loan.lend(() -> {
            worker.start();
            while (worker.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            throw new IllegalStateException("the script is killed");
        }, () -> false, () -> {})).hasMessage("the script is killed");
        assertThat(result.join()).isTrue();
        worker.join();
    }

    @Test
    void aFailureOfTheWorkIsTheWorkers() {
        CompletableFuture<Boolean> worker = new CompletableFuture<>();
        assertThat(loan.lend(() -> worker.completeAsync(() -> loan.run(() -> true, ShardLoanTest::refused)),
                worker::isDone, () -> {})).isTrue();
        assertThatThrownBy(worker::join).isInstanceOf(CompletionException.class)
                .hasRootCauseMessage("the work of the other thread, for the test");
    }

    /** A worker that drops the content of flash waits for all shards. */
    @Test
    void aFailureOfFlashEndsTheLoan() {
        loan.beginFailure();
        assertThat(loan.lend(() -> {}, () -> false, () -> {})).isFalse();
        loan.endFailure();
        CompletableFuture<Boolean> worker = new CompletableFuture<>();
        assertThat(loan.lend(() -> worker.completeAsync(() -> loan.run(ShardLoanTest::refused, () -> true)),
                worker::isDone, () -> {})).isTrue();
        assertThat(loan.lend(loan::beginFailure, () -> false, () -> {})).isFalse();
    }
}
