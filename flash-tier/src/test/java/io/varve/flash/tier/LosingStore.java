package io.varve.flash.tier;

import java.util.SplittableRandom;

import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.jspecify.annotations.Nullable;

/** A store whose files are occasionally given up and reopened between two calls. Guarded by {@code this}. */
final class LosingStore implements FlashStore {
    private static final int SELDOM = 500;
    /** More calls than a turn has: the tier gives everything up where files are lost again and again in one. */
    private static final int SPARED = 2000;

    private final CrashingStore store;
    private final SplittableRandom random;
    private int spared;

    LosingStore(CrashingStore store, SplittableRandom random) {
        this.store = store;
        this.random = random;
    }

    private synchronized CrashingStore store() {
        if (spared > 0) {
            spared--;
        } else if (random.nextInt(SELDOM) == 0) {
            store.reopen();
            spared = SPARED;
        }
        return store;
    }

    @Override
    public synchronized byte @Nullable [] get(byte[] key) {
        return store().get(key);
    }

    @Override
    public synchronized boolean put(byte[] key, byte[] value, DurabilityLevel durability) {
        return store().put(key, value, durability);
    }

    @Override
    public synchronized boolean delete(byte[] key, DurabilityLevel durability) {
        return store().delete(key, durability);
    }

    @Override
    public synchronized long count() {
        return store.count();
    }

    @Override
    public KeyCursor walk() {
        return store.walk();
    }

    @Override
    public synchronized void makeDurable(DurabilityLevel durability) {
        store().makeDurable(durability);
    }

    @Override
    public synchronized long reopened() {
        return store.reopened();
    }

    @Override
    public synchronized long bytesWritten() {
        return store.bytesWritten();
    }

    @Override
    public boolean hasNote(String name) {
        return store.hasNote(name);
    }

    @Override
    public void setNote(String name, boolean present) {
        store.setNote(name, present);
    }

    @Override
    public void close() {
        store.close();
    }
}
