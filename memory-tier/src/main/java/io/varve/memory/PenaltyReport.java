package io.varve.memory;

import java.util.List;

/**
 * What is known of misses and of the classes of penalty, at one moment, but for what changes while it is gathered. Immutable.
 *
 * @param classes         all of them, in their order
 * @param measured        penalties since they are tracked: a read that missed, and the write of its key that followed
 * @param rememberedKeys  whose class is known though their items were evicted
 * @param bytes           that tracking takes, beside the recorder of accesses
 * @param divisions       that were made
 * @param curvesMicros    what the curves of all classes took for the last division, µs
 * @param divisionMicros  what the programme took for it, µs
 */
public record PenaltyReport(List<ClassReport> classes, long measured, long rememberedKeys, long bytes, long divisions,
        double curvesMicros, double divisionMicros) {
    public PenaltyReport {
        classes = List.copyOf(classes);
    }
}
