package io.varve.experiments.report;

import java.awt.Color;
import java.util.List;
import java.util.Map;

import io.varve.experiments.result.table.PlacementText;

/**
 * One colour per configuration, equal in every figure. Immutable.
 *
 * <p>People with red-green colour blindness can tell the colours apart. The baselines are grey or red.
 */
final class Palette {
    private static final Map<String, String> KNOWN = Map.of(
            "Ref", "#7d8590", "Redis", "#c2402c", "Varve", "#0f766e", "wheel", "#0f766e",
            "120-1000", "#2f5fb3", "60-1000", "#e09f1f", "240-1000", "#7a4fa3",
            "1200-100", "#6aa5de", "600-100", "#b5651d", "2400-100", "#b493d6");
    private static final Map<String, String> GROUPS = Map.of(
            "60 s", "#e09f1f", "120 s", "#2f5fb3", "240 s", "#7a4fa3",
            Columns.PUBLISHED_OURS, "#d9c7a0", Columns.PUBLISHED_RIVAL, "#a89468",
            "greedy", "#7d8590", "original", "#e09f1f", "modified", "#0f766e", "Valkey", "#2f5fb3",
            "Reference", "#7d8590");
    /** Buckets of scales with shorter TTLs, in the colours of those that they stand for. */
    private static final Map<String, String> SCALED_BUCKETS = Map.ofEntries(Map.entry("24-1000", "#2f5fb3"),
            Map.entry("12-1000", "#e09f1f"), Map.entry("48-1000", "#7a4fa3"), Map.entry("240-100", "#6aa5de"),
            Map.entry("120-100", "#b5651d"), Map.entry("480-100", "#b493d6"), Map.entry("8-1000", "#2f5fb3"),
            Map.entry("4-1000", "#e09f1f"), Map.entry("16-1000", "#7a4fa3"), Map.entry("80-100", "#6aa5de"),
            Map.entry("40-100", "#b5651d"), Map.entry("160-100", "#b493d6"));
    private static final Map<String, String> POLICIES = Map.of(
            "tbf", "#0f766e", "tbf-half", "#6bb5ad", "bfd", "#4d7c0f", "clock", "#2f5fb3", "lru", "#7d8590",
            "random", "#c2402c", "sieve", "#e09f1f", "s3-fifo", "#7a4fa3", "tbf-marked", "#3f3f46", "clock-marked",
            "#6aa5de");
    private static final Map<String, String> PENALTIES = Map.of("unlimited", "#3f3f46", "hyperbolic", "#2f5fb3",
            "penalty", "#0f766e", "penalty-hint", "#e09f1f", "penalty-flash", "#7a4fa3", "penalty-dump", "#c2402c",
            "penalty-dump-quick", "#c2402c");
    private static final Map<String, String> LOGS = Map.of("no log", "#7d8590", "no", "#6aa5de", "everysec", "#0f766e",
            "always", "#c2402c", DurableStoreColumns.MEASURED, "#0f766e", DurableStoreColumns.PUBLISHED, "#d9c7a0");
    private static final Map<String, String> PLACEMENTS = Map.of(PlacementGraphs.KEYS_ON_RING, "#0f766e",
            PlacementGraphs.THEORY, "#3f3f46", PlacementGraphs.SLOTS_ON_RING, "#2f5fb3", PlacementText.RENDEZVOUS,
            "#e09f1f", PlacementText.REBALANCED, "#c2402c");
    private static final Map<String, String> REPLICATION = Map.of(ReplicationColumns.WITHOUT, "#7d8590",
            ReplicationColumns.WITH, "#0f766e", ReplicationColumns.MEDIAN, "#0f766e", ReplicationColumns.GREATEST,
            "#e09f1f", ReplicationColumns.P99, "#2f5fb3", ReplicationColumns.MEANWHILE, "#c2402c");
    /** Colours of penalty classes: neighbours are distinguishable. */
    private static final List<String> CLASSES = List.of("#7d8590", "#b493d6", "#6aa5de", "#2f5fb3", "#0f766e",
            "#e09f1f", "#c2402c", "#7a4fa3");
    private static final List<String> OTHERS = List.of("#3f3f46", "#be185d", "#4d7c0f");

    private Palette() {}

    /** The colour of a configuration or a group of them, as HTML writes it. */
    static String html(String name) {
        for (Map<String, String> known : List.of(KNOWN, GROUPS, POLICIES, PENALTIES, LOGS, PLACEMENTS, REPLICATION,
                SCALED_BUCKETS)) {
            String color = known.get(name);
            if (color != null) {
                return color;
            }
        }
        return OTHERS.get(Math.floorMod(name.hashCode(), OTHERS.size()));
    }

    /** The colour of a penalty class, as HTML writes it. */
    static String ofClass(int number) {
        return CLASSES.get(Math.floorMod(number, CLASSES.size()));
    }

    static Color color(String name) {
        return Color.decode(html(name));
    }
}
