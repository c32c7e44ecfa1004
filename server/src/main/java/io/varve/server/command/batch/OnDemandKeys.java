package io.varve.server.command.batch;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;

/**
 * The keys of a command with very many keys, bound one at a time on demand, so they share one {@link Key} on the heap.
 * Confined to its event loop; a key is valid until the next one is bound.
 */
final class OnDemandKeys {
    private final CacheSession session;
    private final int firstArgument;
    private final int step;
    private final int count;
    private final Key key = new Key();
    private int database;

    /**
     * @param firstArgument number of the first key among the command's arguments
     * @param step arguments from one key to the next
     */
    OnDemandKeys(CacheSession session, int database, int firstArgument, int step, int count) {
        this.session = session;
        this.database = database;
        this.firstArgument = firstArgument;
        this.step = step;
        this.count = count;
    }

    int count() {
        return count;
    }

    /** Sets the database of all keys. */
    void database(int value) {
        database = value;
    }

    /** The number of a key among the command's arguments. */
    int argument(int index) {
        return firstArgument + index * step;
    }

    Key bind(long address, int length) {
        session.bind(key, database, address, length);
        return key;
    }
}
