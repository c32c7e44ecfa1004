package io.varve.experiments.result.table;

import java.util.List;
import java.util.Locale;

import io.varve.experiments.result.RunRecord;

/** The names of the fragmentation experiment's numbers, and their table for a terminal. Stateless. */
public final class FragmentationText {
    public static final String LIVE = "live_over_resident_less_empty";
    /** The live share, where memory that remained from the first pass counts as growth. */
    public static final String LIVE_FROM_FRESH = "live_over_resident_less_fresh";
    public static final String OF_RESIDENT = "live_over_resident";
    /** Redis's own mem_fragmentation_ratio. */
    public static final String OVER_USED = "resident_over_used_memory";
    public static final String PEAK = "peak_resident_bytes";
    public static final String COPIED = "bytes_copied_per_byte_written";
    public static final String SECOND_OVER_FIRST = "second_load_over_first";

    public static final String LIVE_CHECK = "live payload / (resident bytes - resident bytes when empty)";
    public static final String COPIED_CHECK = "bytes copied per byte written";
    public static final String PEAK_CHECK = "peak resident bytes (maxmemory and 256 MB)";
    public static final String THROUGHPUT_CHECK = "throughput of the second load / throughput of the first";

    private FragmentationText() {}

    static boolean isIn(List<RunRecord> runs) {
        return runs.stream().anyMatch(run -> run.measured().containsKey(OF_RESIDENT));
    }

    public static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
                "%n%-10s %-8s %9s %9s %9s %9s %12s %10s %9s %12s %12s %8s%n", "workload", "server", "live MB",
                "resident", "empty", "peak", "live/growth", "live/res", "copied/w", "first ops/s", "second",
                "2nd/1st"));
        for (RunRecord run : runs) {
            text.append(String.format(Locale.ROOT, "%-10s %-8s %9s %9s %9s %9s %12s %10s %9s %12s %12s %8s",
                    run.run().workload(), run.run().configuration(), megabytes(run, "live_payload_bytes"),
                    megabytes(run, "resident_bytes"), megabytes(run, "resident_empty_bytes"), megabytes(run, PEAK),
                    share(run, LIVE), share(run, OF_RESIDENT), share(run, COPIED), whole(run, "first_load_ops"),
                    whole(run, "second_load_ops"), share(run, SECOND_OVER_FIRST)));
            Summary.appendOutcome(text, run);
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static String megabytes(RunRecord run, String name) {
        return format("%,.1f", run.number(name) / 1e6);
    }

    private static String share(RunRecord run, String name) {
        return format("%.3f", run.number(name));
    }

    private static String whole(RunRecord run, String name) {
        return format("%,.0f", run.number(name));
    }

    private static String format(String how, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, how, value) : "-";
    }
}
