package io.varve.server.clustering;

import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.offheap.Memory;
import io.varve.server.keys.HeapKey;
import io.varve.server.persistence.ReusedText;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link KeyCopies}. Confined to the test's thread. */
class KeyCopiesTest {
    private static final String OWNER = "a";
    private static final HeapKey KEY = new HeapKey(0, "hot");
    private static final long SECOND = 1_000_000_000;

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - SECOND);
    private final KeyCopies copies = new KeyCopies(clock::get);

    private interface Use {
        boolean test(long address, int length);
    }

    private static boolean with(HeapKey key, Use use) {
        try (ReusedText text = new ReusedText()) {
            byte[] bytes = key.name().getBytes(UTF_8);
            long address = text.take(bytes.length);
            Memory.copy(bytes, 0, address, bytes.length);
            return use.test(address, bytes.length);
        }
    }

    private boolean isServable(String ownerId) {
        return with(KEY, (address, length) -> copies.isServable(address, length, ownerId));
    }

    private void lose() {
        with(KEY, (address, length) -> {
            copies.lose(address, length);
            return true;
        });
    }

    @Test
    void aCopyIsServed_untilOneLeaseAfterTheStamp() {
        long stamp = copies.begin(OWNER, 1);
        copies.add(KEY, OWNER, 1);
        assertThat(isServable(OWNER)).as("not renewed").isFalse();
        clock.addAndGet(SECOND);
        long next = copies.renew(OWNER, stamp);
        assertThat(isServable(OWNER)).isTrue();
        assertThat(isServable("b")).as("another owner").isFalse();
        clock.addAndGet(SECOND - 1);
        assertThat(isServable(OWNER)).isTrue();
        clock.addAndGet(1);
        assertThat(isServable(OWNER)).as("the renewal was late").isFalse();
        copies.renew(OWNER, next);
        assertThat(isServable(OWNER)).isTrue();
        // An older stamp does not shorten the lease, and one in the future is none.
        copies.renew(OWNER, stamp);
        assertThat(isServable(OWNER)).isTrue();
        copies.renew(OWNER, clock.get() + 1);
        clock.addAndGet(SECOND);
        assertThat(isServable(OWNER)).isFalse();
    }

    @Test
    void aNewConnection_replacesTheOldOne() {
        copies.renew(OWNER, copies.begin(OWNER, 1));
        copies.add(KEY, OWNER, 1);
        assertThat(isServable(OWNER)).isTrue();
        long stamp = copies.begin(OWNER, 2);
        assertThat(copies.accepts(OWNER, 1)).isFalse();
        assertThat(copies.accepts(OWNER, 2)).isTrue();
        copies.renew(OWNER, stamp);
        assertThat(isServable(OWNER)).as("sent on the old connection").isFalse();
        assertThat(copies.stale()).containsExactly(KEY);
        copies.add(KEY, OWNER, 2);
        assertThat(isServable(OWNER)).isTrue();
        assertThat(copies.stale()).isEmpty();
        assertThat(copies.forget(KEY)).isFalse();
        assertThat(copies.remove(KEY, "b")).isFalse();
        assertThat(copies.remove(KEY, OWNER)).isTrue();
        assertThat(copies.count()).isZero();
    }

    @Test
    void copiesThatAreLostOrForgotten_areReportedToTheirOwner() {
        copies.renew(OWNER, copies.begin(OWNER, 1));
        copies.add(KEY, OWNER, 1);
        lose();
        assertThat(isServable(OWNER)).isFalse();
        assertThat(copies.takeLost(OWNER)).containsExactly(KEY);
        assertThat(copies.takeLost(OWNER)).isEmpty();
        copies.add(KEY, OWNER, 1);
        clock.addAndGet(KeyCopies.LEASE_NANOS);
        assertThat(copies.stale()).containsExactly(KEY);
        assertThat(with(KEY, copies::holds)).isTrue();
        assertThat(copies.forget(KEY)).isTrue();
        assertThat(with(KEY, copies::holds)).isFalse();
        assertThat(copies.takeLost(OWNER)).containsExactly(KEY);
        lose();
        assertThat(copies.takeLost(OWNER)).as("no copy").isEmpty();
    }

    /** An owner that dies before its first renewal leaves no copies behind. */
    @Test
    void copiesWithoutARenewal_becomeStale() {
        copies.begin(OWNER, 1);
        copies.add(KEY, OWNER, 1);
        assertThat(copies.stale()).isEmpty();
        clock.addAndGet(KeyCopies.LEASE_NANOS);
        assertThat(copies.stale()).containsExactly(KEY);
    }
}
