package io.varve.memory.compared;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import org.jspecify.annotations.Nullable;

/**
 * A key as an object, for caches that take no bytes. Confined to the {@link ComparedCache.CacheHandle} that owns it;
 * immutable once a cache stores it.
 */
final class Key16 {
    private long number;

    Key16(long number) {
        this.number = number;
    }

    /** Changes it to another key. Must not be called on one that a cache keeps. */
    Key16 of(long other) {
        number = other;
        return this;
    }

    long number() {
        return number;
    }

    void write(ByteBuffer to) {
        to.order(ByteOrder.nativeOrder()).putLong(ComparedCache.KEY_PREFIX).putLong(number);
    }

    static Key16 read(ByteBuffer from) {
        ByteBuffer ordered = from.order(ByteOrder.nativeOrder());
        ordered.getLong();
        return new Key16(ordered.getLong());
    }

    boolean isIn(ByteBuffer buffer) {
        ByteBuffer ordered = buffer.order(ByteOrder.nativeOrder());
        int at = ordered.position();
        return ordered.getLong(at + Long.BYTES) == number && ordered.getLong(at) == ComparedCache.KEY_PREFIX;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Key16 key && key.number == number;
    }

    @Override
    public int hashCode() {
        long mixed = number * 0x9E37_79B9_7F4A_7C15L;
        return (int) (mixed >>> 32);
    }
}
