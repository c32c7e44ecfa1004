package io.varve.memory.expiry;

/** The result of a slice of an expiry cycle. Immutable. */
public enum CycleStatus {
    /** The cycle is complete: nothing to do before the next {@link Expiry#beginCycle}. */
    DONE,
    /** The deadline came first: call {@link Expiry#runSlice} again, if the cycle has time left. */
    MORE
}
