package io.varve.memory.collection;

import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random writes to the blocks and the group records of a stream, compared with two maps, where memory is refused now
 * and then. Confined to the test's thread.
 */
class StreamTreeModelTest {
    private static final int OPERATIONS = TestBudget.ofInt("varve.model.operations", 8_000, 150_000);
    private static final int SCRATCH = 2 * Long.BYTES;

    private TreeMap<Long, String> blocks = new TreeMap<>();
    private TreeMap<String, String> groups = new TreeMap<>();
    private TreeMap<String, String> pending = new TreeMap<>();
    private TreeMap<String, String> owned = new TreeMap<>();
    private long last;

    @ParameterizedTest
    @ValueSource(ints = {200, 512, 1024})
    void randomWrites_agreeWithTheModel(int targetBytes) {
        try (TreeFixture<StreamTree> fixture = new TreeFixture<>(new StreamTree(), targetBytes, 1L << 32)) {
            for (int i = 0; i < OPERATIONS; i++) {
                boolean grows = i / 1000 % 2 == 0;
                if (fixture.random.nextInt(100) == 0) {
                    several(fixture, grows);
                } else {
                    single(fixture, grows);
                }
                if (fixture.random.nextInt(200) == 0) {
                    compare(fixture);
                }
            }
            compare(fixture);
            assertThat(fixture.space.refusals()).isPositive();
            fixture.tree.removeRange(0, fixture.tree.size());
            for (StreamRecords records : List.of(fixture.tree.groups(), fixture.tree.pending(),
                    fixture.tree.owned())) {
                records.removeRange(0, records.size());
            }
            fixture.check();
        }
    }

    /** A search begins with what the former one found, perhaps in a stream of another size. */
    @Test
    void oneObjectSearchesSeveralStreams() {
        try (TreeFixture<StreamTree> large = new TreeFixture<>(new StreamTree(), 200, 1L << 32);
                TreeFixture<StreamTree> small = new TreeFixture<>(new StreamTree(), 200, 1L << 32)) {
            NavigableMap<String, String> many = fill(large, 5000);
            NavigableMap<String, String> few = fill(small, 60);
            StreamTree tree = new StreamTree();
            for (int i = 0; i < 20_000; i++) {
                boolean isLarge = large.random.nextBoolean();
                TreeFixture<StreamTree> fixture = isLarge ? large : small;
                fixture.openAlso(tree);
                String key = key(large);
                assertNeighbours(tree.pending(), isLarge ? many : few, key, fixture.argument(0, key));
            }
        }
    }

    private static NavigableMap<String, String> fill(TreeFixture<StreamTree> fixture, int count) {
        TreeMap<String, String> put = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            String key = key(fixture);
            String value = "v" + i;
            fixture.tree.pending().put(fixture.argument(0, key), key.length(), fixture.argument(1, value),
                    value.length());
            put.put(key, value);
        }
        return put;
    }

    private void single(TreeFixture<StreamTree> fixture, boolean grows) {
        if (fixture.random.nextInt(10) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(5));
        }
        try {
            write(fixture, grows);
        } catch (CacheFullException full) {
            assertThat(fixture.tree.size()).as("after a refusal").isEqualTo(blocks.size());
            assertThat(fixture.tree.groups().size()).as("after a refusal").isEqualTo(groups.size());
            assertThat(fixture.tree.pending().size()).as("after a refusal").isEqualTo(pending.size());
            assertThat(fixture.tree.owned().size()).as("after a refusal").isEqualTo(owned.size());
        }
        fixture.space.refuseNothing();
    }

    private void write(TreeFixture<StreamTree> fixture, boolean grows) {
        if (fixture.random.nextBoolean()) {
            writeBlock(fixture, grows);
        } else if (fixture.random.nextInt(8) == 0) {
            writeRecord(fixture, fixture.tree.groups(), groups, grows);
        } else if (fixture.random.nextInt(8) == 0) {
            writeRecord(fixture, fixture.tree.owned(), owned, grows);
        } else {
            writeRecord(fixture, fixture.tree.pending(), pending, grows);
        }
    }

    // --- blocks

    private void writeBlock(TreeFixture<StreamTree> fixture, boolean grows) {
        StreamTree tree = fixture.tree;
        if (blocks.isEmpty() || fixture.random.nextInt(10) < (grows ? 4 : 2)) {
            // Several in one millisecond: the sequence number tells them apart.
            long next = last + 1 + fixture.random.nextInt(3);
            String text = fixture.text();
            fill(tree.addBlock(next / 5, next % 5, text.length(), fixture.argument(1, "")), text);
            last = next;
            blocks.put(next, text);
            assertAt(tree, next);
            StreamMetadataLayout.length(tree.metadata(), StreamMetadataLayout.length(tree.metadata()) + 1);
            return;
        }
        long id = fixture.random.nextLong(last + 3);
        Long there = blocks.floorKey(id);
        assertThat(tree.seekBlock(id / 5, id % 5, fixture.argument(1, ""))).isTrue();
        if (there == null) {
            there = blocks.firstKey();
        }
        assertAt(tree, there);
        String old = Objects.requireNonNull(blocks.get(there));
        if (fixture.random.nextInt(3) > 0) {
            resize(fixture, there, old);
        } else if (!grows || fixture.random.nextInt(5) == 0) {
            fixture.unrefused(() -> {
                tree.remove();
                return true;
            });
            blocks.remove(there);
            Long behind = blocks.higherKey(there);
            assertThat(tree.isAtElement()).isEqualTo(behind != null);
            if (behind != null) {
                assertAt(tree, behind);
            }
        }
    }

    private void resize(TreeFixture<StreamTree> fixture, long id, String old) {
        int length = fixture.random.nextInt(4) == 0
                ? fixture.random.nextInt(old.length() + 1)
                : old.length() + fixture.random.nextInt(fixture.random.nextInt(20) == 0 ? 3000 : 30);
        String text = old.length() < length ? old + "+".repeat(length - old.length()) : old.substring(0, length);
        long address = fixture.tree.resizeBlock(length, length + fixture.random.nextInt(100));
        String kept = TreeFixture.read(address, Math.min(length, old.length()));
        assertThat(kept).isEqualTo(old.substring(0, kept.length()));
        fill(address, text);
        blocks.put(id, text);
        assertAt(fixture.tree, id);
    }

    private static void fill(long address, String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        Memory.copy(bytes, 0, address, bytes.length);
    }

    private void assertAt(StreamTree tree, long id) {
        assertThat(tree.blockMs() * 5 + tree.blockSeq()).isEqualTo(id);
        assertThat(TreeFixture.read(tree.blockAddress(), tree.blockLength())).isEqualTo(blocks.get(id));
    }

    // --- records

    private static String key(TreeFixture<StreamTree> fixture) {
        int number = fixture.random.nextInt(2000);
        return switch (number % 8) {
            case 0 -> "";
            case 1 -> "short" + number % 10;
            case 2 -> "the same first eight bytes " + number;
            case 3 -> "short" + number % 10 + "\0";
            case 4 -> "\u00ff" + number;
            default -> number + "k".repeat(number % 40);
        };
    }

    private static void writeRecord(TreeFixture<StreamTree> fixture, StreamRecords tree,
            NavigableMap<String, String> records,
            boolean grows) {
        String key = key(fixture);
        long address = fixture.argument(0, key);
        if (fixture.random.nextInt(20) == 0 && !grows && !records.isEmpty()) {
            removeRange(fixture, tree, records);
        } else if (fixture.random.nextInt(10) < (grows ? 8 : 3)) {
            String value = fixture.text();
            if (fixture.random.nextBoolean()) {
                tree.put(address, key.length(), fixture.argument(1, value), value.length());
                records.put(key, value);
            } else {
                assertThat(tree.add(address, key.length(), fixture.argument(1, value), value.length()))
                        .isEqualTo(records.putIfAbsent(key, value) == null);
            }
            assertAt(tree, Map.entry(key, Objects.requireNonNull(records.get(key))));
        } else if (tree.find(address, key.length())) {
            String old = Objects.requireNonNull(records.get(key));
            assertAt(tree, Map.entry(key, old));
            if (fixture.random.nextInt(4) == 0 && !old.isEmpty()) {
                long value = tree.writeValue();
                Memory.putByte(value, (byte) '!');
                records.put(key, "!" + old.substring(1));
                return;
            }
            fixture.unrefused(() -> {
                tree.remove();
                return true;
            });
            records.remove(key);
            assertThat(tree.isAtRecord()).isFalse();
            assertNeighbours(tree, records, key, address);
        } else {
            assertThat(records).doesNotContainKey(key);
            assertNeighbours(tree, records, key, address);
        }
    }

    private static void assertNeighbours(StreamRecords tree, NavigableMap<String, String> records, String key,
            long address) {
        Map.Entry<String, String> behind = records.ceilingEntry(key);
        assertThat(tree.seek(address, key.length())).isEqualTo(behind != null);
        if (behind != null) {
            assertAt(tree, behind);
        }
        assertThat(tree.rank(address, key.length())).isEqualTo(records.headMap(key).size());
        Map.Entry<String, String> before = records.lowerEntry(key);
        assertThat(tree.previous()).isEqualTo(before != null);
        if (before != null) {
            assertAt(tree, before);
        }
    }

    private static void removeRange(TreeFixture<StreamTree> fixture, StreamRecords tree,
            NavigableMap<String, String> records) {
        int from = fixture.random.nextInt(records.size());
        int to = Math.min(records.size(), from + fixture.random.nextInt(fixture.random.nextInt(5) == 0 ? 200 : 5));
        List<String> removed = List.copyOf(records.keySet()).subList(from, to);
        fixture.unrefused(() -> {
            tree.removeRange(from, to);
            return true;
        });
        removed.forEach(records::remove);
    }

    private static void assertAt(StreamRecords tree, Map.Entry<String, String> expected) {
        assertThat(TreeFixture.read(tree.keyAddress(), tree.keyLength())).isEqualTo(expected.getKey());
        assertThat(TreeFixture.read(tree.valueAddress(), tree.valueLength())).isEqualTo(expected.getValue());
    }

    // --- atomic groups

    private void several(TreeFixture<StreamTree> fixture, boolean grows) {
        TreeMap<Long, String> blocksBefore = new TreeMap<>(blocks);
        TreeMap<String, String> groupsBefore = new TreeMap<>(groups);
        TreeMap<String, String> pendingBefore = new TreeMap<>(pending);
        TreeMap<String, String> ownedBefore = new TreeMap<>(owned);
        long lastBefore = last;
        byte[] metadata = Memory.toArray(fixture.tree.metadata(), StreamMetadataLayout.BYTES);
        fixture.tree.begin();
        if (fixture.random.nextInt(2) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(40));
        }
        try {
            for (int i = fixture.random.nextInt(20); i > 0; i--) {
                write(fixture, grows);
            }
            fixture.tree.commit();
        } catch (CacheFullException full) {
            assertThat(fixture.tree.rollback(full).bytes()).isGreaterThan(full.bytes());
            blocks = blocksBefore;
            groups = groupsBefore;
            pending = pendingBefore;
            owned = ownedBefore;
            last = lastBefore;
            assertThat(Memory.toArray(fixture.tree.metadata(), StreamMetadataLayout.BYTES)).isEqualTo(metadata);
        }
        fixture.space.refuseNothing();
        compare(fixture);
    }

    private void compare(TreeFixture<StreamTree> fixture) {
        fixture.check();
        StreamTree tree = fixture.tree;
        assertThat(fixture.argument(1, " ".repeat(SCRATCH))).isNotZero();
        TreeMap<Long, String> walked = new TreeMap<>();
        for (boolean more = tree.first(); more; more = tree.next()) {
            walked.put(tree.blockMs() * 5 + tree.blockSeq(), TreeFixture.read(tree.blockAddress(), tree.blockLength()));
        }
        assertThat(walked).isEqualTo(blocks);
        assertThat(walk(fixture, tree.groups())).isEqualTo(groups);
        assertThat(walk(fixture, tree.pending())).isEqualTo(pending);
        assertThat(walk(fixture, tree.owned())).isEqualTo(owned);
    }

    private static NavigableMap<String, String> walk(TreeFixture<StreamTree> fixture, StreamRecords map) {
        TreeMap<String, String> read = new TreeMap<>();
        for (boolean more = map.seek(fixture.argument(0, ""), 0); more; more = map.next()) {
            read.put(TreeFixture.read(map.keyAddress(), map.keyLength()),
                    TreeFixture.read(map.valueAddress(), map.valueLength()));
        }
        return read;
    }
}
