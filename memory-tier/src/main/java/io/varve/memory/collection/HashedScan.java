package io.varve.memory.collection;

/**
 * Visits what is ordered by hash, some at a time. Immutable: a static method only.
 *
 * <p>A cursor is the hash of what is to be visited next, so it means the same whatever comes and goes: what is there throughout is visited
 * exactly once.
 */
final class HashedScan {
    private HashedScan() {}

    /**
     * @param cursor 0 at first, else what the last call answered
     * @param count  at least so many are visited, and all of one hash with the last, if there are as many
     * @param visit  done while the path stands at each of them
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
