package io.varve.memory.collection;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.TreePath;

/**
 * Scans a tree that is ordered by hash, some elements at a time. Immutable: a static method only.
 *
 * <p>The cursor is the hash of the next element, so insertions and removals do not affect it. An element that is
 * present throughout is visited exactly once.
 */
final class HashedScan {
    private HashedScan() {}

    /**
     * @param cursor initially 0, else the result of the last call
     * @param count visits at least this many, if there are as many, and all with the hash of the last one
     * @param visit runs while the path is at each of them
     * @return the next cursor, 0 at the end
     */
    static long scan(CountedTree tree, Element sought, TreePath path, long cursor, int count, Runnable visit) {
        path.forget();
        tree.seek(sought.order(cursor, false), path);
        boolean more = tree.settle(path);
        long last = -1;
        int visited = 0;
        while (more) {
            long hash = tree.format.orderAt(tree.entry(path));
            if (visited > 0 && visited >= count && hash != last) {
                return hash;
            }
            visit.run();
            visited++;
            last = hash;
            more = tree.next(path);
        }
        return 0;
    }
}
