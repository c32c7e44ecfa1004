package io.varve.experiments.run.flash;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

import io.varve.experiments.plan.SimulatedLoad;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.simulate.InvalidTraceException;
import io.varve.experiments.simulate.Simulation;
import io.varve.experiments.simulate.Simulation.Cell;
import io.varve.experiments.simulate.Simulation.Outcome;
import io.varve.experiments.simulate.YcsbKeys;
import io.varve.experiments.simulate.YcsbKeys.Distribution;
import io.varve.flash.policy.Policies;
import io.varve.flash.simulation.CacheSimulator;
import io.varve.flash.simulation.CheApproximation;
import io.varve.flash.simulation.Popularity;

/**
 * Simulates the hits of replacement policies (TBF, section II-E): all of them get the same requests, of YCSB's
 * generators, our own or a trace, keys only, without a store. Confined to the thread that does the run.
 */
public final class SimulatedRun {
    private static final double POINT = 0.01;
    /**
     * Allowed difference in points of LRU and RANDOM from theory, and of all policies from each other for uniform keys.
     */
    private static final double NEAR_THEORY = 0.2;
    private static final double ALL_ALIKE = 0.1;
    private static final double MAX_TRAVERSED = 1.6;
    private static final double MAX_TBF_BYTES = 1.05;
    /** The paper's five policies: RANDOM must be the lowest of them. */
    private static final List<Policies> PAPERS = List.of(Policies.TBF, Policies.BFD, Policies.CLOCK, Policies.LRU,
            Policies.RANDOM);

    private final RunContext context;
    private final SimulatedLoad load;
    private final Map<Cell, Outcome> outcomes = new HashMap<>();
    /** Number of distinct keys; that of a trace is known once the trace has been read. */
    private long keys;

    public SimulatedRun(RunContext context) {
        this.context = context;
        load = context.plan.simulated(context.run);
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("source", load.source().describe());
        context.load.put("warmup-requests", String.valueOf(load.warmup()));
    }

    /** @throws IOException if a trace cannot be read, or is malformed */
    public void measure() throws IOException {
        try {
            context.phase("count the keys", () -> keys = load.source().distinctKeys());
            if (!context.cancellation.isCancelled()) {
                simulate();
            }
        } catch (InvalidTraceException bad) {
            throw new IOException(bad.getMessage(), bad);
        }
    }

    private void simulate() throws IOException {
        context.load.put("keys", String.valueOf(keys));
        List<Cell> cells = load.percents().stream().flatMap(
                percent -> load.policies().stream().map(policy -> new Cell(policy, capacity(percent)))).toList();
        long start = System.nanoTime();
        context.phase("simulate", () -> {
            Simulation simulation = new Simulation(load.source(), load.warmup(), load.steps(),
                    context.plan.experiment().seed(), true);
            for (Outcome outcome : simulation.run(cells, done -> {
                context.gauge.set(done * 1e9 / (System.nanoTime() - start));
                return !context.cancellation.isCancelled();
            })) {
                outcomes.put(outcome.cell(), outcome);
            }
        });
        context.phase("theory at the paper's size", this::putPublishedSize);
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            long counted = outcomes.values().iterator().next().figures().requests();
            context.load.put("requests", String.valueOf(counted));
            for (double percent : load.percents()) {
                load.policies().forEach(policy -> put(percent, policy));
                check(percent);
            }
        }
    }

    private int capacity(double percent) {
        return SimulatedLoad.capacity(percent, keys);
    }

    private Outcome outcome(Policies policy, double percent) {
        return java.util.Objects.requireNonNull(outcomes.get(new Cell(policy, capacity(percent))));
    }

    private double hits(Policies policy, double percent) {
        return outcome(policy, percent).figures().hitRatio();
    }

    private boolean has(Policies policy) {
        return load.policies().contains(policy);
    }

    private void put(double percent, Policies policy) {
        Outcome outcome = outcome(policy, percent);
        CacheSimulator.Figures figures = outcome.figures();
        put(PoliciesText.HITS, policy, percent, figures.hitRatio());
        put(PoliciesText.CAPACITY, policy, percent, outcome.cell().capacity());
        outcome.theory().ifPresent(theory -> put(PoliciesText.THEORY, policy, percent, theory));
        if (has(Policies.LRU)) {
            put(PoliciesText.MISSES_OVER_LRU, policy, percent,
                    (1 - figures.hitRatio()) / (1 - hits(Policies.LRU, percent)));
        }
        put(PoliciesText.TRAVERSED, policy, percent, figures.meanTraversed());
        put(PoliciesText.POOR, policy, percent, (double) figures.poorVictims() / Math.max(1, figures.evictions()));
        put(PoliciesText.BYTES, policy, percent, (double) outcome.ramBytes() / capacity(percent));
        outcome.audit().ifPresent(
                audit -> put(PoliciesText.FALSE_NEGATIVES, policy, percent, audit.falseNegativeRatio()));
        long visited = 0;
        for (int steps = 1; steps <= CacheSimulator.LONGEST_COUNTED; steps++) {
            visited += steps * outcome.simulator().searches(steps);
            if (isShown(steps)) {
                put(PoliciesText.VISITED_WITHIN, policy, percent, visited, " " + steps);
            }
        }
    }

    /** Selects numbers with one digit other than zero. */
    private static boolean isShown(int steps) {
        int rest = steps;
        while (rest % 10 == 0) {
            rest /= 10;
        }
        return rest < 10;
    }

    private void put(String metric, Policies policy, double percent, double value) {
        put(metric, policy, percent, value, "");
    }

    private void put(String metric, Policies policy, double percent, double value, String more) {
        context.metrics.put(PoliciesText.name(metric, policy.optionName(), PoliciesText.size(percent)) + more, value);
    }

    private void putPublishedSize() {
        if (load.publishedKeys() == 0 || load.ycsb().isEmpty()) {
            return;
        }
        Popularity popularity = new YcsbKeys(load.ycsb().get().distribution(), load.publishedKeys(), 0, load.updates())
                .popularity().orElseThrow();
        for (double percent : load.percents()) {
            double capacity = load.publishedKeys() * percent * POINT;
            put(PoliciesText.PUBLISHED_SIZE_THEORY, Policies.LRU, percent,
                    CheApproximation.lru(popularity, capacity));
            put(PoliciesText.PUBLISHED_SIZE_THEORY, Policies.RANDOM, percent,
                    CheApproximation.random(popularity, capacity));
        }
    }

    private void check(double percent) {
        String size = ", cache of " + PoliciesText.size(percent);
        for (Policies policy : List.of(Policies.LRU, Policies.RANDOM)) {
            OptionalDouble theory = has(policy) ? outcome(policy, percent).theory() : OptionalDouble.empty();
            theory.ifPresent(expected -> context.checks.add(Check.atMost(
                    policy.optionName() + size + ": simulation against theory, percentage points",
                    Math.abs(hits(policy, percent) - expected) / POINT, NEAR_THEORY)));
        }
        if (!load.policies().containsAll(PAPERS) || load.ycsb().isEmpty()) {
            return;
        }
        if (load.ycsb().get().distribution() == Distribution.UNIFORM) {
            double max = PAPERS.stream().mapToDouble(policy -> hits(policy, percent)).max().orElseThrow();
            double min = PAPERS.stream().mapToDouble(policy -> hits(policy, percent)).min().orElseThrow();
            context.checks
                    .add(Check.atMost("largest difference between the paper's five policies, percentage points" + size,
                            (max - min) / POINT,
                            ALL_ALIKE));
        } else {
            context.checks.add(Check.atLeast("tbf above clock, percentage points" + size,
                    (hits(Policies.TBF, percent) - hits(Policies.CLOCK, percent)) / POINT, 0));
            double others = PAPERS.stream().filter(policy -> policy != Policies.RANDOM)
                    .mapToDouble(policy -> hits(policy, percent)).min().orElseThrow();
            context.checks.add(Check.atLeast(
                    "the second worst of the paper's five policies above random, percentage points" + size,
                    (others - hits(Policies.RANDOM, percent)) / POINT, 0));
        }
        context.checks.add(Check.atMost("keys that tbf visits per victim" + size,
                outcome(Policies.TBF, percent).figures().meanTraversed(), MAX_TRAVERSED));
        context.checks.add(Check.atMost("bytes of memory per item with tbf" + size,
                (double) outcome(Policies.TBF, percent).ramBytes() / capacity(percent), MAX_TBF_BYTES));
        outcome(Policies.TBF, percent).audit().ifPresent(audit -> context.checks.add(Check.atMost(
                "marks that tbf lost before it had visited as many keys as the cache holds" + size,
                audit.lostMarks(), 0)));
    }
}
