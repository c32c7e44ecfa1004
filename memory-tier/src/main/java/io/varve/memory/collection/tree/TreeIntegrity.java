package io.varve.memory.collection.tree;

import java.util.function.Consumer;
import java.util.function.IntConsumer;

/** Walks a {@link CountedTree} and reports violated invariants. Confined to the caller; for tests. */
public final class TreeIntegrity {
    private final CountedTree tree;
    private final LeafFormat format;
    private final IntConsumer nodes;
    private final Consumer<String> problems;
    private long bytes;
    /** The previous entry, in the order of the tree. */
    private long last;

    private TreeIntegrity(CountedTree tree, IntConsumer nodes, Consumer<String> problems) {
        this.tree = tree;
        this.format = tree.format;
        this.nodes = nodes;
        this.problems = problems;
    }

    public static void check(CountedTree tree, IntConsumer nodes, Consumer<String> problems) {
        String name = "tree " + TreeHeader.tree(tree.record()) + ": ";
        new TreeIntegrity(tree, nodes, problem -> problems.accept(name + problem)).check();
    }

    private void check() {
        long counted = 0;
        if (tree.root() == NodeSpace.NONE) {
            expect(tree.height() == 0, "no root and " + tree.height() + " levels");
        } else {
            counted = walk(tree.root(), tree.height(), Long.MIN_VALUE, Long.MAX_VALUE);
        }
        expect(counted == tree.count(), counted + " elements counted, but " + tree.count() + " recorded");
        long noted = TreeHeader.nodeBytes(tree.record());
        expect(bytes == noted, bytes + " bytes of nodes counted, but " + noted + " recorded");
    }

    private long walk(int node, int level, long low, long high) {
        nodes.accept(node);
        NodeSpace space = tree.space();
        long at = space.address(node);
        String name = "node " + node + " of level " + level;
        bytes += space.itemBytes(space.capacity(node));
        expect(NodeLayout.tree(at) == TreeHeader.tree(tree.record()), name + " is of tree " + NodeLayout.tree(at));
        expect(NodeLayout.level(at) == level, name + " records level " + NodeLayout.level(at));
        int count = NodeLayout.count(at);
        int used = NodeLayout.used(at);
        expect(count > 0, name + " has no entries");
        expect(used <= space.capacity(node), name + " uses " + used + " bytes of " + space.capacity(node));
        return level == 0 ? walkLeaf(name, at, count, low, high) : walkInner(name, at, level, count, low, high);
    }

    private long walkInner(String name, long at, int level, int count, long low, long high) {
        expect(count <= tree.maxChildren(), name + " has " + count + " children");
        expect(NodeLayout.used(at) == InnerLayout.bytes(count), name + " uses " + NodeLayout.used(at) + " bytes for "
                + count + " children");
        long all = 0;
        for (int slot = 0; slot < count; slot++) {
            long from = slot == 0 ? low : InnerLayout.separator(at, slot);
            long to = slot + 1 < count ? InnerLayout.separator(at, slot + 1) : high;
            expect(low <= from && from <= to && to <= high, name + ": separator " + from + " at slot " + slot
                    + " between " + low + " and " + to);
            long below = walk(InnerLayout.child(at, slot), level - 1, from, to);
            expect(below == InnerLayout.below(at, slot),
                    name + ": " + below + " elements counted at slot " + slot + ", but "
                            + InnerLayout.below(at, slot) + " recorded");
            all += below;
        }
        return all;
    }

    private long walkLeaf(String name, long at, int count, long low, long high) {
        expect(count <= LeafFormat.MAX_ENTRIES, name + " has " + count + " entries");
        expect(NodeLayout.used(at) <= tree.targetBytes() || count == 1,
                name + " has " + count + " entries of " + NodeLayout.used(at) + " bytes");
        int offset = NodeLayout.HEADER_BYTES;
        for (int i = 0; i < count; i++) {
            if (offset >= NodeLayout.used(at)) {
                problems.accept(name + " uses " + NodeLayout.used(at) + " bytes, but entry " + i + " is at " + offset);
                return count;
            }
            long entry = at + offset;
            long order = format.orderAt(entry);
            expect(order >= low && order <= high, name + ": order " + order + " between " + low + " and " + high);
            if (last != 0) {
                expect(format.orderAt(last) <= order, name + ": order " + order + " follows " + format.orderAt(last));
                if (format instanceof ScoredFormat) {
                    Element before = new Element().scored(ScoredFormat.stored(entry), ScoredFormat.address(entry),
                            ScoredFormat.length(entry));
                    expect(format.isBefore(last, before),
                            name + ": entry " + i + " is not greater than the previous entry");
                }
                if (format instanceof KeyedFormat) {
                    Element before = new Element().of(order, KeyedFormat.keyAddress(entry),
                            KeyedFormat.keyLength(entry));
                    expect(format.isBefore(last, before),
                            name + ": entry " + i + " is not greater than the previous entry");
                }
            }
            last = entry;
            offset += format.bytesAt(entry);
        }
        expect(offset == NodeLayout.used(at), name + " uses " + NodeLayout.used(at) + " bytes, but its entries end at "
                + offset);
        return count;
    }

    private void expect(boolean condition, String problem) {
        if (!condition) {
            problems.accept(problem);
        }
    }
}
