package io.varve.flash.policy;

import java.lang.foreign.Arena;

/**
 * The base of policies that store each key: the index, and the rule that a key is inserted once. Guarded by {@code
 * this}.
 *
 * <p>These policies take many times the memory of the Bloom filters and serve as a comparison.
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
            entryRemoved(entry);
            table.remove(entry);
        }
    }

    /** Searches its own entries and ignores the store's order. */
    @Override
    public final synchronized boolean findVictim(ClockHand clockHand) {
        if (table.size() == 0) {
            return false;
        }
        int entry = choose();
        victim = table.key(entry);
        table.remove(entry);
        return true;
    }

    /** An entry was requested. */
    abstract void used(int entry);

    /** An entry was inserted. */
    abstract void added(int entry);

    /** An entry that was not the victim is removed. */
    abstract void entryRemoved(int entry);

    /** Chooses the victim's entry and removes it from everything except the table, which is not empty. */
    abstract int choose();

    final void countVisit() {
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
