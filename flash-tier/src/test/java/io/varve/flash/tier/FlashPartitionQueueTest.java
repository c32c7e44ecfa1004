package io.varve.flash.tier;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.tier.FlashPartitionQueue.KeyFetch;
import io.varve.flash.tier.FlashPartitionQueue.Work;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the order of service. Confined to the test's thread, which also plays the worker. */
class FlashPartitionQueueTest {
    private static final int LOADED_CLASS = 4;

    private final FlashPartitionQueue partitionQueue = new FlashPartitionQueue(1 << 20, new PendingRemovals());

    private static byte[] name(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private void request(String prefix, int count, boolean isLoad) {
        Fetch fetch = isLoad ? new Fetch(LOADED_CLASS, () -> {}) : new Fetch(() -> {});
        for (int i = 0; i < count; i++) {
            fetch.add(0, 1, i, name(prefix + i));
        }
        fetch.begin().forEach(requestedKey -> partitionQueue.request(fetch, requestedKey, 0));
    }

    private static DemotedItem demotedItem(String name, int place) {
        return new DemotedItem(ItemKey.of(ItemKey.place(place), 1, name(name)), ItemRecord.begin(0, 0, 0, 0, -1, 10,
                ItemRecord.NO_SCAN));
    }

    @Test
    void loadsAreServedDuringConstantFetches() {
        request("load ", 20, true);
        List<Integer> loads = new ArrayList<>();
        int requested = 0;
        for (int turn = 0; turn < 40; turn++) {
            request("asked " + turn + " ", 100, false);
            List<KeyFetch> fetches = partitionQueue.take().fetches();
            assertThat(fetches.stream().map(KeyFetch::isLoad).distinct()).as("never both in a round").hasSize(1);
            if (fetches.getFirst().isLoad()) {
                loads.add(fetches.size());
            } else {
                requested += fetches.size();
            }
        }
        assertThat(loads).containsExactly(8, 8, 4);
        assertThat(requested).isEqualTo(37 * FlashPartitionQueue.MAX_BATCH);
    }

    @Test
    void fetchesAreServedFirst() {
        request("load ", 8, true);
        request("asked ", 10, false);
        assertThat(partitionQueue.take().fetches()).hasSize(10).noneMatch(KeyFetch::isLoad);
        assertThat(partitionQueue.take().fetches()).hasSize(8).allMatch(KeyFetch::isLoad);
    }

    @Test
    void loadLeavesDemotedItemsInQueue() {
        DemotedItem item = demotedItem("falls", 0);
        assertThat(partitionQueue.demote(item)).isTrue();
        Fetch load = new Fetch(LOADED_CLASS, () -> {});
        load.add(0, item.recordKey());
        load.begin().forEach(requestedKey -> partitionQueue.request(load, requestedKey, 0));
        Work first = partitionQueue.take();
        assertThat(first.fetches()).hasSize(1);
        assertThat(first.fetches().getFirst().demoted()).isNull();
        assertThat(partitionQueue.demotingBytes()).isEqualTo(item.heapBytes());
        assertThat(partitionQueue.take().demoted()).containsExactly(item);
    }

    @Test
    void fetchReturnsDemotedItem() {
        DemotedItem item = demotedItem("asked 0", 0);
        assertThat(partitionQueue.demote(item)).isTrue();
        request("asked ", 1, false);
        assertThat(partitionQueue.take().fetches().getFirst().demoted()).isSameAs(item);
        assertThat(partitionQueue.demotingBytes()).isZero();
    }
}
