package io.varve.server.testing;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** A store with hooks before its calls, in which a test waits or fails. Many threads, as the underlying store. */
public final class HookedStore implements FlashStore {
    private final FlashStore store;
    private volatile Consumer<String> hook = _ -> {};

    public HookedStore(FlashStore store) {
        this.store = store;
    }

    /** Sets a hook that gets the name of each call, before it. */
    public void before(Consumer<String> reported) {
        hook = reported;
    }

    /** Waits within a hook until the test opens the latch. If the store's thread is interrupted, it stays so. */
    public static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
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
    public void makeDurable(DurabilityLevel durability) {
        hook.accept("makeDurable");
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
        store.close();
    }
}
