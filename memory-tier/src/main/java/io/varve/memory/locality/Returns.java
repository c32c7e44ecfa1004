package io.varve.memory.locality;

/**
 * What the keys of a class did in a slot. Immutable.
 *
 * @param returned  how many came back that were last there before the last valley
 * @param idleSlots how long that was, for all of them together
 * @param fresh     how many came that were not known
 */
public record Returns(double returned, double idleSlots, double fresh) {
    public static final Returns NONE = new Returns(0, 0, 0);

    /** What was seen in two places. */
    public Returns and(Returns other) {
        return new Returns(returned + other.returned, idleSlots + other.idleSlots, fresh + other.fresh);
    }
}
