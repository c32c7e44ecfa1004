package io.varve.experiments;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code simulate}: what replacement policies hit, on a trace or on YCSB's requests. Confined to the main thread. */
@Command(name = "simulate", mixinStandardHelpOptions = true, sortOptions = false, description = {
        "Simulates caches under replacement policies, on a trace or on the requests that YCSB makes.",
        "All of them get the same requests, side by side. No server, no values: keys alone."}, exitCodeListHeading = "%nExit status:%n", exitCodeList = {
                "0:simulated", "2:bad input: a trace that cannot be read, a policy that there is not"})
final class SimulateCommand implements Callable<Integer> {
    private static final long PROGRESS_REQUESTS = 1 << 22;
    private static final int MOST_KEYS = 1 << 29;
    private static final int REQUESTS_A_KEY = 20;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private RequestOptions requests;

    @Option(names = "--warmup", paramLabel = "N", description = "requests before the counting begins (trace: 0; YCSB: as many as are counted)")
    private long warmup = -1;

    @Option(names = "--policy", split = ",", paramLabel = "NAME", defaultValue = "tbf,bfd,clock,lru,random,sieve,s3-fifo", description = "tbf, tbf-half, tbf-marked, bfd, clock, clock-marked, lru, random, sieve, s3-fifo, none")
    private List<String> policies = List.of();

    @Option(names = "--size", split = ",", paramLabel = "SIZE", defaultValue = "0.5%,1%,2%,10%", description = "of the cache: keys, or a share of all keys with %%")
    private List<String> sizes = List.of();

    @Option(names = "--steps", paramLabel = "N", defaultValue = "1000", description = "keys that a search for a victim may look at (1000)")
    private int steps;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "20130508", description = "of the policies that draw; YCSB's generators have none")
    private long seed;

    @Option(names = "--csv", paramLabel = "FILE", description = "write the figures there too")
    private @Nullable Path csv;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        try {
            KeySource source = source();
            List<Cell> cells = cells(source);
            out.println(source.describe());
            out.flush();
            List<Outcome> outcomes = new Simulation(source, warmupOrDefault(), steps, seed, false).run(cells,
                    progress());
            table(outcomes, out);
            if (csv != null) {
                Files.write(csv, lines(outcomes));
            }
            return 0;
        } catch (InvalidTraceException | IllegalArgumentException bad) {
            throw new InvalidExperimentException("simulate: " + bad.getMessage());
        }
    }

    private KeySource source() {
        return requests.fromTrace()
                ? requests.trace()
                : requests.ycsb(requests.requestsOr(REQUESTS_A_KEY) + warmupOrDefault());
    }

    private long warmupOrDefault() {
        return warmup >= 0 ? warmup : requests.fromTrace() ? 0 : requests.requestsOr(REQUESTS_A_KEY);
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
            if (wanted >= 1 && wanted <= MOST_KEYS) {
                return (int) Math.round(wanted);
            }
        } catch (NumberFormatException none) {
            throw new IllegalArgumentException(
                    "--size " + size + ": allowed is a number of keys, or a share such as 2%");
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
                "miss / LRU", "looked at", "poor victims", "bytes/key");
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

    /** As the paper's Figures 4(b) and 5: misses over LRU's at the same size. */
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
        lines.add(
                "capacity_keys,policy,requests,hits,theory_hit_ratio,evictions,keys_traversed,poor_victims,ram_bytes");
        for (Outcome outcome : outcomes) {
            lines.add(String.format(Locale.ROOT, "%d,%s,%d,%d,%s,%d,%d,%d,%d", outcome.cell().capacity(),
                    outcome.cell().policy().optionName(), outcome.figures().requests(), outcome.figures().hits(),
                    outcome.theory().isPresent()
                            ? String.format(Locale.ROOT, "%.6f", outcome.theory().getAsDouble())
                            : "",
                    outcome.figures().evictions(), outcome.figures().keysTraversed(),
                    outcome.figures().poorVictims(), outcome.ramBytes()));
        }
        return lines;
    }
}
