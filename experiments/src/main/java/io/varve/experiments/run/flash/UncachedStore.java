package io.varve.experiments.run.flash;

import java.util.function.LongSupplier;

import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.jspecify.annotations.Nullable;

/**
 * A store whose files are not in the system's page cache when a value is read, once it has been started: each read of a
 * value drops the pages that it brought in. Many threads, as the store.
 *
 * <p>It measures the time of these drops: they are part of the measurement's set-up, not of the store.
 */
final class UncachedStore implements FlashStore {
    private final FlashStore store;
    private final CachedPages pages;
    private final LongSupplier nanoTime;
    private final ThreadLocal<long[]> adviceNanos = ThreadLocal.withInitial(() -> new long[1]);
    private volatile boolean started;

    /**
     * @param pages those of the store's files; closed with the store
     * @param nanoTime a clock
     */
    UncachedStore(FlashStore store, CachedPages pages, LongSupplier nanoTime) {
        this.store = store;
        this.pages = pages;
        this.nanoTime = nanoTime;
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        byte[] value = store.get(key);
        if (started) {
            long start = nanoTime.getAsLong();
            pages.drop();
            adviceNanos.get()[0] += nanoTime.getAsLong() - start;
        }
        return value;
    }

    @Override
    public boolean put(byte[] key, byte[] value, DurabilityLevel durability) {
        return store.put(key, value, durability);
    }

    @Override
    public boolean delete(byte[] key, DurabilityLevel durability) {
        return store.delete(key, durability);
    }

    @Override
    public long count() {
        return store.count();
    }

    @Override
    public KeyCursor walk() {
        return store.walk();
    }

    @Override
    public void makeDurable(DurabilityLevel durability) {
        store.makeDurable(durability);
    }

    @Override
    public long reopened() {
        return store.reopened();
    }

    @Override
    public long bytesWritten() {
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

    /** The time that reads of the calling thread have spent dropping pages, and waiting for another thread's drop. */
    long adviceNanos() {
        return adviceNanos.get()[0];
    }

    /** From now on pages are dropped. Earlier changes are on the device when this returns. */
    void start() {
        store.makeDurable(DurabilityLevel.TO_DEVICE);
        pages.drop();
        started = true;
    }

    @Override
    public void close() {
        try {
            store.close();
        } finally {
            pages.close();
        }
    }
}
