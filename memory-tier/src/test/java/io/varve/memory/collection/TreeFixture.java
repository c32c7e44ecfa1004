package io.varve.memory.collection;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/** A tree in a node space of its own, with methods for strings. Confined to one thread. */
final class TreeFixture<T extends CollectionTree> implements AutoCloseable {
    private static final int ARGUMENT_BYTES = 1 << 16;

    final HeapNodeSpace space;
    final T tree;
    final SplittableRandom random;
    private final String name;
    private final Arena arena = Arena.ofConfined();
    private final long header;
    private final long[] arguments = new long[2];

    TreeFixture(T tree, int targetBytes, long hashes) {
        this(tree, targetBytes, hashes, System.nanoTime());
    }

    TreeFixture(T tree, int targetBytes, long hashes, long seed) {
        this.tree = tree;
        name = tree.type() + " of " + targetBytes + " bytes a node, " + hashes + " hashes, seed " + seed;
        System.out.println(name);
        random = new SplittableRandom(seed);
        space = new HeapNodeSpace(targetBytes, hashes);
        int bytes = tree.headerBytes();
        header = memory(bytes);
        Memory.fill(header, bytes, (byte) 0);
        TreeHeader.clear(header, tree.trees());
        for (int i = 0; i < tree.trees(); i++) {
            TreeHeader.tree(TreeHeader.record(header, i), 1000 + i);
        }
        arguments[0] = memory(ARGUMENT_BYTES);
        arguments[1] = memory(ARGUMENT_BYTES);
        tree.open(space, header);
    }

    private long memory(int bytes) {
        long address = arena.allocate(bytes).address();
        LiveRanges.add(address, bytes);
        return address;
    }

    /** Opens the same tree through another object. */
    void openAlso(CollectionTree other) {
        other.open(space, header);
    }

    long header() {
        return header;
    }

    /** The address of a text, as the first or the second argument. */
    long argument(int index, String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        Memory.copy(bytes, 0, arguments[index], bytes.length);
        return arguments[index];
    }

    long argument(String text) {
        return argument(0, text);
    }

    static String read(long address, int length) {
        return new String(Memory.toArray(address, length), ISO_8859_1);
    }

    /** A text of a length that is mostly small and sometimes larger than a node. */
    String text() {
        int max = switch (random.nextInt(100)) {
            case 0 -> 20_000;
            case 1, 2, 3 -> 400;
            case 4, 5, 6, 7, 8, 9 -> 3;
            default -> 24;
        };
        byte[] bytes = new byte[random.nextInt(max)];
        random.nextBytes(bytes);
        return new String(bytes, ISO_8859_1);
    }

    /** A removal, which may be refused only where it may be undone. */
    <R> R unrefused(java.util.function.Supplier<R> removal) {
        try {
            return removal.get();
        } catch (io.varve.memory.item.CacheFullException full) {
            if (space.isBegun()) {
                throw full;
            }
            throw new AssertionError("a removal was refused: " + name, full);
        }
    }

    /** Reports every inconsistency, including unreachable nodes. */
    void check() {
        List<String> problems = new ArrayList<>();
        Set<Integer> reached = new HashSet<>();
        tree.checkIntegrity(node -> {
            if (!reached.add(node)) {
                problems.add("node " + node + " is reached twice");
            }
        }, problems::add);
        assertThat(problems).as(name).isEmpty();
        assertThat(space.nodes()).as(name).isEqualTo(reached);
    }

    @Override
    public void close() {
        space.close();
        LiveRanges.remove(header);
        LiveRanges.remove(arguments[0]);
        LiveRanges.remove(arguments[1]);
        arena.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
