package io.varve.server.admin;

import io.varve.memory.Cache;
import io.varve.memory.report.PenaltyReport;
import io.varve.server.config.Decimals;

/**
 * Writes the fields of INFO about the cost of misses; VARVE.CLASS LIST shows it by class. Immutable: static methods
 * only.
 */
final class PenaltyLines {
    private static final int MICROS_DECIMALS = 1;

    private PenaltyLines() {}

    /**
     * Writes one field if nothing is tracked; else the known penalties, their memory, and the duration of the last
     * division.
     */
    static void write(InfoSection out, Cache cache) {
        PenaltyReport report = cache.penalties();
        out.field("penalty_tracking", report == null ? 0 : 1);
        if (report == null) {
            return;
        }
        out.field("penalty_classes", report.classes().size()).field("penalty_measured", report.measured())
                .field("penalty_remembered_keys", report.rememberedKeys()).field("penalty_bytes", report.bytes())
                .field("penalty_divisions", report.divisions())
                .field("penalty_curves_us", Decimals.of(report.curvesMicros(), MICROS_DECIMALS))
                .field("penalty_division_us", Decimals.of(report.divisionMicros(), MICROS_DECIMALS));
    }
}
