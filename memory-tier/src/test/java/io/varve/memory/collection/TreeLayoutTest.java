package io.varve.memory.collection;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.InnerLayout;
import io.varve.memory.collection.tree.KeyedFormat;
import io.varve.memory.collection.tree.ListFormat;
import io.varve.memory.collection.tree.MemberIndexFormat;
import io.varve.memory.collection.tree.NodeLayout;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.ScoreOrder;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.collection.tree.TreePath;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the byte layouts of nodes and headers: sizes, and that no fields overlap. Confined to the test's thread. */
class TreeLayoutTest {
    private static final int BYTES = 4096;

    private final Arena arena = Arena.ofConfined();
    private final long memory = arena.allocate(BYTES).address();

    @BeforeEach
    void announce() {
        LiveRanges.add(memory, BYTES);
    }

    @AfterEach
    void forget() {
        LiveRanges.remove(memory);
        arena.close();
    }

    @ParameterizedTest
    @ValueSource(bytes = {0, -1})
    void nodeFieldsDoNotOverlap(byte filled) {
        Memory.fill(memory, BYTES, filled);
        NodeLayout.tree(memory, 0x7FFF_FFFF);
        NodeLayout.clear(memory, 23);
        NodeLayout.count(memory, 0xFFFF);
        NodeLayout.used(memory, Integer.MAX_VALUE);
        NodeLayout.forward(memory, 0x1234_5678);
        assertThat(NodeLayout.HEADER_BYTES).isEqualTo(16);
        assertThat(NodeLayout.tree(memory)).isEqualTo(0x7FFF_FFFF);
        assertThat(NodeLayout.level(memory)).isEqualTo(23);
        assertThat(NodeLayout.isLeaf(memory)).isFalse();
        assertThat(NodeLayout.count(memory)).isEqualTo(0xFFFF);
        assertThat(NodeLayout.used(memory)).isEqualTo(Integer.MAX_VALUE);
        assertThat(NodeLayout.forward(memory)).isEqualTo(0x1234_5678);
        assertThat(Memory.getByte(memory + NodeLayout.HEADER_BYTES)).isEqualTo(filled);
        NodeLayout.clear(memory, 0);
        assertThat(NodeLayout.isLeaf(memory)).isTrue();
        assertThat(NodeLayout.count(memory)).isZero();
        assertThat(NodeLayout.used(memory)).isEqualTo(NodeLayout.HEADER_BYTES);
        assertThat(NodeLayout.tree(memory)).isEqualTo(0x7FFF_FFFF);
    }

    @Test
    void slotFieldsDoNotOverlap() {
        NodeLayout.clear(memory, 1);
        InnerLayout.put(memory, 0, -1, 0xFFFF_FFFFL, Long.MIN_VALUE);
        InnerLayout.put(memory, 1, 7, 0, Long.MAX_VALUE);
        InnerLayout.put(memory, 2, 8, 1, 0);
        InnerLayout.count(memory, 3);
        assertThat(NodeLayout.used(memory)).isEqualTo(16 + 3 * 16);
        assertThat(InnerLayout.child(memory, 0)).isEqualTo(-1);
        assertThat(InnerLayout.below(memory, 0)).isEqualTo(0xFFFF_FFFFL);
        assertThat(InnerLayout.separator(memory, 0)).isEqualTo(Long.MIN_VALUE);
        assertThat(InnerLayout.child(memory, 1)).isEqualTo(7);
        assertThat(InnerLayout.below(memory, 1)).isZero();
        assertThat(InnerLayout.separator(memory, 1)).isEqualTo(Long.MAX_VALUE);
        assertThat(InnerLayout.sumBelow(memory, 0, 3)).isEqualTo(0x1_0000_0000L);
        InnerLayout.remove(memory, 1);
        assertThat(NodeLayout.count(memory)).isEqualTo(2);
        assertThat(InnerLayout.child(memory, 1)).isEqualTo(8);
        assertThat(InnerLayout.maxChildren(1024)).isEqualTo(63);
        assertThat(InnerLayout.bytes(63)).isLessThanOrEqualTo(1024);
    }

    /** From the start for the lower half, from the end for the upper: of lengths that take one byte, two and three. */
    @Test
    void listEntriesAreFoundFromBothEnds() {
        int[] lengths = {0, 1, 127, 128, 300, 16_383, 16_384, 2, 128, 127, 0, 20_000};
        try (Arena buffer = Arena.ofConfined()) {
            long bytes = buffer.allocate(1 << 16).address();
            long leaf = buffer.allocate(1 << 17).address();
            LiveRanges.add(bytes, 1 << 16);
            LiveRanges.add(leaf, 1 << 17);
            NodeLayout.clear(leaf, 0);
            Element element = new Element();
            int[] offsets = new int[lengths.length + 1];
            int at = NodeLayout.HEADER_BYTES;
            for (int i = 0; i < lengths.length; i++) {
                offsets[i] = at;
                ListFormat.INSTANCE.write(leaf + at, element.of(0, bytes, lengths[i]));
                assertThat(ListFormat.length(leaf + at)).isEqualTo(lengths[i]);
                assertThat((long) ListFormat.INSTANCE.bytesAt(leaf + at))
                        .isEqualTo(ListFormat.INSTANCE.bytesOf(element));
                at += ListFormat.INSTANCE.bytesAt(leaf + at);
            }
            offsets[lengths.length] = at;
            NodeLayout.count(leaf, lengths.length);
            NodeLayout.used(leaf, at);
            for (int i = 0; i <= lengths.length; i++) {
                assertThat(ListFormat.INSTANCE.offset(leaf, i)).as("entry %d", i).isEqualTo(offsets[i]);
            }
            LiveRanges.remove(leaf);
            LiveRanges.remove(bytes);
        }
    }

    @Test
    void search_findsTheLastSlotBelowABound() {
        NodeLayout.clear(memory, 1);
        long[] separators = {99, 3, 3, 5, 8, 8, 9};
        for (int i = 0; i < separators.length; i++) {
            InnerLayout.put(memory, i, i, 1, separators[i]);
        }
        InnerLayout.count(memory, separators.length);
        for (long bound = 0; bound < 11; bound++) {
            for (boolean orEqual : new boolean[] {false, true}) {
                int expected = 0;
                for (int i = 1; i < separators.length; i++) {
                    expected = separators[i] < bound || orEqual && separators[i] == bound ? i : expected;
                }
                assertThat(InnerLayout.lastBelow(memory, 1, bound, orEqual)).isEqualTo(expected);
            }
        }
    }

    /** The expected position of a hash is computed: few or many, evenly spread or not, with equal ones. */
    @Test
    void interpolationAgreesWithSearch() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 20_000; round++) {
            int count = 1 + random.nextInt(InnerLayout.MAX_CHILDREN);
            long range = 1L << random.nextInt(33);
            int bits = random.nextInt(4) == 0 ? random.nextInt(1, 33) : 32;
            long[] hashes = new long[count];
            for (int i = 0; i < count; i++) {
                hashes[i] = random.nextLong(range) >>> 32 - bits & 0xFFFF_FFFFL;
            }
            Arrays.sort(hashes);
            NodeLayout.clear(memory, 1);
            long leaf = memory + BYTES / 2;
            NodeLayout.clear(leaf, 0);
            Element element = new Element();
            for (int i = 0; i < count; i++) {
                // The first slot's content is ignored.
                InnerLayout.put(memory, i, i, 1, i == 0 ? random.nextLong() : hashes[i]);
                MemberIndexFormat.INSTANCE.write(leaf + MemberIndexFormat.INSTANCE.offset(leaf, i),
                        element.of(hashes[i], 0, 0));
            }
            InnerLayout.count(memory, count);
            NodeLayout.count(leaf, count);
            long near = hashes[random.nextInt(count)] + random.nextInt(-1, 2);
            for (long bound : new long[] {0, near, random.nextLong(range), 0xFFFF_FFFFL}) {
                assertThat(InnerLayout.lastBelowOfEven(memory, bound)).as("seed %d, round %d", seed, round)
                        .isEqualTo(Math.max(0, InnerLayout.lastBelow(memory, 1, bound, false)));
                for (boolean behind : new boolean[] {false, true}) {
                    TreePath path = new TreePath();
                    MemberIndexFormat.INSTANCE.seek(leaf, element.order(bound, behind), path);
                    int expected = (int) Arrays.stream(hashes)
                            .filter(hash -> behind ? hash <= bound : hash < bound).count();
                    assertThat(path.index).as("seed %d, round %d", seed, round).isEqualTo(expected);
                    assertThat(path.offset).isEqualTo(MemberIndexFormat.INSTANCE.offset(leaf, expected));
                }
            }
        }
    }

    /** A shorter key counts as if zeros followed it. */
    @Test
    void keysAreOrderedByTheirFirstEightBytes() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 2000; round++) {
            byte[] key = new byte[random.nextInt(20)];
            random.nextBytes(key);
            Memory.copy(key, 0, memory, key.length);
            long head = ByteBuffer.wrap(Arrays.copyOf(key, Long.BYTES)).getLong();
            assertThat(KeyedFormat.order(memory, key.length)).as("seed %d, round %d", seed, round)
                    .isEqualTo(head ^ Long.MIN_VALUE);
        }
    }

    @Test
    void headerRecordsDoNotOverlap() {
        assertThat(TreeHeader.bytes(1)).isEqualTo(32);
        assertThat(TreeHeader.bytes(2)).isEqualTo(60);
        assertThat(TreeHeader.trees(32)).isEqualTo(1);
        assertThat(TreeHeader.trees(60)).isEqualTo(2);
        assertThat(TreeHeader.trees(TimedHashLayout.TREE_HEADER_BYTES)).isEqualTo(2);
        assertThat(TreeHeader.trees(new StreamTree().headerBytes())).isEqualTo(4);
        Memory.fill(memory, BYTES, (byte) -1);
        TreeHeader.clear(memory, 2);
        assertThat(Memory.getByte(memory + 60)).isEqualTo((byte) -1);
        TreeHeader.flags(memory, -2);
        for (int i = 0; i < 2; i++) {
            long record = TreeHeader.record(memory, i);
            assertThat(TreeHeader.root(record)).isEqualTo(NodeSpace.NONE);
            TreeHeader.tree(record, Integer.MAX_VALUE - i);
            TreeHeader.root(record, 100 + i);
            TreeHeader.height(record, 23 + i);
            TreeHeader.count(record, Long.MAX_VALUE - i);
            TreeHeader.nodeBytes(record, (1L << 40) + i);
        }
        for (int i = 0; i < 2; i++) {
            long record = TreeHeader.record(memory, i);
            assertThat(TreeHeader.tree(record)).isEqualTo(Integer.MAX_VALUE - i);
            assertThat(TreeHeader.root(record)).isEqualTo(100 + i);
            assertThat(TreeHeader.height(record)).isEqualTo(23 + i);
            assertThat(TreeHeader.count(record)).isEqualTo(Long.MAX_VALUE - i);
            assertThat(TreeHeader.nodeBytes(record)).isEqualTo((1L << 40) + i);
        }
        assertThat(TreeHeader.flags(memory)).isEqualTo(-2);
        assertThat(TreeHeader.nodeBytes(memory, 60)).isEqualTo((2L << 40) + 1);
    }

    @Test
    void scoresAreOrderedAsNumbers() {
        double[] scores = {Double.NEGATIVE_INFINITY, -Double.MAX_VALUE, -1.5, -1, -Double.MIN_NORMAL, -Double.MIN_VALUE,
                0, Double.MIN_VALUE, Double.MIN_NORMAL, 1, 1.5, Double.MAX_VALUE, Double.POSITIVE_INFINITY};
        for (int i = 0; i < scores.length; i++) {
            long stored = ScoreOrder.stored(scores[i]);
            assertThat(ScoreOrder.score(stored)).isEqualTo(scores[i]);
            if (i > 0) {
                assertThat(ScoreOrder.order(stored)).isGreaterThan(ScoreOrder.order(ScoreOrder.stored(scores[i - 1])));
            }
        }
        long negative = ScoreOrder.stored(-0.0);
        assertThat(ScoreOrder.order(negative)).isEqualTo(ScoreOrder.order(ScoreOrder.stored(0.0)));
        assertThat(Double.doubleToRawLongBits(ScoreOrder.score(negative))).isEqualTo(Long.MIN_VALUE);
    }
}
