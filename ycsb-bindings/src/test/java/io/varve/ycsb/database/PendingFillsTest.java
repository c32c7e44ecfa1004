package io.varve.ycsb.database;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.lettuce.core.RedisException;
import io.varve.ycsb.MapCache;
import io.varve.ycsb.VarveClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import site.ycsb.DB;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests the permission to fill the cache, step by step. Confined to the test's thread, except where a test says
 * otherwise.
 */
class PendingFillsTest {

    private final PendingFills fills = new PendingFills();
    private final DB one = new VarveClient();
    private final DB other = new VarveClient();
    private final MapCache cache = new MapCache();
    private final List<String> done = new CopyOnWriteArrayList<>();

    /** A cache that answers at once. */
    private Supplier<CompletableFuture<Boolean>> set(String what) {
        return () -> CompletableFuture.completedFuture(done.add(what));
    }

    /** One that has come to where it waits, or is through. */
    private Thread waitingWriter() {
        Thread writer = new Thread(() -> {
            fills.overtake("a", other, cache);
            done.add("overtaken");
        });
        writer.start();
        while (writer.getState() != Thread.State.TIMED_WAITING && writer.isAlive()) {
            Thread.onSpinWait();
        }
        return writer;
    }

    @Test
    void recordWithoutWriteIsFilled() {
        try (PendingFills.Fill fill = fills.begin("a")) {
            assertThat(fill.unlessOvertaken(one, set("a"))).isCompletedWithValue(true);
        }
        assertThat(done).containsExactly("a");
        assertThat(fills.size()).isZero();
    }

    @Test
    void recordReadBeforeAWriteIsNotCached() {
        try (PendingFills.Fill before = fills.begin("a")) {
            fills.overtake("a", other, cache);
            try (PendingFills.Fill after = fills.begin("a")) {
                assertThat(before.unlessOvertaken(one, set("before"))).isNull();
                assertThat(after.unlessOvertaken(one, set("after"))).isNotNull();
                assertThat(fills.size()).isEqualTo(1);
            }
            assertThat(before.unlessOvertaken(one, set("before"))).isNull();
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
        fills.overtake("user77", other, cache);
        fills.overtake("nobody", other, cache);
        for (int i = 0; i < open.size(); i++) {
            try (PendingFills.Fill fill = open.get(i)) {
                assertThat(fill.unlessOvertaken(one, set("user" + i)) != null).isEqualTo(i != 77);
            }
        }
        assertThat(fills.size()).isZero();
    }

    /** The writer has a thread of its own. */
    @Test
    @Timeout(60)
    void writerWaitsForReplyToSentFill() throws InterruptedException {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        try (PendingFills.Fill fill = fills.begin("a")) {
            assertThat(fill.unlessOvertaken(one, () -> answer)).isNotDone();
        }
        assertThat(fills.size()).as("the fill is closed, and not answered").isEqualTo(1);
        fills.overtake("another key", other, cache);
        Thread writer = waitingWriter();
        assertThat(done).isEmpty();
        answer.completeExceptionally(new RedisException("OOM it is full"));
        writer.join();
        assertThat(done).as("a refusal is an answer").containsExactly("overtaken");
        assertThat(fills.size()).isZero();
    }

    /** Two readers have sent theirs, and one is answered. The writer has a thread of its own. */
    @Test
    @Timeout(60)
    void aWriterWaitsForAllThatWasSentBeforeButForItsOwn() throws InterruptedException {
        CompletableFuture<Boolean> first = new CompletableFuture<>();
        CompletableFuture<Boolean> second = new CompletableFuture<>();
        CompletableFuture<Boolean> own = new CompletableFuture<>();
        for (CompletableFuture<Boolean> answer : List.of(first, second)) {
            try (PendingFills.Fill fill = fills.begin("a")) {
                assertThat(fill.unlessOvertaken(one, () -> answer)).isNotDone();
            }
        }
        try (PendingFills.Fill fill = fills.begin("a")) {
            assertThat(fill.unlessOvertaken(other, () -> own)).isNotDone();
        }
        second.complete(true);
        Thread writer = waitingWriter();
        assertThat(done).isEmpty();
        first.complete(true);
        writer.join();
        assertThat(done).containsExactly("overtaken");
        assertThat(fills.size()).isEqualTo(1);
        own.complete(true);
        assertThat(fills.size()).isZero();
    }

    /** The writer's DEL follows nevertheless, and the write is reported as one after which the cache may be wrong. */
    @Test
    @Timeout(60)
    void writerGetsTimeoutOfMissingReply() {
        PendingFills impatient = new PendingFills(1);
        CompletableFuture<Boolean> late = new CompletableFuture<>();
        try (PendingFills.Fill fill = impatient.begin("a")) {
            assertThat(fill.unlessOvertaken(one, () -> late)).isNotDone();
        }
        assertThatThrownBy(() -> impatient.overtake("a", other, cache)).isInstanceOf(RedisException.class)
                .hasMessageContaining("no reply within 1 ms");
        assertThat(late).as("it is left alone").isNotDone();
        try (PendingFills.Fill before = impatient.begin("a")) {
            assertThatThrownBy(() -> impatient.overtake("a", other, cache)).hasMessageContaining("no reply");
            assertThat(before.unlessOvertaken(one, set("before"))).as("overtaken all the same").isNull();
        }
        late.complete(true);
        assertThat(impatient.size()).isZero();
        impatient.overtake("a", other, cache);
    }

    @Test
    void failedSendLeavesNoPendingFill() {
        try (PendingFills.Fill fill = fills.begin("a")) {
            assertThatThrownBy(() -> fill.unlessOvertaken(one, () -> {
                throw new RedisException("no connection");
            })).hasMessage("no connection");
        }
        assertThat(fills.size()).isZero();
        fills.overtake("a", other, cache);
    }

    @Test
    void aKeyWithoutFillsIsNotKept() {
        fills.overtake("a", other, cache);
        assertThat(fills.size()).isZero();
    }
}
