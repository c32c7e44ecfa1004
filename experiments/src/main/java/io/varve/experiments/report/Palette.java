package io.varve.experiments.report;

import java.awt.Color;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.varve.experiments.result.table.PlacementText;
import org.jspecify.annotations.Nullable;

/**
 * One colour per configuration, equal in every chart. Immutable.
 *
 * <p>The nine colours differ in lightness as well as in hue, so they are distinguishable in greyscale and with
 * red-green colour blindness. Each map has the names that a chart may show together.
 */
final class Palette {
    /** The limit of a quantity: dashed, in the colour of text. */
    static final String LIMIT = "limit";
    private static final String INK = "#17191d";
    private static final String PURPLE = "#4b1d73";
    private static final String BLUE = "#1f4a96";
    private static final String RED = "#b3261e";
    private static final String TEAL = "#12948a";
    private static final String OCHRE = "#a3600f";
    private static final String GREY = "#a9b1ba";
    private static final String SKY = "#4f9fd8";
    private static final String YELLOW = "#f0c83c";
    /** All colours, from the darkest to the lightest. */
    static final List<String> COLORS = List.of(INK, PURPLE, BLUE, RED, OCHRE, TEAL, SKY, GREY, YELLOW);

    private static final Map<String, String> SERVERS = Map.of("Varve", TEAL, "Redis", RED, "Valkey", PURPLE, "Ref",
            GREY,
            LIMIT, INK);
    private static final Map<String, String> BUCKETS = Map.of("Ref", GREY, "Redis", RED, "wheel", TEAL,
            "120-1000", BLUE, "60-1000", YELLOW, "240-1000", PURPLE, "1200-100", SKY, "600-100", OCHRE, "2400-100",
            INK);
    private static final Map<String, String> EVENTS = Map.of("wheel", TEAL, "wheel-100", SKY, "bucket", BLUE, "Ref",
            GREY, "Redis", RED);
    private static final Map<String, String> GROUPS = Map.of("60 s", YELLOW, "120 s", BLUE, "240 s", PURPLE,
            "Reference", GREY);
    private static final Map<String, String> PAPERS = Map.of("Varve", TEAL, "modified", BLUE, "Redis", RED,
            Columns.PUBLISHED_OURS, YELLOW, Columns.PUBLISHED_RIVAL, OCHRE);
    private static final Map<String, String> CLEANERS = Map.of("greedy", GREY, "original", YELLOW, "modified", BLUE);
    /** Buckets of scales with shorter TTLs, in the colours of those that they stand for. */
    private static final Map<String, String> SCALED_BUCKETS = Map.ofEntries(Map.entry("24-1000", BLUE),
            Map.entry("12-1000", YELLOW), Map.entry("48-1000", PURPLE), Map.entry("240-100", SKY),
            Map.entry("120-100", OCHRE), Map.entry("480-100", INK), Map.entry("8-1000", BLUE),
            Map.entry("4-1000", YELLOW), Map.entry("16-1000", PURPLE), Map.entry("80-100", SKY),
            Map.entry("40-100", OCHRE), Map.entry("160-100", INK));
    private static final Map<String, String> POLICIES = Map.of("tbf", TEAL, "bfd", OCHRE, "clock", BLUE, "lru", GREY,
            "random", RED, "sieve", YELLOW, "s3-fifo", PURPLE, "tbf-marked", INK, "clock-marked", SKY);
    private static final Map<String, String> PENALTIES = Map.of("unlimited", INK, "lru", GREY, "hyperbolic", BLUE,
            "penalty", TEAL, "penalty-hint", YELLOW, "penalty-flash", PURPLE, "penalty-dump", OCHRE,
            "penalty-dump-quick", SKY, "redis", RED);
    private static final Map<String, String> LOGS = Map.of("no log", GREY, "no", SKY, "everysec", TEAL, "always", RED);
    private static final Map<String, String> LOCKS = Map.of(DurableStoreColumns.MEASURED, TEAL,
            DurableStoreColumns.PUBLISHED, YELLOW);
    private static final Map<String, String> PLACEMENTS = Map.of(PlacementGraphs.KEYS_ON_RING, TEAL,
            PlacementGraphs.THEORY, INK, PlacementGraphs.SLOTS_ON_RING, BLUE, PlacementText.RENDEZVOUS, YELLOW,
            PlacementText.REBALANCED, RED);
    private static final Map<String, String> EXTREMES = Map.of(PlacementGraphs.LEAST, BLUE, PlacementGraphs.MEAN, GREY,
            PlacementGraphs.MOST, RED);
    private static final Map<String, String> REPLICATION = Map.of(ReplicationColumns.WITHOUT, GREY,
            ReplicationColumns.WITH, TEAL, ReplicationColumns.MEANWHILE, RED);
    private static final Map<String, String> LAGS = Map.of(ReplicationColumns.MEDIAN, TEAL, ReplicationColumns.GREATEST,
            YELLOW, ReplicationColumns.P99, BLUE);
    private static final Map<String, String> MISS_RATIOS = Map.of(CurveGraphs.EXACT, INK, CurveGraphs.LEARNT, YELLOW);
    /** The names of all charts, by chart. The first map with a name has its colour. */
    static final List<Map<String, String>> KNOWN = List.of(SERVERS, BUCKETS, EVENTS, GROUPS, PAPERS, CLEANERS,
            SCALED_BUCKETS, POLICIES, PENALTIES, LOGS, LOCKS, PLACEMENTS, EXTREMES, REPLICATION, LAGS, MISS_RATIOS);
    /** Colours by number: neighbours differ much in lightness. */
    private static final List<String> BY_NUMBER = List.of(TEAL, YELLOW, PURPLE, SKY, RED, GREY, INK, OCHRE, BLUE);

    private Palette() {}

    /** The colour of a configuration or a group of them, as HTML writes it. */
    static String html(String name) {
        String known = known(name);
        return known != null ? known : byNumber(name.hashCode());
    }

    private static @Nullable String known(String name) {
        return KNOWN.stream().map(group -> group.get(name)).filter(Objects::nonNull).findFirst().orElse(null);
    }

    /** A colour for the class or the line of that number, as HTML writes it. */
    static String byNumber(int number) {
        return BY_NUMBER.get(Math.floorMod(number, BY_NUMBER.size()));
    }

    /** The colours of the series of one chart, as HTML writes them: nine or fewer have different ones. */
    static Map<String, String> distinct(Collection<String> names) {
        Map<String, String> colors = new LinkedHashMap<>();
        Set<String> used = new HashSet<>();
        for (String name : names) {
            String known = known(name);
            if (known != null && used.add(known)) {
                colors.put(name, known);
            }
        }
        List<String> free = new ArrayList<>(BY_NUMBER);
        free.removeAll(used);
        int next = 0;
        for (String name : names) {
            if (!colors.containsKey(name)) {
                colors.put(name, next < free.size() ? free.get(next) : byNumber(next));
                next++;
            }
        }
        return colors;
    }

    static Color decoded(@Nullable String html) {
        return Color.decode(Objects.requireNonNull(html));
    }
}
