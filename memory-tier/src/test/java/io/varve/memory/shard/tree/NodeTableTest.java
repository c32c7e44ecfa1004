package io.varve.memory.shard.tree;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the allocation of ids, their entries, and the memory of their table. Confined to the test's thread. */
class NodeTableTest {
    private final MemoryBudget budget = new MemoryBudget(1 << 20);
    private final NodeTable table = new NodeTable(new Regions(), budget);

    private void check() {
        List<String> problems = new ArrayList<>();
        table.checkIntegrity(problems::add);
        assertThat(problems).isEmpty();
        assertThat(budget.chargedBytes()).isEqualTo(table.bytes());
    }

    @Test
    void entries_roundTrip() {
        int id = table.allocate();
        assertThat(id).isPositive();
        long last = (1L << 48) - 1;
        table.node(id, last, 63, NodeTable.COPIED);
        assertThat(NodeTable.headerBytesOf(table.bits(id))).isEqualTo(63);
        assertThat(table.isNode(id)).isTrue();
        assertThat(table.location(id)).isEqualTo(last);
        assertThat(table.bits(id) & NodeTable.COPIED).isNotZero();
        assertThat(table.bits(id) & (NodeTable.DROPPED | NodeTable.FREED)).isZero();
        table.node(id, 0, 0, NodeTable.FREED | NodeTable.DROPPED);
        assertThat(table.location(id)).isZero();
        table.tree(id, last);
        assertThat(table.isTree(id)).isTrue();
        assertThat(table.location(id)).isEqualTo(last);
        for (int value : new int[] {1, 77, Integer.MAX_VALUE}) {
            table.dying(id, value, Integer.MAX_VALUE - value);
            assertThat(table.isDying(id)).isTrue();
            assertThat(table.isNode(id) || table.isTree(id)).isFalse();
            assertThat(table.dyingRoot(id)).isEqualTo(value);
            assertThat(table.dyingNext(id)).isEqualTo(Integer.MAX_VALUE - value);
        }
        table.free(id);
        check();
    }

    /** Slabs are allocated ahead and returned, whether the reservation is ended or not; none is freed meanwhile. */
    @Test
    void reservedIdsAreReturned() {
        int used = table.allocate();
        assertThat(table.reserve(10 * NodeTable.IDS_PER_SLAB)).isTrue();
        long reserved = table.bytes();
        assertThat(reserved).isGreaterThan(10L * NodeTable.SLAB_BYTES);
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < 3 * NodeTable.IDS_PER_SLAB; i++) {
            ids.add(table.allocate());
        }
        ids.forEach(table::free);
        assertThat(table.bytes()).isEqualTo(reserved);
        check();
        table.endReserve();
        assertThat(table.bytes()).isLessThanOrEqualTo(2L * NodeTable.SLAB_BYTES);
        check();
        budget.reserve(budget.limitBytes() - 4L * NodeTable.SLAB_BYTES);
        assertThat(table.reserve(10 * NodeTable.IDS_PER_SLAB)).isFalse();
        assertThat(table.bytes()).isLessThanOrEqualTo(2L * NodeTable.SLAB_BYTES);
        table.free(used);
        check();
    }

    @Test
    void idsAreUniqueUntilTheyAreFreed() {
        SplittableRandom random = new SplittableRandom(3);
        Map<Integer, Long> model = new HashMap<>();
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < 60_000; i++) {
            boolean grows = i / 15_000 % 2 == 0;
            if (ids.isEmpty() || random.nextInt(10) < (grows ? 7 : 2)) {
                int id = table.allocate();
                long location = random.nextLong(1L << 48);
                table.node(id, location, 12, 0);
                assertThat(model.put(id, location)).isNull();
                ids.add(id);
            } else {
                int place = random.nextInt(ids.size());
                int id = ids.get(place);
                ids.set(place, ids.getLast());
                ids.removeLast();
                assertThat(table.location(id)).isEqualTo(model.remove(id));
                table.free(id);
            }
            if (i % 5000 == 0) {
                check();
            }
        }
        model.forEach((id, location) -> assertThat(table.location(id)).isEqualTo(location));
        assertThat(table.size()).isEqualTo(model.size());
        ids.forEach(table::free);
        check();
        assertThat(table.size()).isZero();
        assertThat(table.bytes()).as("one empty slab is kept").isEqualTo(NodeTable.SLAB_BYTES);
        table.release();
        assertThat(budget.chargedBytes()).isZero();
    }

    @Test
    void aRefusedSlabChangesNothing() {
        List<Integer> ids = new ArrayList<>();
        assertThatThrownBy(() -> {
            while (true) {
                ids.add(table.allocate());
            }
        }).isInstanceOf(CacheFullException.class);
        assertThat(ids).hasSize((1 << 20) / Long.BYTES - 1);
        check();
        table.free(ids.get(1000));
        assertThat(table.allocate()).isEqualTo(ids.get(1000));
        check();
    }
}
