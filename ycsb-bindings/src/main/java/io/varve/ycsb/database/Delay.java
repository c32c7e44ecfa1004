package io.varve.ycsb.database;

/** Delays a thread. Confined to one thread. */
@FunctionalInterface
public interface Delay {

    /**
     * Returns after the delay.
     *
     * @param nanos requested delay
     * @return the real delay, in nanoseconds
     */
    long await(long nanos);
}
