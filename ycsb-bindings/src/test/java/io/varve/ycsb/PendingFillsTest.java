package io.varve.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.lettuce.core.RedisException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Who may put what into the cache, step by step. Confined to the test's thread, but where a test says otherwise. */
class PendingFillsTest {

    private final PendingFills fills = new PendingFills();
    private final List<String> done = new CopyOnWriteArrayList<>();

    /** A cache that answers at once. */
    private Supplier<CompletableFuture<Boolean>> set(String what) {
        return () -> CompletableFuture.completedFuture(done.add(what));
    }

    @Test
    void whatNobodyWroteIsFilled() {
        try (PendingFills.Fill fill = fills.begin("a")) {
            assertThat(fill.unlessOvertaken(set("a"))).isCompletedWithValue(true);
        }
        assertThat(done).containsExactly("a");
        assertThat(fills.size()).isZero();
    }

    @Test
    void whatWasReadBeforeAWriteIsNot() {
        try (PendingFills.Fill before = fills.begin("a")) {
            fills.overtake("a");
            try (PendingFills.Fill after = fills.begin("a")) {
                assertThat(before.unlessOvertaken(set("before"))).isNull();
                assertThat(after.unlessOvertaken(set("after"))).isNotNull();
                assertThat(fills.size()).isEqualTo(1);
            }
            assertThat(before.unlessOvertaken(set("before"))).isNull();
        }
        assertThat(done).containsExactly("after");
        assertThat(fills.size()).isZero();
    }

    /** Also for keys behind one lock. */
    @Test
    void aWriteOvertakesItsOwnKeyOnly() {
        List<PendingFills.Fill> open = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            open.add(fills.begin("user" + i));
        }
        fills.overtake("user77");
        fills.overtake("nobody");
        for (int i = 0; i < open.size(); i++) {
            try (PendingFills.Fill fill = open.get(i)) {
                assertThat(fill.unlessOvertaken(set("user" + i)) != null).isEqualTo(i != 77);
            }
        }
        assertThat(fills.size()).isZero();
    }

    /** The writer has a thread of its own. */
    @Test
    @Timeout(60)
    void aWriterWaitsUntilWhatWasSentIsAnswered() throws InterruptedException {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        try (PendingFills.Fill fill = fills.begin("a")) {
            assertThat(fill.unlessOvertaken(() -> answer)).isNotDone();
        }
        assertThat(fills.size()).as("the fill is closed, and not answered").isEqualTo(1);
        fills.overtake("another key");
        Thread writer = new Thread(() -> {
            fills.overtake("a");
            done.add("overtaken");
        });
        writer.start();
        while (writer.getState() != Thread.State.TIMED_WAITING && writer.isAlive()) {
            Thread.onSpinWait();
        }
        assertThat(done).isEmpty();
        answer.completeExceptionally(new RedisException("OOM it is full"));
        writer.join();
        assertThat(done).as("a refusal is an answer").containsExactly("overtaken");
        assertThat(fills.size()).isZero();
    }

    @Test
    void whatCouldNotBeSentLeavesNothingBehind() {
        try (PendingFills.Fill fill = fills.begin("a")) {
            assertThatThrownBy(() -> fill.unlessOvertaken(() -> {
                throw new RedisException("no connection");
            })).hasMessage("no connection");
        }
        assertThat(fills.size()).isZero();
        fills.overtake("a");
    }

    @Test
    void aKeyWithoutFillsIsNotKept() {
        fills.overtake("a");
        assertThat(fills.size()).isZero();
    }
}
