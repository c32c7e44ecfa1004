package io.varve.experiments.run.placement;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.varve.experiments.result.table.PlacementText;

/**
 * One placement under one seed. Immutable.
 *
 * @param least keys of the member with the fewest
 * @param mean keys of a member on average
 * @param most keys of the member with the most
 * @param deviation standard deviation of the members' keys from their mean
 * @param slots the measurements of a placement of slots; NaN in each for one of keys
 */
record PlacementTrial(double least, double mean, double most, double deviation, Slots slots) {
    /**
     * What only a placement of slots has.
     *
     * @param least slots of the member with the fewest
     * @param most slots of the member with the most
     * @param joinSlots slots that move when a member joins
     * @param joinKeys keys in these slots
     * @param leaveSlots slots that move when a member leaves
     * @param astray slots that moved without need: at the join to an old member, at the leave from one that stays
     * @param ranges ranges of slots that follow each other and have one owner
     * @param replyBytes length of the reply to CLUSTER SLOTS
     * @param millis time to place all slots, ms
     */
    record Slots(double least, double most, double joinSlots, double joinKeys, double leaveSlots, double astray,
            double ranges, double replyBytes, double millis) {
        static final Slots NONE = new Slots(Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN,
                Double.NaN, Double.NaN, Double.NaN);
    }

    static PlacementTrial of(long[] keysOfMembers, Slots slots) {
        double mean = Arrays.stream(keysOfMembers).average().orElseThrow();
        double variance = Arrays.stream(keysOfMembers).mapToDouble(keys -> (keys - mean) * (keys - mean)).average()
                .orElseThrow();
        return new PlacementTrial(Arrays.stream(keysOfMembers).min().orElseThrow(), mean,
                Arrays.stream(keysOfMembers).max().orElseThrow(), Math.sqrt(variance), slots);
    }

    /** All measurements by their names in {@link PlacementText}. */
    Map<String, Double> asMap() {
        Map<String, Double> all = new LinkedHashMap<>();
        all.put(PlacementText.KEYS_LEAST, least);
        all.put(PlacementText.KEYS_MEAN, mean);
        all.put(PlacementText.KEYS_MOST, most);
        all.put(PlacementText.KEYS_DEVIATION, deviation);
        all.put(PlacementText.MOST_OVER_MEAN, most / mean);
        all.put(PlacementText.SLOTS_LEAST, slots.least());
        all.put(PlacementText.SLOTS_MOST, slots.most());
        all.put(PlacementText.JOIN_SLOTS, slots.joinSlots());
        all.put(PlacementText.JOIN_KEYS, slots.joinKeys());
        all.put(PlacementText.LEAVE_SLOTS, slots.leaveSlots());
        all.put(PlacementText.RANGES, slots.ranges());
        all.put(PlacementText.REPLY_BYTES, slots.replyBytes());
        all.put(PlacementText.MILLIS, slots.millis());
        return all;
    }

    static String csvHeader() {
        return "seed,placement," + String.join(",", of(new long[1], Slots.NONE).asMap().keySet()) + "\n";
    }

    String csvRow(long seed, String placement) {
        StringBuilder row = new StringBuilder().append(seed).append(',').append(placement);
        for (double value : asMap().values()) {
            row.append(',');
            if (Double.isFinite(value)) {
                row.append(String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f" : "%.4f", value));
            }
        }
        return row.append('\n').toString();
    }
}
