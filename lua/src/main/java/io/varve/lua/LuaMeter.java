package io.varve.lua;

/**
 * Bounds the live memory of a state. Confined to the state's thread. Creation of values is charged; when much has been
 * charged since the last measure, the live values are measured and the script fails if they exceed the limit, or what
 * the states that share the pool leave.
 */
final class LuaMeter {
    private static final int MEASURE_SHARE = 4;
    private static final long MAX_FIRST_BYTES = 1 << 20;
    /** A measure of so many bytes takes as long as a step of a script. */
    private static final int STEP_BYTES = 1024;
    private final LuaState state;
    private final long limit;
    private final LuaPool pool;
    /** The state charges at least so many bytes before it measures again. They are not taken from the pool. */
    private final long first;
    private long live;
    private long charged;
    private long threshold;
    /** The state has taken so many bytes from the pool. */
    private long held;

    LuaMeter(LuaState state, long limit, LuaPool pool) {
        this.state = state;
        this.limit = limit;
        this.pool = pool;
        first = Math.min(MAX_FIRST_BYTES, limit / MEASURE_SHARE);
        threshold = first;
    }

    /** Call it before the memory is allocated. */
    void charge(long bytes) {
        charged += bytes;
        if (charged > threshold) {
            measure(bytes);
        }
    }

    private void measure(long wanted) {
        live = MemoryMeasure.of(state);
        state.countSteps((int) (live / STEP_BYTES));
        // The larger the live values, the longer the walk over them, and the rarer it has to be.
        long step = Math.max(first, Math.min(live * MEASURE_SHARE, Math.max(limit / MEASURE_SHARE, live)));
        long room = Math.max(wanted, Math.min(step, limit - live));
        if (live + wanted > limit || !hold(live + room) && !hold(live + wanted)) {
            charged = 0;
            // The script may go on, and what it uses stays within the limit.
            threshold = Math.max(0, Math.min(first, limit - live));
            throw new LuaError("not enough memory");
        }
        charged = wanted;
        threshold = Math.max(wanted, Math.min(room, held - live));
    }

    /** Changes what the state holds of the pool; false if the pool has too little. */
    private boolean hold(long bytes) {
        if (bytes > held) {
            if (!pool.take(bytes - held)) {
                return false;
            }
        } else {
            pool.give(held - bytes);
        }
        held = bytes;
        return true;
    }

    /** Live and charged bytes: at most this much is in use. */
    long used() {
        return live + charged;
    }

    /** Measures now, and gives back to the pool what is not used. */
    long measureNow() {
        live = MemoryMeasure.of(state);
        charged = 0;
        threshold = first;
        hold(Math.min(held, live));
        return live;
    }

    /** A run has ended: gives back what a large script held. */
    void endRun() {
        if (held - live > first) {
            measureNow();
        }
    }
}
