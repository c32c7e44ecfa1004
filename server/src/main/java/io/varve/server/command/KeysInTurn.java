package io.varve.server.command;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;

/**
 * The keys of a command with very many of them that takes them one after the other: each is bound when it is asked for, so that all of
 * them together take one {@link Key} of the heap. Confined to its event loop; a key is valid until the next is asked for.
 */
final class KeysInTurn {
    private final CacheSession session;
    private final int firstArgument;
    private final int step;
    private final int count;
    private final Key key = new Key();
    private int database;

    /**
     * @param firstArgument the number of the first key among the command's arguments
     * @param step          from one key to the next, arguments
     */
    KeysInTurn(CacheSession session, int database, int firstArgument, int step, int count) {
        this.session = session;
        this.database = database;
        this.firstArgument = firstArgument;
        this.step = step;
        this.count = count;
    }

    int count() {
        return count;
    }

    /** From now on they are keys of this database. */
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
