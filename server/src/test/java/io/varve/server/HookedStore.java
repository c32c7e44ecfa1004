package io.varve.server;

import java.util.function.Consumer;

import io.varve.flash.store.FlashStore;
import io.varve.flash.store.Handover;
import io.varve.flash.store.KeyWalk;
import org.jspecify.annotations.Nullable;

/** A store before whose calls a test does something: waits, or fails. Many threads, as the store below. */
final class HookedStore implements FlashStore {
    private final FlashStore store;
    private volatile Consumer<String> hook = _ -> {};

    HookedStore(FlashStore store) {
        this.store = store;
    }

    /** Is told the name of each call, before it. */
    void before(Consumer<String> told) {
        hook = told;
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        hook.accept("get");
        return store.get(key);
    }

    @Override
    public boolean put(byte[] key, byte[] value, Handover handover) {
        hook.accept("put");
        return store.put(key, value, handover);
    }

    @Override
    public boolean delete(byte[] key, Handover handover) {
        hook.accept("delete");
        return store.delete(key, handover);
    }

    @Override
    public long count() {
        return store.count();
    }

    @Override
    public KeyWalk walk() {
        KeyWalk walk = store.walk();
        return new KeyWalk() {
            @Override
            public boolean next() {
                hook.accept("walk");
                return walk.next();
            }

            @Override
            public byte[] key() {
                return walk.key();
            }

            @Override
            public void seek(byte[] from) {
                walk.seek(from);
            }
        };
    }

    @Override
    public void handOver(Handover handover) {
        hook.accept("handOver");
        store.handOver(handover);
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
