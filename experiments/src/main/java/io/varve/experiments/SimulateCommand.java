package io.varve.experiments;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.LongPredicate;

import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.simulate.InvalidTraceException;
import io.varve.experiments.simulate.KeySource;
import io.varve.experiments.simulate.Simulation;
import io.varve.experiments.simulate.Simulation.Cell;
import io.varve.experiments.simulate.Simulation.Outcome;
import io.varve.flash.policy.Policies;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The subcommand {@code simulate}: it computes the hits of replacement policies on a trace or on YCSB's requests.
 * Confined to the main thread.
 */
@Command(name = "simulate", mixinStandardHelpOptions = true, sortOptions = false, description = {
        "Simulates replacement policies of a cache on a trace or on YCSB's requests.",
        "All policies get the same requests. It simulates keys only, without a server and without values."}, exitCodeListHeading = "%nExit status:%n", exitCodeList = {
                "0:done", "2:bad input, such as an unreadable trace or an unknown policy"})
final class SimulateCommand implements Callable<Integer> {
    private static final long PROGRESS_REQUESTS = 1 << 22;
    private static final int MAX_KEYS = 1 << 29;
    private static final int REQUESTS_A_KEY = 20;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private RequestOptions requests;

    @Option(names = "--warmup", paramLabel = "N", description = "requests before the measurement (trace: 0; YCSB: as many as are measured)")
    private long warmup = -1;

    @Option(names = "--policy", split = ",", paramLabel = "NAME", defaultValue = "tbf,bfd,clock,lru,random,sieve,s3-fifo", description = "policies: tbf, tbf-half, tbf-marked, bfd, bfd-marked, clock, clock-marked, lru, random, sieve, s3-fifo, none")
    private List<String> policies = List.of();

    @Option(names = "--size", split = ",", paramLabel = "SIZE", defaultValue = "0.5%,1%,2%,10%", description = "sizes of the cache: a number of keys, or a percentage of all keys")
    private List<String> sizes = List.of();

    @Option(names = "--steps", paramLabel = "N", defaultValue = "1000", description = "maximum number of keys that a search for a victim visits (1000)")
    private int steps;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "20130508", description = "seed of the randomized policies; YCSB's generators cannot be seeded")
    private long seed;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CsvOption csvOption;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        try (PrintWriter csv = csvOption.open(out)) {
            KeySource source = source();
            List<Cell> cells = cells(source);
            if (!csvOption.isOnly()) {
                out.println(source.describe());
                out.flush();
            }
            List<Outcome> outcomes = new Simulation(source, warmupOrDefault(), steps, seed, false).run(cells,
                    csvOption.isOnly() ? _ -> true : progress());
            if (!csvOption.isOnly()) {
                table(outcomes, out);
            }
            if (csv != null) {
                lines(outcomes).forEach(csv::println);
            }
            return 0;
        } catch (InvalidTraceException | IllegalArgumentException bad) {
            throw new InvalidExperimentException("simulate: " + bad.getMessage());
        }
    }

    private KeySource source() {
        return requests.hasTrace()
                ? requests.trace()
                : requests.ycsb(requests.requestsOr(REQUESTS_A_KEY) + warmupOrDefault());
    }

    private long warmupOrDefault() {
        return warmup >= 0 ? warmup : requests.hasTrace() ? 0 : requests.requestsOr(REQUESTS_A_KEY);
    }

    private List<Cell> cells(KeySource source) throws IOException {
        List<Policies> chosen = policies.stream().map(Policies::of).toList();
        List<Cell> cells = new ArrayList<>();
        long distinct = -1;
        for (String size : sizes) {
            boolean share = size.endsWith("%");
            if (share && distinct < 0) {
                distinct = source.distinctKeys();
            }
            int capacity = capacity(size, share, distinct);
            for (Policies policy : chosen) {
                cells.add(new Cell(policy, capacity));
            }
        }
        return cells;
    }

    private static int capacity(String size, boolean share, long distinct) {
        try {
            double wanted = share
                    ? Double.parseDouble(size.substring(0, size.length() - 1)) / 100 * distinct
                    : Long.parseLong(size);
            if (wanted >= 1 && wanted <= MAX_KEYS) {
                return (int) Math.round(wanted);
            }
        } catch (NumberFormatException none) {
            throw new IllegalArgumentException(
                    "--size " + size + ": expected a number of keys, or a share such as 2%");
        }
        throw new IllegalArgumentException("--size " + size + " is " + (share ? "of " + distinct + " keys " : "")
                + "less than one key or more than 536 million");
    }

    private LongPredicate progress() {
        long start = System.nanoTime();
        long[] next = {PROGRESS_REQUESTS};
        return done -> {
            if (done >= next[0]) {
                next[0] = done + PROGRESS_REQUESTS;
                spec.commandLine().getErr().printf(Locale.ROOT, "%,d requests, %,.0f a second%n", done,
                        done * 1e9 / (System.nanoTime() - start));
                spec.commandLine().getErr().flush();
            }
            return true;
        };
    }

    private static void table(List<Outcome> outcomes, PrintWriter out) {
        out.printf(Locale.ROOT, "%12s  %-12s  %8s  %8s  %10s  %8s  %12s  %10s%n", "cache", "policy", "hits, %",
                "theory",
                "miss / LRU", "visited", "poor victims", "bytes/key");
        for (Outcome outcome : outcomes) {
            out.printf(Locale.ROOT, "%,12d  %-12s  %8.2f  %8s  %10s  %8.2f  %12s  %10.2f%n", outcome.cell().capacity(),
                    outcome.cell().policy().optionName(), 100 * outcome.figures().hitRatio(),
                    outcome.theory().isPresent()
                            ? String.format(Locale.ROOT, "%.2f", 100 * outcome.theory().getAsDouble())
                            : "",
                    relativeMisses(outcome, outcomes), outcome.figures().meanTraversed(),
                    String.format(Locale.ROOT, "%,d", outcome.figures().poorVictims()),
                    (double) outcome.ramBytes() / outcome.cell().capacity());
        }
        out.flush();
    }

    /** The ratio of the paper's Figures 4(b) and 5: misses over LRU's at the size. */
    private static String relativeMisses(Outcome outcome, List<Outcome> all) {
        for (Outcome lru : all) {
            if (lru.cell().policy() == Policies.LRU && lru.cell().capacity() == outcome.cell().capacity()) {
                return String.format(Locale.ROOT, "%.3f",
                        (1 - outcome.figures().hitRatio()) / (1 - lru.figures().hitRatio()));
            }
        }
        return "";
    }

    private static List<String> lines(List<Outcome> outcomes) {
        List<String> lines = new ArrayList<>();
        lines.add("policy,size,requests,hits,hit_ratio,keys_traversed_per_eviction,policy_bytes,"
                + "theory_hit_ratio,evictions,keys_traversed,poor_victims");
        for (Outcome outcome : outcomes) {
            lines.add(String.format(Locale.ROOT, "%s,%d,%d,%d,%.6f,%.3f,%d,%s,%d,%d,%d",
                    outcome.cell().policy().optionName(), outcome.cell().capacity(), outcome.figures().requests(),
                    outcome.figures().hits(), outcome.figures().hitRatio(), outcome.figures().meanTraversed(),
                    outcome.ramBytes(),
                    outcome.theory().isPresent()
                            ? String.format(Locale.ROOT, "%.6f", outcome.theory().getAsDouble())
                            : "",
                    outcome.figures().evictions(), outcome.figures().keysTraversed(),
                    outcome.figures().poorVictims()));
        }
        return lines;
    }
}
