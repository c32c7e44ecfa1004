package io.varve.lua;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A walk over all values that a state reaches, which adds their estimated sizes. Confined to the state's thread; each
 * walk has a number of its own, which the values that it has counted carry.
 */
public final class MemoryMeasure {
    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final int STRING_BYTES = 40;
    private static final int FUNCTION_BYTES = 32;
    private final int number;
    private Object[] pending = new Object[64];
    private int count;
    private long bytes;

    private MemoryMeasure(int number) {
        this.number = number;
    }

    static long of(LuaState state) {
        int number = NUMBERS.incrementAndGet();
        MemoryMeasure measure = new MemoryMeasure(number == 0 ? NUMBERS.incrementAndGet() : number);
        state.addReferences(measure);
        measure.drain();
        return measure.bytes;
    }

    /** The number of this walk. */
    public int number() {
        return number;
    }

    /** Counts a value, and later what it refers to, unless it has been counted. */
    public void add(Object value) {
        if (value instanceof LuaString string) {
            if (string.measure != number) {
                string.measure = number;
                bytes += STRING_BYTES + string.length();
            }
        } else if (value instanceof LuaTable table) {
            if (table.measure != number) {
                table.measure = number;
                bytes += table.size();
                push(table);
            }
        } else if (value instanceof LuaFunction function) {
            if (function.measure != number) {
                function.measure = number;
                bytes += FUNCTION_BYTES + function.size();
                push(function);
            }
        } else if (value instanceof Coroutine coroutine && coroutine.measure != number) {
            coroutine.measure = number;
            bytes += Coroutine.BYTES;
            push(coroutine);
        }
    }

    /** Counts some values. */
    public void add(Object[] values, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            add(values[i]);
        }
    }

    /** Counts memory that is no Lua value. */
    public void addBytes(long size) {
        bytes += size;
    }

    private void push(Object value) {
        if (count == pending.length) {
            pending = Arrays.copyOf(pending, 2 * count);
        }
        pending[count++] = value;
    }

    private void drain() {
        while (count > 0) {
            Object value = pending[--count];
            if (value instanceof LuaTable table) {
                table.addReferences(this);
            } else if (value instanceof LuaFunction function) {
                function.addReferences(this);
            } else if (value instanceof Coroutine coroutine) {
                coroutine.addReferences(this);
            }
        }
    }
}
