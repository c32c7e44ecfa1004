package io.varve.ycsb;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.DBException;
import site.ycsb.Status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/**
 * Tests fills with concurrent writes: a value that was read before a write does not stay. Confined to the test's
 * thread, except where a test says otherwise.
 */
class CacheAsideFillsTest extends CacheAsideHarness {

    /** The write comes and goes between the reader's fetch and its SET. */
    @ParameterizedTest
    @ValueSource(strings = {"insert", "update", "delete"})
    void recordFetchedBeforeAWriteIsNotCachedAfterIt(String operation) throws DBException {
        CacheAsideClient reader = client();
        CacheAsideClient writer = client();
        duringDelays.add(() -> write(writer, operation, REMOTE_KEY));
        assertThat(read(reader, REMOTE_KEY, null)).as("a read that began before")
                .isEqualTo(Map.of("field0", "old", "field1", "rest"));
        assertThat(cache.records).isEmpty();
        assertThat(read(reader, REMOTE_KEY, null)).isEqualTo(after(operation));
        assertThat(read(writer, REMOTE_KEY, null)).isEqualTo(after(operation));
        assertThat(summary().overtakenFills()).isEqualTo(1);
    }

    /** The read comes and goes between the writer's commit and its DEL. */
    @Test
    void aReadDuringAWriteLeavesNothingOldBehind() throws DBException {
        CacheAsideClient reader = client();
        CacheAsideClient writer = client();
        read(reader, REMOTE_KEY, null);
        duringDelays.add(() -> assertThat(read(reader, REMOTE_KEY, null)).containsEntry("field0", "old"));
        write(writer, "update", REMOTE_KEY);
        assertThat(read(reader, REMOTE_KEY, null)).isEqualTo(after("update"));
        cache.records.clear();
        duringDelays.add(() -> assertThat(read(reader, REMOTE_KEY, null)).isEqualTo(Map.of("field0", "newer", "field1",
                "rest")));
        assertThat(writer.update("usertable", REMOTE_KEY, values("field0", "newer"))).isEqualTo(Status.OK);
        assertThat(read(reader, REMOTE_KEY, null)).containsEntry("field0", "newer");
    }

    /**
     * The write comes between the reader's check whether it was overtaken and the reply to its SET, on its own thread.
     */
    @Test
    @Timeout(60)
    void aWriteWaitsForASetThatIsUnderWay() throws Exception {
        CacheAsideClient reader = client();
        CacheAsideClient writer = client();
        Thread writing = new Thread(() -> write(writer, "update", REMOTE_KEY), "writer");
        cache.duringWrite(() -> {
            writing.start();
            while (writing.getState() != Thread.State.BLOCKED && writing.getState() != Thread.State.TERMINATED) {
                Thread.onSpinWait();
            }
        });
        assertThat(read(reader, REMOTE_KEY, null)).containsEntry("field0", "old");
        writing.join();
        assertThat(cache.records).isEmpty();
        assertThat(read(reader, REMOTE_KEY, null)).isEqualTo(after("update"));
    }

    /** The reader continues before its SET is answered; the writer has a thread of its own. */
    @Test
    @Timeout(60)
    void aWriteWaitsForASetThatWasSent() throws Exception {
        CacheAsideClient reader = client("varve.fill", "sent");
        CacheAsideClient writer = client("varve.fill", "sent");
        cache.answerLater();
        assertThat(read(reader, REMOTE_KEY, null)).as("it does not wait").containsEntry("field0", "old");
        assertThat(summary().fills()).isZero();
        Thread writing = new Thread(() -> write(writer, "update", REMOTE_KEY), "writer");
        writing.start();
        while (writing.getState() != Thread.State.TIMED_WAITING && writing.isAlive()) {
            Thread.onSpinWait();
        }
        cache.answer();
        writing.join();
        assertThat(cache.records).isEmpty();
        assertThat(summary().fills()).isEqualTo(1);
        assertThat(read(reader, REMOTE_KEY, null)).isEqualTo(after("update"));
        assertThat(cache.records).containsOnlyKeys(REMOTE_KEY);
    }

    /** The reader has a thread of its own. */
    @Test
    @Timeout(60)
    void readWaitsForReplyToFillByDefault() throws Exception {
        CacheAsideClient reader = client();
        cache.answerLater();
        Thread reading = new Thread(() -> read(reader, REMOTE_KEY, null), "reader");
        reading.start();
        while (reading.getState() != Thread.State.TIMED_WAITING && reading.isAlive()) {
            Thread.onSpinWait();
        }
        assertThat(reading.isAlive()).isTrue();
        cache.answer();
        reading.join();
        assertThat(summary().fills()).isEqualTo(1);
    }

    /** Otherwise it would be lost with the connection. The client that ends has its own thread. */
    @Test
    @Timeout(60)
    void aClientThatEndsWaitsForTheFillThatItHasSent() throws Exception {
        CacheAsideClient client = client("varve.fill", "sent");
        cache.answerLater();
        cache.closed = false;
        cache.refusesWrites = true;
        String reported = reported(() -> {
            read(client, LOCAL_KEY, null);
            Thread ending = new Thread(() -> assertThatCode(client::cleanup).doesNotThrowAnyException());
            ending.start();
            while (ending.getState() != Thread.State.TIMED_WAITING && ending.isAlive()) {
                Thread.onSpinWait();
            }
            assertThat(cache.closed).isFalse();
            cache.answer();
            assertThatCode(ending::join).doesNotThrowAnyException();
        });
        assertThat(cache.closed).isTrue();
        assertThat(reported).contains("filling the cache failed").contains("OOM it is full");
        assertThat(summary().refusedFills()).isEqualTo(1);
    }
}
