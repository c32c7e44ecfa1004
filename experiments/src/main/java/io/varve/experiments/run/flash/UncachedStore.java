package io.varve.experiments.run.flash;

import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.jspecify.annotations.Nullable;

/**
 * A store whose files are not in the system's page cache when a value is read: each read of a value drops the pages
 * that it has caused. Many threads, as the store.
 */
final class UncachedStore implements FlashStore {
    private final FlashStore store;
    private final CachedPages pages;

    /** @param pages those of the store's files; closed with the store */
    UncachedStore(FlashStore store, CachedPages pages) {
        this.store = store;
        this.pages = pages;
        pages.drop();
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        byte[] value = store.get(key);
        pages.drop();
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

    @Override
    public void close() {
        try {
            store.close();
        } finally {
            pages.close();
        }
    }
}
