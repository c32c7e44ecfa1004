package io.varve.ycsb;

/** Holds a thread back. Confined to one thread. */
@FunctionalInterface
interface Delay {

    /**
     * Returns when it is over.
     *
     * @param nanos asked for
     * @return what it was, in nanoseconds
     */
    long await(long nanos);
}
