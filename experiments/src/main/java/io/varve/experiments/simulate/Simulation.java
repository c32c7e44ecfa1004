package io.varve.experiments.simulate;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.LongPredicate;

import io.varve.flash.policy.Policies;
import io.varve.flash.policy.ReplacementPolicy;
import io.varve.flash.simulation.AuditedPolicy;
import io.varve.flash.simulation.CacheSimulator;
import io.varve.flash.simulation.CheApproximation;
import io.varve.flash.simulation.Popularity;

/**
 * Simulates many caches on one stream of requests concurrently. Confined to one thread, except the caches, which share
 * nothing.
 */
public final class Simulation {
    /** Number of requests that all caches get before the next ones are read. */
    private static final int BATCH = 1 << 16;
    /** Policies whose marks are in Bloom filters. */
    private static final Set<Policies> MAY_FORGET = Set.of(Policies.TBF, Policies.TBF_HALF, Policies.TBF_MARKED,
            Policies.BFD, Policies.BFD_MARKED);

    /** A cache to simulate. */
    public record Cell(Policies policy, int capacity) {}

    /**
     * The result for a cache. Immutable, as long as the simulator is not used further.
     *
     * @param theory the theoretical hit ratio, if there is one for the policy and the requests
     * @param audit the account of marks, if it was kept
     */
    public record Outcome(Cell cell, CacheSimulator simulator, long ramBytes, OptionalDouble theory,
            Optional<AuditedPolicy> audit) {
        public CacheSimulator.Figures figures() {
            return simulator.figures();
        }
    }

    /** A batch: keys, and which of them are written after their read. */
    private static final class Batch {
        private final long[] keys = new long[BATCH];
        private final boolean[] updates = new boolean[BATCH];
    }

    private final KeySource source;
    private final long warmup;
    private final int maxSteps;
    private final long seed;
    private final boolean audited;

    /**
     * @param warmup number of uncounted requests
     * @param maxSteps maximum number of keys that a search for a victim visits
     * @param seed the seed of the randomized policies
     * @param audited whether an exact account of marked keys is kept beside approximate policies; takes memory and time
     */
    public Simulation(KeySource source, long warmup, int maxSteps, long seed, boolean audited) {
        this.audited = audited;
        this.source = source;
        this.warmup = warmup;
        this.maxSteps = maxSteps;
        this.seed = seed;
    }

    /**
     * @param progress receives the number of requests periodically; returns whether to continue
     * @throws IOException if a trace cannot be read
     * @throws InvalidTraceException if it is malformed
     */
    public List<Outcome> run(List<Cell> cells, LongPredicate progress) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            List<ReplacementPolicy> policies = new ArrayList<>();
            List<CacheSimulator> simulators = new ArrayList<>();
            SplittableRandom seeds = new SplittableRandom(seed);
            for (Cell cell : cells) {
                ReplacementPolicy policy = cell.policy().create(arena, cell.capacity(), seeds.split());
                ReplacementPolicy simulated = audited && MAY_FORGET.contains(cell.policy())
                        ? new AuditedPolicy(policy, cell.capacity())
                        : policy;
                policies.add(simulated);
                simulators.add(new CacheSimulator(simulated, cell.capacity(), maxSteps));
            }
            replay(simulators, progress);
            Optional<Popularity> popularity = source.popularity();
            List<Outcome> outcomes = new ArrayList<>();
            for (int i = 0; i < cells.size(); i++) {
                outcomes.add(new Outcome(cells.get(i), simulators.get(i), policies.get(i).ramBytes(),
                        theory(cells.get(i), popularity),
                        policies.get(i) instanceof AuditedPolicy audit ? Optional.of(audit) : Optional.empty()));
            }
            return outcomes;
        }
    }

    private void replay(List<CacheSimulator> simulators, LongPredicate progress) throws IOException {
        Batch batch = new Batch();
        long done = 0;
        try (KeyStream stream = source.open()) {
            while (true) {
                // A batch ends with the warm-up, so that all caches begin to count at one request.
                int max = done < warmup ? (int) Math.min(BATCH, warmup - done) : BATCH;
                int filled = fill(batch, stream, max);
                if (filled == 0) {
                    return;
                }
                simulators.parallelStream().forEach(simulator -> replay(batch, filled, simulator));
                done += filled;
                if (done == warmup) {
                    simulators.forEach(CacheSimulator::startCounting);
                }
                if (!progress.test(done)) {
                    return;
                }
            }
        }
    }

    private static int fill(Batch batch, KeyStream stream, int max) throws IOException {
        int filled = 0;
        while (filled < max && stream.next()) {
            batch.keys[filled] = stream.key();
            batch.updates[filled] = stream.updates();
            filled++;
        }
        return filled;
    }

    private static void replay(Batch batch, int filled, CacheSimulator simulator) {
        for (int i = 0; i < filled; i++) {
            simulator.access(batch.keys[i]);
            if (batch.updates[i]) {
                simulator.update(batch.keys[i]);
            }
        }
    }

    private static OptionalDouble theory(Cell cell, Optional<Popularity> popularity) {
        if (popularity.isEmpty() || cell.capacity() >= popularity.get().count()) {
            return OptionalDouble.empty();
        }
        return switch (cell.policy()) {
            case LRU -> OptionalDouble.of(CheApproximation.lru(popularity.get(), cell.capacity()));
            case RANDOM -> OptionalDouble.of(CheApproximation.random(popularity.get(), cell.capacity()));
            default -> OptionalDouble.empty();
        };
    }
}
