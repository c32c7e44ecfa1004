package io.varve.experiments.run.speed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.load.ClosedLoop;
import io.varve.experiments.run.load.InitialLoad;
import io.varve.experiments.server.CachegrindRedis;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;

/**
 * The misses of a simulated last-level cache by function of Redis, under reads: what {@link CacheMisses} counts, for
 * machines without such a counter. Confined to one thread.
 *
 * <p>The simulator counts from the process's start to its end. Two processes load the same keys, and the second one
 * also gets the reads: the difference is theirs.
 */
public final class SimulatedCacheMisses {
    private static final double WHOLE = 100;
    /** Number of named functions; the others are summed up. */
    private static final int MAX_FUNCTIONS = 12;
    private static final String FUNCTION = "fn=";
    private static final String EVENTS = "events:";
    /** Misses of the last level by reads and by writes of data. */
    private static final List<String> MISSES = List.of("DLmr", "DLmw");

    private final RequestSet set;
    private final long seed;
    private final int keys;
    private final long reads;
    private final Cancellation cancellation;

    SimulatedCacheMisses(RequestSet set, long seed, int keys, long reads, Cancellation cancellation) {
        this.set = set;
        this.seed = seed;
        this.keys = keys;
        this.reads = reads;
        this.cancellation = cancellation;
    }

    /** The misses of the reads alone, by function. */
    Map<String, Long> byFunction(Path directory) throws IOException {
        Map<String, Long> loaded = misses(directory.resolve("cachegrind-load.out"), directory, 0);
        Map<String, Long> all = misses(directory.resolve("cachegrind-reads.out"), directory, reads);
        loaded.forEach((function, count) -> all.merge(function, -count, Long::sum));
        return all;
    }

    private Map<String, Long> misses(Path out, Path directory, long requests) throws IOException {
        try (Target target = CachegrindRedis.start(out, directory)) {
            load(target);
            try (ClosedLoop clients = new ClosedLoop(target, set.connections(), set, seed, cancellation)) {
                if (requests > 0) {
                    clients.run(new ClosedLoop.Mix((int) WHOLE,
                            new KeyDistribution(KeyDistribution.Kind.UNIF, keys), seed), requests, Long.MAX_VALUE / 2);
                }
            }
        }
        return counts(Files.readAllLines(out));
    }

    private void load(Target target) throws IOException {
        try (RespConnection connection = new RespConnection(target.host(), target.port())) {
            InitialLoad.write(connection, set, seed, keys, cancellation::isCancelled);
        }
    }

    /** The misses of each function in the simulator's file. */
    static Map<String, Long> counts(List<String> lines) throws IOException {
        Map<String, Long> counts = new LinkedHashMap<>();
        List<Integer> columns = new ArrayList<>();
        String function = "";
        for (String line : lines) {
            if (line.startsWith(EVENTS)) {
                List<String> events = List.of(line.substring(EVENTS.length()).strip().split("\\s+", -1));
                // The first number of a row is the line of the source.
                MISSES.forEach(event -> columns.add(events.indexOf(event) + 1));
            } else if (line.startsWith(FUNCTION)) {
                function = line.substring(FUNCTION.length());
            } else if (!line.isEmpty() && Character.isDigit(line.charAt(0))) {
                String[] cells = line.split("\\s+", -1);
                for (int column : columns) {
                    if (column == 0) {
                        throw new IOException("cachegrind did not simulate caches: expected the events " + MISSES);
                    }
                    counts.merge(function, column < cells.length ? Long.parseLong(cells[column]) : 0, Long::sum);
                }
            }
        }
        return counts;
    }

    /** The sum, without functions that missed less often in the second process. */
    static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(count -> Math.max(0, count)).sum();
    }

    /** Percent of the misses by function, the largest first, the rest as {@code other}. */
    static Map<String, Double> shares(Map<String, Long> counts) {
        long all = sum(counts);
        Map<String, Double> shares = new LinkedHashMap<>();
        double named = 0;
        for (Map.Entry<String, Long> each : counts.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder())).limit(MAX_FUNCTIONS).toList()) {
            if (each.getValue() > 0) {
                double share = WHOLE * each.getValue() / all;
                shares.put(each.getKey(), share);
                named += share;
            }
        }
        if (!shares.isEmpty()) {
            shares.put("other", Math.max(0, WHOLE - named));
        }
        return shares;
    }
}
