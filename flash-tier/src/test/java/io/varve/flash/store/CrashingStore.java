package io.varve.flash.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * A store in memory that simulates a kill: it drops all changes since the last handover, and refuses calls by name on
 * request. Guarded by {@code this}.
 */
public final class CrashingStore implements FlashStore {
    private final TreeMap<byte[], byte[]> now = new TreeMap<>(Arrays::compareUnsigned);
    /** Undoes the changes that are still buffered, the oldest first. */
    private final List<Runnable> buffered = new ArrayList<>();
    private final Set<String> notes = new HashSet<>();
    private int limit = Integer.MAX_VALUE;
    private long reopened;
    private long written;
    private StoreException.Kind refusal = StoreException.Kind.FULL;
    private Predicate<String> refuses = _ -> false;

    /** From now on these calls fail: get, put, delete, walk. */
    public synchronized void refuse(Predicate<String> calls) {
        refuse(StoreException.Kind.FULL, calls);
    }

    /** Refuses matching calls with a failure of this kind. */
    public synchronized void refuse(StoreException.Kind because, Predicate<String> calls) {
        refusal = because;
        refuses = calls;
    }

    private void call(String what) {
        if (refuses.test(what)) {
            throw new StoreException(refusal, what + " is refused, for the test",
                    new Exception("test"));
        }
    }

    /** From now on it takes no more keys than that. */
    public synchronized void limit(int keys) {
        limit = keys;
    }

    public synchronized void kill() {
        for (int i = buffered.size() - 1; i >= 0; i--) {
            buffered.get(i).run();
        }
        buffered.clear();
    }

    /** Buffered changes are lost, as when a library gives up its files and they are reopened. */
    public synchronized void reopen() {
        kill();
        reopened++;
    }

    /** Changes a byte of a value on the device. */
    public synchronized void corrupt(byte[] key, int offset) {
        Objects.requireNonNull(now.get(key))[offset] ^= 0x40;
    }

    public synchronized List<byte[]> keys() {
        return new ArrayList<>(now.keySet());
    }

    @Override
    public synchronized byte @Nullable [] get(byte[] key) {
        call("get");
        byte[] value = now.get(key);
        return value == null ? null : value.clone();
    }

    @Override
    public synchronized boolean put(byte[] key, byte[] value, DurabilityLevel durability) {
        call("put");
        if (now.size() >= limit && !now.containsKey(key)) {
            throw new StoreException(StoreException.Kind.FULL, "full, for the test", null);
        }
        byte[] before = now.put(key.clone(), value.clone());
        written += key.length + value.length;
        changed(key, before, durability);
        return before == null;
    }

    @Override
    public synchronized boolean delete(byte[] key, DurabilityLevel durability) {
        call("delete");
        byte[] before = now.remove(key);
        if (before == null) {
            makeDurable(durability);
            return false;
        }
        changed(key, before, durability);
        return true;
    }

    private void changed(byte[] key, byte @Nullable [] before, DurabilityLevel durability) {
        byte[] owned = key.clone();
        buffered.add(before == null ? () -> now.remove(owned) : () -> now.put(owned, before));
        makeDurable(durability);
    }

    @Override
    public synchronized void makeDurable(DurabilityLevel durability) {
        if (durability != DurabilityLevel.BUFFERED) {
            buffered.clear();
        }
    }

    @Override
    public synchronized long reopened() {
        return reopened;
    }

    @Override
    public synchronized long bytesWritten() {
        return written;
    }

    @Override
    public synchronized boolean hasNote(String name) {
        return notes.contains(name);
    }

    @Override
    public synchronized void setNote(String name, boolean present) {
        call("note");
        if (present) {
            notes.add(name);
        } else {
            notes.remove(name);
        }
        makeDurable(DurabilityLevel.TO_DEVICE);
    }

    @Override
    public synchronized long count() {
        return now.size();
    }

    @Override
    public KeyCursor walk() {
        return new KeyCursor() {
            private byte[] from = {};
            private byte[] key = {};

            @Override
            public boolean next() {
                synchronized (CrashingStore.this) {
                    call("walk");
                    Iterator<byte[]> rest = now.tailMap(from, true).keySet().iterator();
                    if (!rest.hasNext()) {
                        from = new byte[0];
                        return false;
                    }
                    key = rest.next();
                    from = Arrays.copyOf(key, key.length + 1);
                    return true;
                }
            }

            @Override
            public byte[] key() {
                return key;
            }

            @Override
            public void seek(byte[] first) {
                from = first.clone();
            }
        };
    }

    @Override
    public void close() {
        // It is opened again after a crash, and what it holds stays.
    }
}
