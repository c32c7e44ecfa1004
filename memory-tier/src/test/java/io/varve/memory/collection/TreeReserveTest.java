package io.varve.memory.collection;

import java.util.List;
import java.util.function.BiConsumer;

import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

/**
 * Tests groups of writes with reserved memory: the declared number of nodes suffices, and none exceeds the target size,
 * whatever the tree looks like. Confined to the test's thread.
 */
class TreeReserveTest {
    private static final int ROUNDS = TestBudget.ofInt("varve.model.reserve-rounds", 200, 1_000);
    private static final int MAX_WRITES = 30;
    private static final int LONGEST = 24;

    private static <T extends CollectionTree> void writeTogether(T tree, int targetBytes,
            BiConsumer<TreeFixture<T>, String> put) {
        try (TreeFixture<T> fixture = new TreeFixture<>(tree, targetBytes, 1L << 32)) {
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = fixture.random.nextInt(8); i > 0; i--) {
                    put.accept(fixture, fixture.text());
                }
                for (int i = fixture.random.nextInt(20); i > 0 && tree.size() > 0; i--) {
                    tree.seek(fixture.random.nextLong(tree.size()));
                    tree.remove();
                }
                int writes = 1 + fixture.random.nextInt(MAX_WRITES);
                tree.atomically(writes, LONGEST, () -> {
                    for (int i = 0; i < writes; i++) {
                        put.accept(fixture, "e" + fixture.random.nextInt(100_000));
                    }
                });
                fixture.check();
            }
        }
    }

    private static void everySize(BiConsumer<TreeFixture<HashTree>, String> hash,
            BiConsumer<TreeFixture<SetTree>, String> set,
            BiConsumer<TreeFixture<SortedSetTree>, String> sorted) {
        for (int targetBytes : new int[] {130, 400, 1024}) {
            writeTogether(new HashTree(), targetBytes, hash);
            writeTogether(new SetTree(), targetBytes, set);
            writeTogether(new SortedSetTree(), targetBytes, sorted);
        }
    }

    @Test
    void reservedMemoryIsSufficientForTheRecordsOfAStream() {
        for (int targetBytes : new int[] {130, 400, 1024}) {
            writeTogether(new StreamTree(), targetBytes, (fixture, text) -> {
                StreamTree tree = fixture.tree;
                StreamRecords records = List.of(tree.groups(), tree.pending(), tree.owned())
                        .get(fixture.random.nextInt(3));
                long key = fixture.argument(0, text);
                // XCLAIM takes an entry from one consumer and gives it to another.
                if (fixture.random.nextInt(3) == 0 && records.seek(key, text.length())) {
                    records.remove();
                }
                records.put(key, text.length(), fixture.argument(1, "v"), 1);
            });
        }
    }

    @Test
    void reservedMemoryIsSufficient() {
        everySize((fixture, text) -> fixture.tree.put(fixture.argument(0, text), text.length(),
                fixture.argument(1, "v"), 1),
                (fixture, text) -> fixture.tree.add(fixture.argument(text), text.length()),
                (fixture, text) -> fixture.tree.put(fixture.argument(text), text.length(),
                        fixture.random.nextInt(1000)));
    }
}
