package io.varve.memory.offheap;

import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests charges, releases and limits of the memory budget. */
class MemoryBudgetTest {
    @Test
    void chargesUpToTheLimit() {
        MemoryBudget budget = new MemoryBudget(100);
        assertThat(budget.tryCharge(60)).isTrue();
        assertThat(budget.tryCharge(41)).isFalse();
        assertThat(budget.chargedBytes()).isEqualTo(60);
        assertThat(budget.tryCharge(40)).isTrue();
        assertThat(budget.availableBytes()).isZero();
        assertThat(budget.tryCharge(1)).isFalse();
        budget.release(50);
        assertThat(budget.availableBytes()).isEqualTo(50);
    }

    @Test
    void aHugeChargeIsRefusedNotWrapped() {
        MemoryBudget budget = new MemoryBudget(Long.MAX_VALUE);
        assertThat(budget.tryCharge(10)).isTrue();
        assertThat(budget.tryCharge(Long.MAX_VALUE)).isFalse();
        assertThat(budget.chargedBytes()).isEqualTo(10);
    }

    @Test
    void anUnconditionalChargeExceedsTheLimitAndALoweredLimitLeavesANegativeRest() {
        MemoryBudget budget = new MemoryBudget(100);
        budget.charge(150);
        assertThat(budget.availableBytes()).isEqualTo(-50);
        assertThat(budget.tryCharge(1)).isFalse();
        budget.limit(200);
        assertThat(budget.tryCharge(50)).isTrue();
        budget.limit(20);
        assertThat(budget.availableBytes()).isEqualTo(-180);
        assertThat(budget.limitBytes()).isEqualTo(20);
    }

    @Test
    void limitsBelowOneAreRefused() {
        assertThatThrownBy(() -> new MemoryBudget(0)).isInstanceOf(IllegalArgumentException.class);
        MemoryBudget budget = new MemoryBudget(1);
        assertThatThrownBy(() -> budget.limit(-1)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1");
        assertThat(budget.limitBytes()).isEqualTo(1);
    }

    @Test
    void releasingMoreThanChargedIsAnError() {
        MemoryBudget budget = new MemoryBudget(10);
        budget.charge(5);
        assertThatThrownBy(() -> budget.release(6)).isInstanceOf(AssertionError.class);
    }

    @Test
    void concurrentChargesNeverExceedTheLimit() throws InterruptedException {
        MemoryBudget budget = new MemoryBudget(1000);
        AtomicLong held = new AtomicLong();
        AtomicLong max = new AtomicLong();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < 20_000; i++) {
                    long bytes = 1L + i % 400;
                    if (budget.tryCharge(bytes)) {
                        max.accumulateAndGet(held.addAndGet(bytes), Math::max);
                        held.addAndGet(-bytes);
                        budget.release(bytes);
                    }
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(max.get()).isBetween(1L, 1000L);
        assertThat(budget.chargedBytes()).isZero();
    }
}
