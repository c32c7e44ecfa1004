package io.varve.flash.tier;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.flash.record.ItemKey;
import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.jspecify.annotations.Nullable;

/** A store that blocks a reader of a key until the test releases it. Many threads. */
final class HeldStore implements FlashStore {
    private final CrashingStore device;
    private final AtomicLong puts = new AtomicLong();
    private volatile @Nullable Hold hold;

    HeldStore(CrashingStore device) {
        this.device = device;
    }

    /** Blocks readers of one key after their read. Thread-safe. */
    static final class Hold {
        private final byte[] key;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        private Hold(byte[] key) {
            this.key = key;
        }

        private void block() {
            reached.countDown();
            try {
                if (!released.await(1, TimeUnit.MINUTES)) {
                    throw new IllegalStateException("Nobody lets go");
                }
            } catch (InterruptedException ended) {
                throw new IllegalStateException(ended);
            }
        }

        void release() {
            released.countDown();
        }
    }

    /** Blocks readers of this key after their read, instead of those of the previous key. */
    Hold hold(byte[] key) {
        Hold next = new Hold(key);
        hold = next;
        return next;
    }

    /** Waits until a reader is blocked, and blocks no further ones. */
    void await(Hold awaited) throws InterruptedException {
        if (!awaited.reached.await(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("Nobody has read the key");
        }
        hold = null;
    }

    /** How many records were written. */
    long puts() {
        return puts.get();
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        byte[] found = device.get(key);
        Hold present = hold;
        if (present != null && Arrays.equals(ItemKey.keyOf(key), present.key)) {
            present.block();
        }
        return found;
    }

    @Override
    public boolean put(byte[] key, byte[] value, DurabilityLevel durability) {
        boolean fresh = device.put(key, value, durability);
        puts.incrementAndGet();
        return fresh;
    }

    @Override
    public boolean delete(byte[] key, DurabilityLevel durability) {
        return device.delete(key, durability);
    }

    @Override
    public long count() {
        return device.count();
    }

    @Override
    public KeyCursor walk() {
        return device.walk();
    }

    @Override
    public void makeDurable(DurabilityLevel durability) {
        device.makeDurable(durability);
    }

    @Override
    public long reopened() {
        return device.reopened();
    }

    @Override
    public long bytesWritten() {
        return device.bytesWritten();
    }

    @Override
    public boolean hasNote(String name) {
        return device.hasNote(name);
    }

    @Override
    public void setNote(String name, boolean present) {
        device.setNote(name, present);
    }

    @Override
    public void close() {
        device.close();
    }
}
