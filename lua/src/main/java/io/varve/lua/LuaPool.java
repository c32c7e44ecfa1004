package io.varve.lua;

import java.util.concurrent.atomic.AtomicLong;

/** Memory that several states share: what one state does not use is there for the others. Thread-safe. */
public final class LuaPool {
    private final AtomicLong free;

    /** @param bytes what all its states may use together, beside the first megabyte of each */
    public LuaPool(long bytes) {
        free = new AtomicLong(bytes);
    }

    /** A pool that no other state shares and that does not limit. */
    public static LuaPool unlimited() {
        return new LuaPool(Long.MAX_VALUE);
    }

    /** Takes memory; false, with nothing taken, if there is less. */
    public boolean take(long bytes) {
        long present = free.get();
        while (present >= bytes) {
            long seen = free.compareAndExchange(present, present - bytes);
            if (seen == present) {
                return true;
            }
            present = seen;
        }
        return false;
    }

    /** The bytes that no state has taken. */
    public long free() {
        return free.get();
    }

    void give(long bytes) {
        free.addAndGet(bytes);
    }
}
