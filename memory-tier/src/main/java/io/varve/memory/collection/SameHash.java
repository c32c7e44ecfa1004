package io.varve.memory.collection;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.LeafFormat;
import io.varve.memory.collection.tree.NodeLayout;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.TreePath;

/**
 * Searches for one entry among those with equal hashes. Confined to the owner of a tree object.
 *
 * <p>After a search, the path is at a position where an entry of that hash may be inserted: at the found entry, or
 * before the first entry of that hash.
 */
abstract class SameHash {
    private final CountedTree tree;
    private final LeafFormat format;
    private final Element sought = new Element();
    private final TreePath further = new TreePath();
    final TreePath path;

    SameHash(CountedTree tree, TreePath path) {
        this.tree = tree;
        this.format = tree.format;
        this.path = path;
    }

    /** Whether an entry is the sought one. */
    abstract boolean matches(long entry);

    final boolean find(long hash) {
        path.forget();
        tree.seek(sought.order(hash, false), path);
        if (path.leaf() == NodeSpace.NONE) {
            return false;
        }
        long leaf = tree.space().address(path.leaf());
        int count = NodeLayout.count(leaf);
        int offset = path.offset;
        for (int i = path.index; i < count; i++) {
            long entry = leaf + offset;
            if (format.orderAt(entry) != hash) {
                return false;
            }
            if (matches(entry)) {
                path.passed(i - path.index);
                path.index = i;
                path.offset = offset;
                return true;
            }
            offset += format.bytesAt(entry);
        }
        return findFurther(hash, count);
    }

    /** Moves from the found entry to the next match; the path stays if there is none. */
    final boolean findNext(long hash) {
        further.copyFrom(path);
        return findFrom(hash, tree.next(further));
    }

    private boolean findFurther(long hash, int count) {
        further.copyFrom(path);
        further.passed(count - path.index);
        further.index = count;
        return findFrom(hash, tree.settle(further));
    }

    private boolean findFrom(long hash, boolean there) {
        boolean more = there;
        while (more) {
            long entry = tree.entry(further);
            if (format.orderAt(entry) != hash) {
                return false;
            }
            if (matches(entry)) {
                path.copyFrom(further);
                return true;
            }
            more = tree.next(further);
        }
        return false;
    }
}
