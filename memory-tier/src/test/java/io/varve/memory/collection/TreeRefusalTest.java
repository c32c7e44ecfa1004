package io.varve.memory.collection;

import java.util.function.BiConsumer;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests each write with each of its allocations refused once: the tree is then unchanged, and nothing leaks. Confined
 * to the test's thread.
 */
class TreeRefusalTest {
    /** Inner nodes of few children, so that they split as well. */
    private static final int TARGET_BYTES = 130;
    private static final int WRITES = 600;

    private static <T extends CollectionTree> void refuseEachOnce(T tree, BiConsumer<TreeFixture<T>, String> write) {
        try (TreeFixture<T> fixture = new TreeFixture<>(tree, TARGET_BYTES, 1L << 32, 5)) {
            int max = 0;
            for (int i = 0; i < WRITES; i++) {
                String text = i % 40 == 0 ? "large".repeat(40) + i : "e" + fixture.random.nextInt(100_000);
                int refused = 0;
                while (!attempt(fixture, write, text, refused)) {
                    refused++;
                }
                max = Math.max(max, refused);
            }
            // A leaf and inner nodes at least; of a sorted set those of two trees.
            assertThat(max).isGreaterThanOrEqualTo(tree instanceof SortedSetTree ? 4 : 3);
            fixture.tree.removeRange(0, fixture.tree.size());
            fixture.check();
        }
    }

    private static <T extends CollectionTree> boolean attempt(TreeFixture<T> fixture,
            BiConsumer<TreeFixture<T>, String> write, String text, int allowed) {
        long size = fixture.tree.size();
        long elements = checksum(fixture.tree);
        fixture.space.refuseAfter(allowed);
        try {
            write.accept(fixture, text);
            return true;
        } catch (CacheFullException full) {
            assertThat(fixture.tree.size()).isEqualTo(size);
            assertThat(checksum(fixture.tree)).isEqualTo(elements);
            return false;
        } finally {
            fixture.space.refuseNothing();
            fixture.check();
        }
    }

    private static long checksum(CollectionTree tree) {
        long sum = 0;
        for (boolean more = tree.first(); more; more = tree.next()) {
            sum = sum * 31 + switch (tree) {
                case ListTree list -> TreeFixture.read(list.address(), list.length()).hashCode();
                case SetTree set -> TreeFixture.read(set.address(), set.length()).hashCode();
                case HashTree hash -> TreeFixture.read(hash.fieldAddress(), hash.fieldLength()).hashCode()
                        + TreeFixture.read(hash.valueAddress(), hash.valueLength()).hashCode() * 7L;
                case SortedSetTree sorted -> TreeFixture.read(sorted.address(), sorted.length()).hashCode()
                        + Double.doubleToLongBits(sorted.score()) * 7L;
                case StreamTree stream ->
                    TreeFixture.read(stream.blockAddress(), stream.blockLength()).hashCode() + stream.blockMs() * 7L;
            };
        }
        return sum;
    }

    @Test
    void insertionsIntoAList() {
        refuseEachOnce(new ListTree(), (fixture, text) -> {
            ListTree tree = fixture.tree;
            tree.seek(tree.size() * 2 / 3);
            tree.insert(fixture.argument(text), text.length());
        });
    }

    @Test
    void replacementsInAList() {
        refuseEachOnce(new ListTree(), (fixture, text) -> {
            ListTree tree = fixture.tree;
            if (tree.size() < 100) {
                tree.addLast(fixture.argument(text), text.length());
            } else {
                tree.seek(text.hashCode() >>> 1 & 63);
                String longer = text.repeat(1 + (text.hashCode() >>> 8 & 7));
                tree.replace(fixture.argument(longer), longer.length());
            }
        });
    }

    @Test
    void pushesToBothEndsOfAList() {
        refuseEachOnce(new ListTree(), (fixture, text) -> {
            if (text.hashCode() % 2 == 0) {
                fixture.tree.addFirst(fixture.argument(text), text.length());
            } else {
                fixture.tree.addLast(fixture.argument(text), text.length());
            }
        });
    }

    @Test
    void membersOfASet() {
        refuseEachOnce(new SetTree(), (fixture, text) -> fixture.tree.add(fixture.argument(text), text.length()));
    }

    @Test
    void fieldsOfAHash() {
        refuseEachOnce(new HashTree(), (fixture, text) -> fixture.tree.put(fixture.argument(0, text), text.length(),
                fixture.argument(1, text), text.length()));
    }

    @Test
    void membersOfASortedSet() {
        refuseEachOnce(new SortedSetTree(), (fixture, text) -> {
            double score = text.hashCode() % 1000;
            fixture.tree.put(fixture.argument(text), text.length(), score);
        });
    }

    @Test
    void scoresOfASortedSet() {
        refuseEachOnce(new SortedSetTree(), (fixture, text) -> {
            String name = text.length() > 50 ? text : "m" + Math.floorMod(text.hashCode(), 200);
            fixture.tree.put(fixture.argument(name), name.length(), text.hashCode());
        });
    }

    @Test
    void blocksOfAStream() {
        refuseEachOnce(new StreamTree(), (fixture, text) -> {
            StreamTree tree = fixture.tree;
            byte[] bytes = text.getBytes(ISO_8859_1);
            if (text.hashCode() % 3 != 0 || !tree.last()) {
                long ms = tree.last() ? tree.blockMs() + 1 : 1;
                Memory.copy(bytes, 0, tree.addBlock(ms, 7, bytes.length, fixture.argument(1, "")), bytes.length);
                return;
            }
            tree.seek((text.hashCode() >>> 1) % tree.size());
            int length = tree.blockLength();
            long block = tree.resizeBlock(length + bytes.length, length + 2 * bytes.length);
            Memory.copy(bytes, 0, block + length, bytes.length);
        });
    }
}
