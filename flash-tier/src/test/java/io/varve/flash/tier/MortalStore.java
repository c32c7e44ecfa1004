package io.varve.flash.tier;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.jspecify.annotations.Nullable;

/**
 * A process's view of a store that outlives it. Guarded by the store. After the process's kill its callers block for
 * ever, and buffered changes are lost.
 */
final class MortalStore implements FlashStore {
    private final CrashingStore device;
    private boolean dead;

    MortalStore(CrashingStore device) {
        this.device = device;
    }

    void kill() {
        synchronized (device) {
            dead = true;
            device.kill();
        }
    }

    private <T extends @Nullable Object> T live(Supplier<T> call) {
        synchronized (device) {
            if (!dead) {
                return call.get();
            }
        }
        while (true) {
            LockSupport.park(this);
        }
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        return this.<byte @Nullable []>live(() -> device.get(key));
    }

    @Override
    public boolean put(byte[] key, byte[] value, DurabilityLevel durability) {
        return live(() -> device.put(key, value, durability));
    }

    @Override
    public boolean delete(byte[] key, DurabilityLevel durability) {
        return live(() -> device.delete(key, durability));
    }

    @Override
    public long count() {
        return live(device::count);
    }

    @Override
    public KeyCursor walk() {
        KeyCursor cursor = device.walk();
        return new KeyCursor() {
            @Override
            public boolean next() {
                return live(cursor::next);
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
        boolean handed = live(() -> {
            device.makeDurable(durability);
            return true;
        });
        assert handed;
    }

    @Override
    public long reopened() {
        return live(device::reopened);
    }

    @Override
    public long bytesWritten() {
        return live(device::bytesWritten);
    }

    @Override
    public boolean hasNote(String name) {
        return live(() -> device.hasNote(name));
    }

    @Override
    public void setNote(String name, boolean present) {
        boolean hasNote = live(() -> {
            device.setNote(name, present);
            return true;
        });
        assert hasNote;
    }

    @Override
    public void close() {
        // The device stays.
    }
}
