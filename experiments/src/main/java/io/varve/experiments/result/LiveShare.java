package io.varve.experiments.result;

/**
 * How much of what a process holds is wanted. Immutable.
 *
 * @param payload  bytes of the keys and values that are there
 * @param resident bytes of the process with them
 * @param empty    bytes of the process after the same load once, and a FLUSHALL
 * @param fresh    bytes of the process before any load
 */
public record LiveShare(long payload, long resident, long empty, long fresh) {
    /** Payload over what the items made the process grow by; NaN if it did not grow. */
    public double ofGrowth() {
        return over(resident - empty);
    }

    /** The same; NaN if it is over 1 too: the process was not empty then, because the FLUSHALL had not given back. */
    public double ofGrowthIfPossible() {
        double share = ofGrowth();
        return share <= 1 ? share : Double.NaN;
    }

    /** The same, but what the first load left behind counts as growth too: memory kept is not memory given back. */
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
