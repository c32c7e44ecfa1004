package io.varve.flash.tier;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.Handover;
import io.varve.flash.store.KeyWalk;
import org.jspecify.annotations.Nullable;

/**
 * A process's way to a store that outlives it: when the process is killed, whoever of it calls does nothing any more, for ever, and
 * what was buffered is lost. Guarded by the store.
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
    public boolean put(byte[] key, byte[] value, Handover handover) {
        return live(() -> device.put(key, value, handover));
    }

    @Override
    public boolean delete(byte[] key, Handover handover) {
        return live(() -> device.delete(key, handover));
    }

    @Override
    public long count() {
        return live(device::count);
    }

    @Override
    public KeyWalk walk() {
        KeyWalk walk = device.walk();
        return new KeyWalk() {
            @Override
            public boolean next() {
                return live(walk::next);
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
        boolean handed = live(() -> {
            device.handOver(handover);
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
    public boolean noted(String name) {
        return live(() -> device.noted(name));
    }

    @Override
    public void note(String name, boolean left) {
        boolean noted = live(() -> {
            device.note(name, left);
            return true;
        });
        assert noted;
    }

    @Override
    public void close() {
        // The device stays.
    }
}
