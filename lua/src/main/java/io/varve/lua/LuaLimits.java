package io.varve.lua;

/**
 * The limits of a state. Immutable; the pool that it refers to changes.
 *
 * @param memoryBytes live memory of its values, as the engine estimates it
 * @param pool what it shares with others of this memory
 * @param stackBytes the part of the thread's stack that nested calls may take
 * @param coroutines live coroutines at a time
 */
public record LuaLimits(long memoryBytes, LuaPool pool, int stackBytes, int coroutines) {
    /** For a thread with the JVM's usual stack of 1 MiB, of which the caller has used little. */
    public static final LuaLimits DEFAULTS = new LuaLimits(16L << 20, 640 << 10, 64);

    /** Of a state that shares its memory with no other. */
    public LuaLimits(long memoryBytes, int stackBytes, int coroutines) {
        this(memoryBytes, LuaPool.unlimited(), stackBytes, coroutines);
    }
}
