package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import static io.varve.server.differential.random.ScriptStep.Comparison.DISTANCES;
import static io.varve.server.differential.random.ScriptStep.Comparison.EXACT;

/**
 * Draws random commands on places all over the map, and close together. Confined to the test's thread.
 *
 * <p>All places are distinct: Redis leaves the order of equally distant ones open. Stored distances are not compared:
 * their last digit depends on the C library.
 */
final class RandomGeoCommands extends CommandGenerator {
    private static final String[] KEYS = {"g", "g2"};
    /** Keys that store search results. */
    private static final String STORED = "g3";
    private static final String[] WRONG = {"nan", "inf", "-inf", "181", "-180.5", "85.06", "-90", "1e300", "-1e-9", "",
            "abc",
            "1e-400", " 1", "-0", "0", "180", "-180"};
    private static final String[] UNITS = {"m", "km", "ft", "mi", "KM", "M", "yd", ""};
    private static final String[] RADII = {"0", "1", "100", "5000", "20000", "1e7", "30000000", "-1", "abc", "inf",
            "0.5",
            "1e300"};
    private static final String[] COUNTS = {"1", "2", "5", "100", "0", "-1", "abc", ""};

    RandomGeoCommands(Source source) {
        super(source);
    }

    private void addPlaces(List<String> words) {
        boolean distances = words.getFirst().equals("GEODIST") || words.contains("WITHDIST");
        sink.add(distances ? DISTANCES : EXACT, words.toArray(String[]::new));
    }

    private String key() {
        return oneIn(20) ? draw.key() : one(KEYS);
    }

    private String place() {
        return oneIn(20) ? one("", "none", "a") : "place" + random.nextInt(60);
    }

    /** Half of them near the middle of Europe, some near the seams of the map. */
    private String longitude() {
        return degrees(switch (random.nextInt(6)) {
            case 0, 1, 2 -> 10 + random.nextDouble(-3, 3);
            case 3 -> random.nextBoolean() ? 180 - random.nextDouble(2) : random.nextDouble(2) - 180;
            default -> random.nextDouble(-180, 180);
        });
    }

    private String latitude() {
        return degrees(switch (random.nextInt(6)) {
            case 0, 1, 2 -> 50 + random.nextDouble(-3, 3);
            case 3 -> random.nextBoolean() ? 85 - random.nextDouble(6) : random.nextDouble(6) - 85;
            default -> random.nextDouble(-85, 85);
        });
    }

    private static String degrees(double value) {
        return String.format(Locale.ROOT, "%.7f", value);
    }

    private String radius() {
        return oneIn(4) ? one(RADII) : Double.toString(random.nextInt(1, 4000) / 8.0);
    }

    private String unit() {
        return oneIn(12) ? one(UNITS) : oneIn(3) ? one("mi", "m", "ft") : "km";
    }

    @Override
    void any() {
        switch (random.nextInt(16)) {
            case 0, 1, 2, 3 -> geoadd();
            case 4 -> addPlaces(list("ZREM", key(), place()));
            case 5 -> addPlaces(list("GEODIST", key(), place(), place()));
            case 6 -> addPlaces(list("GEODIST", key(), place(), place(), unit()));
            case 7 -> addPlaces(list("GEOHASH", key(), place(), place()));
            case 8 -> addPlaces(list("GEOPOS", key(), place(), place()));
            case 9, 10, 11 -> search();
            case 12, 13 -> radiusSearch();
            case 14 -> searchStore();
            default -> addPlaces(list("ZRANGE", one("g", "g2", STORED), "0", "-1"));
        }
    }

    private static List<String> list(String... words) {
        return new ArrayList<>(List.of(words));
    }

    private void geoadd() {
        List<String> words = list("GEOADD", key());
        for (int i = oneIn(3) ? random.nextInt(3) : 0; i > 0; i--) {
            words.add(one("NX", "XX", "CH", "ch", "GT"));
        }
        for (int i = oneIn(3) ? random.nextInt(1, 40) : 1; i > 0; i--) {
            words.add(oneIn(60) ? one(WRONG) : longitude());
            words.add(oneIn(60) ? one(WRONG) : latitude());
            words.add(place());
        }
        addPlaces(words);
    }

    private void search() {
        List<String> words = list("GEOSEARCH", key());
        area(words);
        options(words);
        addPlaces(words);
    }

    private void area(List<String> words) {
        if (oneIn(2)) {
            words.addAll(List.of("FROMMEMBER", place()));
        } else {
            words.addAll(List.of("FROMLONLAT", longitude(), latitude()));
        }
        if (oneIn(2)) {
            words.addAll(List.of("BYRADIUS", radius(), unit()));
        } else {
            words.addAll(List.of("BYBOX", radius(), radius(), unit()));
        }
        if (oneIn(20)) {
            words.add(one("BYBOX", "FROMMEMBER", "foo", "STOREDIST"));
        }
    }

    private void options(List<String> words) {
        for (int i = random.nextInt(5); i > 0; i--) {
            switch (random.nextInt(7)) {
                case 0 -> words.add("WITHDIST");
                case 1 -> words.add("WITHHASH");
                case 2 -> words.add("WITHCOORD");
                case 3, 4 -> words.add(one("ASC", "DESC", "asc"));
                case 5 -> {
                    words.addAll(List.of("COUNT", oneIn(8) ? one(COUNTS) : Integer.toString(random.nextInt(1, 20))));
                    if (oneIn(3)) {
                        words.add("ANY");
                    }
                }
                default -> {
                    if (oneIn(8)) {
                        words.add(one("ANY", "foo", "COUNT", "STORE"));
                    }
                }
            }
        }
    }

    private void radiusSearch() {
        boolean byMember = oneIn(2);
        boolean readOnly = oneIn(2);
        List<String> words = list((byMember ? "GEORADIUSBYMEMBER" : "GEORADIUS") + (readOnly ? "_RO" : ""), key());
        if (byMember) {
            words.add(place());
        } else {
            words.addAll(List.of(longitude(), latitude()));
        }
        words.addAll(List.of(radius(), unit()));
        options(words);
        if (oneIn(4)) {
            words.addAll(List.of(one("STORE", "STOREDIST", "store"), STORED));
        }
        addPlaces(words);
    }

    private void searchStore() {
        List<String> words = list("GEOSEARCHSTORE", STORED, key());
        area(words);
        options(words);
        if (oneIn(3)) {
            words.add("STOREDIST");
        }
        addPlaces(words);
    }
}
