package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;

import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * The names of the numbers about placements, and their table for a terminal. Stateless. A number belongs to a
 * placement: {@link #ring} and {@link #slots} with a number of identifiers, {@link #RENDEZVOUS}, {@link #REBALANCED} or
 * {@link #GROWN}.
 */
public final class PlacementText {
    /** Each slot is where weighted rendezvous hashing places it. */
    public static final String RENDEZVOUS = "rendezvous";
    /** The rebalancer has divided an empty map. */
    public static final String REBALANCED = "rebalanced";
    /** The rebalancer has run at each join, from one member on. */
    public static final String GROWN = "grown";
    /** The greatest number of identifiers in the paper's Figures 3 and 4. */
    public static final int PAPERS_MOST = 8;

    /** Keys of the member with the fewest, of a member on average, of the one with the most. */
    public static final String KEYS_LEAST = "keys_least";
    public static final String KEYS_MEAN = "keys_mean";
    public static final String KEYS_MOST = "keys_most";
    /** Standard deviation of the members' keys. */
    public static final String KEYS_DEVIATION = "keys_deviation";
    /** Root of the mean square of that deviation over all seeds, and its expected value. */
    public static final String KEYS_RMS = "keys_deviation_rms";
    public static final String KEYS_THEORY = "keys_deviation_theory";
    public static final String MOST_OVER_MEAN = "keys_most_over_mean";
    public static final String SLOTS_LEAST = "slots_least";
    public static final String SLOTS_MOST = "slots_most";
    /** Slots, and keys in them, that move when a member joins or leaves. */
    public static final String JOIN_SLOTS = "join_slots";
    public static final String JOIN_KEYS = "join_keys";
    /** Slots that move at a join, on average over the seeds, as a multiple of the 1/N of a fair join. */
    public static final String JOIN_OVER_FAIR = "join_slots_mean_over_fair";
    public static final String LEAVE_SLOTS = "leave_slots";
    /** Ranges of slots with one owner. */
    public static final String RANGES = "ranges";
    public static final String REPLY_BYTES = "cluster_slots_reply_bytes";
    public static final String MILLIS = "placement_ms";
    /** Number of repetitions with different members, keys and seeds. */
    public static final String SEEDS = "seeds";
    /** Share of the seeds for which the paper's most identifiers have a lower deviation than one, percent. */
    public static final String BETTER_SEEDS = "seeds_with_lower_deviation_percent";

    private static final String RING = "ring-";
    private static final String SLOTS = "slots-";
    private static final String MEAN = KEYS_MEAN + " ";

    private PlacementText() {}

    /** Keys on the ring, as in the paper. */
    public static String ring(int identifiers) {
        return RING + identifiers;
    }

    /** Slots on the same ring, as a cluster of Varve has them. */
    public static String slots(int identifiers) {
        return SLOTS + identifiers;
    }

    /** Identifiers of a member if keys are on the ring; empty for another placement. */
    public static OptionalInt onRing(String placement) {
        return identifiers(placement, RING);
    }

    /** Identifiers of a member if slots are on the ring; empty for another placement. */
    public static OptionalInt slotsOnRing(String placement) {
        return identifiers(placement, SLOTS);
    }

    private static OptionalInt identifiers(String placement, String prefix) {
        return placement.startsWith(prefix)
                ? OptionalInt.of(Integer.parseInt(placement.substring(prefix.length())))
                : OptionalInt.empty();
    }

    /** The name of a number. */
    public static String name(String metric, String placement) {
        return metric + " " + placement;
    }

    public static double number(RunRecord run, String metric, String placement) {
        return run.number(name(metric, placement));
    }

    public static @Nullable MedianRange range(RunRecord run, String metric, String placement) {
        return run.range(name(metric, placement));
    }

    /** Whether the run is of this kind. */
    public static boolean isIn(RunRecord run) {
        return run.measured().containsKey(name(KEYS_MEAN, REBALANCED));
    }

    /** In the order of their measurement. */
    public static List<String> placements(RunRecord run) {
        List<String> placements = new ArrayList<>();
        for (String name : run.measured().keySet()) {
            String placement = name.startsWith(MEAN) ? name.substring(MEAN.length()) : "";
            if (!placement.isEmpty() && placement.indexOf(' ') < 0) {
                placements.add(placement);
            }
        }
        return placements;
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder();
        for (RunRecord run : runs) {
            text.append('\n').append(run.run().id());
            Summary.appendOutcome(text, run);
            text.append(String.format(Locale.ROOT, "  %-12s %40s %40s %28s %14s %14s%n", "placement",
                    "least keys (range over the seeds)", "most keys", "standard deviation", "join, slots",
                    "leave, slots"));
            for (String placement : placements(run)) {
                text.append(String.format(Locale.ROOT, "  %-12s %40s %40s %28s %14s %14s%n", placement,
                        LocksText.text(range(run, KEYS_LEAST, placement), "%,.0f"),
                        LocksText.text(range(run, KEYS_MOST, placement), "%,.0f"),
                        LocksText.text(range(run, KEYS_DEVIATION, placement), "%,.1f"),
                        median(run, JOIN_SLOTS, placement), median(run, LEAVE_SLOTS, placement)));
            }
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static String median(RunRecord run, String metric, String placement) {
        double value = number(run, metric, placement);
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%,.0f", value);
    }
}
