package io.varve.server.testing;

import java.util.function.Consumer;

import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.jspecify.annotations.Nullable;

/** A store with hooks before its calls, in which a test waits or fails. Many threads, as the underlying store. */
public final class HookedStore implements FlashStore {
    private final FlashStore store;
    private volatile Consumer<String> hook = _ -> {};

    public HookedStore(FlashStore store) {
        this.store = store;
    }

    /** Is told the name of each call, before it. */
    public void before(Consumer<String> told) {
        hook = told;
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        hook.accept("get");
        return store.get(key);
    }

    @Override
    public boolean put(byte[] key, byte[] value, DurabilityLevel durability) {
        hook.accept("put");
        return store.put(key, value, durability);
    }

    @Override
    public boolean delete(byte[] key, DurabilityLevel durability) {
        hook.accept("delete");
        return store.delete(key, durability);
    }

    @Override
    public long count() {
        return store.count();
    }

    @Override
    public KeyCursor walk() {
        KeyCursor cursor = store.walk();
        return new KeyCursor() {
            @Override
            public boolean next() {
                hook.accept("walk");
                return cursor.next();
            }

            @Override
            public byte[] key() {
                return cursor.key();
            }

            @Override
            public void seek(byte[] from) {
                cursor.seek(from);
            }
        };
    }

    @Override
    public void handOver(DurabilityLevel durability) {
        hook.accept("handOver");
        store.handOver(durability);
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
    public boolean noted(String name) {
        return store.noted(name);
    }

    @Override
    public void note(String name, boolean left) {
        store.note(name, left);
    }

    @Override
    public void close() {
        store.close();
    }
}
