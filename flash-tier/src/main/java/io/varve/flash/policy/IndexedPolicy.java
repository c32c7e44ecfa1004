package io.varve.flash.policy;

import java.lang.foreign.Arena;

/**
 * What policies have in common that know each key: the index, and that a key comes in once. Guarded by itself.
 *
 * <p>They take many times the memory of the Bloom filters and are here to be compared with.
 */
abstract class IndexedPolicy implements ReplacementPolicy {
    private final KeyTable table;
    private long traversed;
    private long victim;

    IndexedPolicy(Arena arena, long capacity) {
        table = new KeyTable(arena, capacity);
    }

    final KeyTable table() {
        return table;
    }

    @Override
    public final boolean keepsKeys() {
        return true;
    }

    @Override
    public final synchronized void hit(long key) {
        int entry = table.find(key);
        if (entry != KeyTable.NONE) {
            used(entry);
        }
    }

    @Override
    public final synchronized void inserted(long key) {
        int entry = table.find(key);
        if (entry == KeyTable.NONE) {
            added(table.insert(key));
        } else {
            used(entry);
        }
    }

    @Override
    public final synchronized void removed(long key) {
        int entry = table.find(key);
        if (entry != KeyTable.NONE) {
            left(entry);
            table.remove(entry);
        }
    }

    /** Looks among its own entries: the store's order is none of its business. */
    @Override
    public final synchronized boolean findVictim(KeyHand hand) {
        if (table.size() == 0) {
            return false;
        }
        int entry = choose();
        victim = table.key(entry);
        table.remove(entry);
        return true;
    }

    /** An entry was asked for. */
    abstract void used(int entry);

    /** An entry is new. */
    abstract void added(int entry);

    /** An entry goes that was not chosen. */
    abstract void left(int entry);

    /** The entry that goes, taken out of all but the table, which is not empty. */
    abstract int choose();

    final void looked() {
        traversed++;
    }

    @Override
    public final synchronized long victim() {
        return victim;
    }

    @Override
    public final synchronized long keysTraversed() {
        return traversed;
    }
}
