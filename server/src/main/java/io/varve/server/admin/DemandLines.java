package io.varve.server.admin;

import io.varve.memory.Cache;
import io.varve.memory.report.DemandReport;
import io.varve.memory.report.DemandReport.OfClass;

/** Writes the fields of INFO about the periodic demand of penalty classes. Immutable: static methods only. */
final class DemandLines {
    private DemandLines() {}

    /**
     * Writes one field if the demand is not monitored; else the actions that it caused, and a field for each class that
     * has been periodic.
     */
    static void write(InfoSection out, Cache cache) {
        DemandReport report = cache.demand();
        out.field("demand_cycles", report == null ? 0 : 1);
        if (report == null) {
            return;
        }
        out.field("demand_slots", report.slots()).field("demand_dumps", report.dumps())
                .field("demand_dumps_given_up", report.abandoned()).field("demand_loads", report.wakes())
                .field("demand_dumping", report.dumping() ? 1 : 0)
                .field("demand_dumped_items", report.dumpedItems());
        for (int i = 0; i < report.classes().size(); i++) {
            OfClass of = report.classes().get(i);
            if (of.periodic() || of.dumps() > 0) {
                out.field("demand_class" + i,
                        "state=" + (of.dumped() ? "dumped" : "awake") + ",periodic=" + (of.periodic() ? 1 : 0)
                                + ",interval_slots=" + of.intervalSlots() + ",dumps=" + of.dumps() + ",loads="
                                + of.wakes() + ",dumped_items=" + of.dumpedItems());
            }
        }
    }
}
