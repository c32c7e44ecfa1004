package io.varve.experiments.result;

/**
 * The share of a process's memory that holds live data. Immutable.
 *
 * @param payload bytes of the keys and values that are stored
 * @param resident bytes of the process with them
 * @param empty bytes of the process after the same load once, and a FLUSHALL
 * @param fresh bytes of the process before any load
 */
public record LiveShare(long payload, long resident, long empty, long fresh) {
    /** Payload over the growth of the process caused by the items; NaN if it did not grow. */
    public double ofGrowth() {
        return over(resident - empty);
    }

    /**
     * The live share of the growth. NaN also if it is over 1: the process was not empty then, because the FLUSHALL had
     * not released its memory.
     */
    public double ofGrowthIfPossible() {
        double share = ofGrowth();
        return share <= 1 ? share : Double.NaN;
    }

    /**
     * The live share, where memory that remained from the first load counts as growth too: the process did not release
     * it.
     */
    public double ofGrowthFromFresh() {
        return over(resident - fresh);
    }

    public double ofResident() {
        return over(resident);
    }

    private double over(long bytes) {
        return bytes <= 0 ? Double.NaN : (double) payload / bytes;
    }
}
