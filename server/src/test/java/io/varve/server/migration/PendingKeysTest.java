package io.varve.server.migration;

import java.util.BitSet;

import io.varve.cluster.map.HashSlot;
import io.varve.memory.item.Change;
import io.varve.memory.offheap.Memory;
import io.varve.server.keys.HeapKey;
import io.varve.server.persistence.ReusedText;
import io.varve.server.resp.RequestHeapBudget;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link PendingKeys}. Confined to the test's thread. */
class PendingKeysTest {
    private static final int SHARD = 1;

    private final RequestHeapBudget heap = new RequestHeapBudget(10_000);
    private final PendingKeys pending = pending(heap);

    private static PendingKeys pending(RequestHeapBudget heap) {
        BitSet slots = new BitSet();
        slots.set(HashSlot.of("a".getBytes(UTF_8)));
        return new PendingKeys(slots, SHARD, heap);
    }

    private static void change(PendingKeys to, int shard, int database, String key) {
        try (ReusedText text = new ReusedText()) {
            byte[] bytes = key.getBytes(UTF_8);
            long address = text.take(bytes.length);
            Memory.copy(bytes, 0, address, bytes.length);
            to.changed(Change.SET, shard, 1, database, address, bytes.length);
        }
    }

    @Test
    void changedKeysOfTheSlots_areTakenOnceInTheirOrder() {
        change(pending, SHARD, 0, "{a}1");
        change(pending, SHARD, 0, "{a}2");
        change(pending, SHARD, 0, "{a}1");
        change(pending, SHARD, 0, "{b}1");
        change(pending, SHARD + 1, 0, "{a}3");
        change(pending, SHARD, -1, "{a}4");
        assertThat(pending.size()).isEqualTo(2);
        HeapKey first = new HeapKey(0, "{a}1");
        assertThat(pending.next()).isEqualTo(first);
        pending.take(first);
        change(pending, SHARD, 0, "{a}1");
        assertThat(pending.next()).isEqualTo(new HeapKey(0, "{a}2"));
        pending.take(new HeapKey(0, "{a}2"));
        assertThat(pending.next()).isEqualTo(first);
        pending.take(first);
        assertThat(pending.next()).isNull();
        assertThat(pending.broken()).isNull();
        assertThat(heap.reservedBytes()).isZero();
    }

    @Test
    void keysThatFillTheHeap_breakTheAttempt() {
        for (int i = 0; i < 1000 && pending.broken() == null; i++) {
            change(pending, SHARD, 0, "{a}" + i);
        }
        assertThat(pending.broken()).contains("no heap");
        pending.close();
        assertThat(heap.reservedBytes()).isZero();
        change(pending, SHARD, 0, "{a}later");
        assertThat(heap.reservedBytes()).isZero();
    }

    @Test
    void aFlush_breaksTheAttempt() {
        pending.flushed(0);
        assertThat(pending.broken()).contains("flushed");
    }
}
