package io.varve.memory.report;

import java.util.List;

/**
 * Statistics of misses and penalty classes, consistent except for changes during collection. Immutable.
 *
 * @param classes all classes, by number
 * @param measured penalties measured since tracking began: a read that missed, and the following write of its key
 * @param rememberedKeys keys whose class is known although their items were evicted
 * @param bytes memory of the tracking, without the access recorder
 * @param divisions how often memory was partitioned
 * @param curvesMicros the time to compute the curves of all classes for the last partitioning, µs
 * @param divisionMicros the time that the last partitioning took after that, µs
 */
public record PenaltyReport(List<ClassReport> classes, long measured, long rememberedKeys, long bytes, long divisions,
        double curvesMicros, double divisionMicros) {
    public PenaltyReport {
        classes = List.copyOf(classes);
    }
}
