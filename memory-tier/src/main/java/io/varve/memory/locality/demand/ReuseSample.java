package io.varve.memory.locality.demand;

/**
 * The behaviour of a class's keys in one slot. Immutable.
 *
 * @param returned keys that came back and were last accessed before the last valley
 * @param idleSlots the sum of their idle times, in slots
 * @param fresh keys that were not known
 */
public record ReuseSample(double returned, double idleSlots, double fresh) {
    public static final ReuseSample NONE = new ReuseSample(0, 0, 0);

    /** The sum of two samples. */
    public ReuseSample and(ReuseSample other) {
        return new ReuseSample(returned + other.returned, idleSlots + other.idleSlots, fresh + other.fresh);
    }
}
