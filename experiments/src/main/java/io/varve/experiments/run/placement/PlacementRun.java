package io.varve.experiments.run.placement;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.placement.HashRing;
import io.varve.cluster.placement.RendezvousPlacement;
import io.varve.cluster.placement.RingPlacement;
import io.varve.cluster.placement.SlotAssignment;
import io.varve.cluster.placement.SlotRebalancer;
import io.varve.experiments.plan.PlacementLoad;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.PlacementText;
import io.varve.experiments.run.context.RunContext;

/**
 * Compares placements by the keys of each member, on the product's own code and without a server. Confined to the
 * thread that does the run. Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value
 * Store", section 4.2, Figures 3 and 4.
 *
 * <p>Each repetition has its own members, keys and seeds, which all placements share. One seed of the experiment always
 * gives the same figures, except the times.
 */
public final class PlacementRun {
    private static final int BYTE_BITS = 8;
    private static final int BYTE_MASK = 0xFF;
    private static final int PORT = 6379;
    private static final int MIN_SEEDS_FOR_THEORY = 100;
    private static final String TOO_FEW = "fewer than " + MIN_SEEDS_FOR_THEORY + " seeds";
    private static final double PERCENT = 100;
    private static final double NEAR_THEORY_PERCENT = 10;

    private final RunContext context;
    private final PlacementLoad load;
    private final int seeds;
    private final Map<String, List<PlacementTrial>> trials = new LinkedHashMap<>();

    public PlacementRun(RunContext context) {
        this.context = context;
        load = context.plan.placement(context.run);
        seeds = context.plan.size(context.run).repetitions();
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("seeds", String.valueOf(seeds));
    }

    public void measure() throws IOException {
        context.phase("place", () -> {
            try (BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(RunFiles.PLACEMENT_CSV))) {
                csv.write(PlacementTrial.csvHeader());
                for (int i = 0; i < seeds && !context.cancellation.isCancelled(); i++) {
                    place(context.plan.experiment().seed() + i, csv);
                }
            }
        });
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            context.metrics.put(PlacementText.SEEDS, seeds);
            trials.forEach(this::put);
            checkSlots();
            if (load.hashed()) {
                checkTheory();
                checkPaper();
            }
        }
    }

    private void place(long seed, BufferedWriter csv) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        List<Member> members = new ArrayList<>();
        for (int number = 0; number < load.members(); number++) {
            members.add(member(number, random));
        }
        Member joiner = member(load.members(), random);
        KeySet keys = load.hashed()
                ? KeySet.hashed(Math.toIntExact(load.keys()), random)
                : KeySet.drawn(load.keys(), random);
        if (load.hashed()) {
            for (int identifiers : load.identifiers()) {
                add(seed, PlacementText.ring(identifiers),
                        onRing(new RingPlacement(identifiers, seed).ring(members), keys), csv);
            }
        }
        for (int identifiers : load.identifiers()) {
            RingPlacement placement = new RingPlacement(identifiers, seed);
            add(seed, PlacementText.slots(identifiers),
                    PlacedSlots.measure((some, _) -> placement.place(some), members, joiner, keys), csv);
        }
        RendezvousPlacement rendezvous = new RendezvousPlacement(seed);
        add(seed, PlacementText.RENDEZVOUS,
                PlacedSlots.measure((some, _) -> rendezvous.place(some), members, joiner, keys), csv);
        add(seed, PlacementText.REBALANCED, PlacedSlots.measure(SlotRebalancer::rebalance, members, joiner, keys),
                csv);
        add(seed, PlacementText.GROWN, PlacedSlots.measure((some, present) -> present.assignedSlots() == 0
                ? grown(some)
                : SlotRebalancer.rebalance(some, present), members, joiner, keys), csv);
        csv.flush();
    }

    /** The assignment after the members have joined one after the other. */
    private static SlotAssignment grown(List<Member> members) {
        SlotAssignment grown = SlotRebalancer.rebalance(members.subList(0, 1), SlotMap.EMPTY);
        for (int count = 2; count <= members.size(); count++) {
            grown = SlotRebalancer.rebalance(members.subList(0, count),
                    grown.assignTo(new SlotMap.Builder()).build(count));
        }
        return grown;
    }

    private static Member member(int number, SplittableRandom random) {
        String id = String.format(Locale.ROOT, "%016x%016x%08x", random.nextLong(), random.nextLong(),
                random.nextInt());
        return new Member(id, "10.0." + (number >>> BYTE_BITS) + "." + (number & BYTE_MASK), PORT, 1, null);
    }

    /** The keys of each member where keys and not slots are on the ring, as in the paper. */
    private static PlacementTrial onRing(HashRing ring, KeySet keys) {
        long[] keysOfMembers = new long[ring.members().size()];
        for (long hash : keys.hashes()) {
            keysOfMembers[ring.ownerIndex(hash)]++;
        }
        return PlacementTrial.of(keysOfMembers, PlacementTrial.Slots.NONE);
    }

    private void add(long seed, String placement, PlacementTrial trial, BufferedWriter csv) throws IOException {
        trials.computeIfAbsent(placement, _ -> new ArrayList<>()).add(trial);
        csv.write(trial.csvRow(seed, placement));
    }

    /** Stores the median and the range over the seeds. */
    private void put(String placement, List<PlacementTrial> all) {
        for (String metric : all.getFirst().asMap().keySet()) {
            context.metrics.put(PlacementText.name(metric, placement), MedianRange.of(
                    all.stream().map(trial -> Objects.requireNonNull(trial.asMap().get(metric))).toList()));
        }
        context.metrics.put(PlacementText.name(PlacementText.KEYS_RMS, placement), rootMeanSquare(all));
        context.metrics.put(PlacementText.name(PlacementText.JOIN_OVER_FAIR, placement),
                all.stream().mapToDouble(trial -> trial.slots().joinSlots()).average().orElseThrow() / fairJoin());
        for (int identifiers : load.identifiers()) {
            if (placement.equals(PlacementText.ring(identifiers))) {
                context.metrics.put(PlacementText.name(PlacementText.KEYS_THEORY, placement), theory(identifiers));
            }
        }
    }

    /** Slots of a joiner if all members have as many. */
    private double fairJoin() {
        return (double) HashSlot.COUNT / (load.members() + 1);
    }

    private static double rootMeanSquare(List<PlacementTrial> all) {
        return Math.sqrt(all.stream().mapToDouble(trial -> trial.deviation() * trial.deviation()).average()
                .orElseThrow());
    }

    /**
     * The standard deviation of a member's keys. Random identifiers divide the ring into parts that have a Dirichlet
     * distribution, and each key is in a part with a chance of its length.
     */
    private double theory(int identifiers) {
        double share = 1.0 / load.members();
        double ofShare = share * (1 - share) / ((double) load.members() * identifiers + 1);
        double keys = load.keys();
        return Math.sqrt(keys * keys * ofShare + keys * (share * (1 - share) - ofShare));
    }

    private void checkSlots() {
        context.checks.add(Check.atMost("all placements: slots that moved without need at a join or a leave",
                trials.values().stream().flatMap(List::stream).mapToDouble(trial -> trial.slots().astray())
                        .filter(Double::isFinite).max().orElseThrow(),
                0));
        List<PlacementTrial> rebalanced = Stream.of(PlacementText.REBALANCED, PlacementText.GROWN)
                .flatMap(placement -> Objects.requireNonNull(trials.get(placement)).stream()).toList();
        context.checks
                .add(Check.atMost("rebalanced, grown: largest difference between members, slots", rebalanced.stream()
                        .mapToDouble(trial -> trial.slots().most() - trial.slots().least()).max().orElseThrow(), 1));
        context.checks.add(Check.atMost("rebalanced, grown: slots of a joiner off its share", rebalanced.stream()
                .mapToDouble(trial -> Math.abs(trial.slots().joinSlots() - fairJoin())).max().orElseThrow(), 1));
        double joined = load.identifiers().stream().mapToDouble(
                identifiers -> context.metrics.asMap().getOrDefault(
                        PlacementText.name(PlacementText.JOIN_OVER_FAIR, PlacementText.slots(identifiers)),
                        Double.NaN))
                .average().orElseThrow();
        Check onAverage = Check.atMost("slots on a ring: slots of a joiner off 1/N on average, %",
                PERCENT * Math.abs(joined - 1), NEAR_THEORY_PERCENT);
        context.checks.add(seeds < MIN_SEEDS_FOR_THEORY ? onAverage.notAsserted(TOO_FEW) : onAverage);
    }

    private void checkTheory() {
        double worst = 0;
        for (int identifiers : load.identifiers()) {
            double measured = rootMeanSquare(of(identifiers));
            worst = Math.max(worst, PERCENT * Math.abs(measured / theory(identifiers) - 1));
        }
        Check check = Check.atMost("ring: standard deviation off theory, %, at most", worst, NEAR_THEORY_PERCENT);
        context.checks.add(seeds < MIN_SEEDS_FOR_THEORY ? check.notAsserted(TOO_FEW) : check);
    }

    /** The paper's claim: with the most identifiers of its Figure 4, keys are more balanced than with one. */
    private void checkPaper() {
        List<Integer> papers = load.identifiers().stream().filter(each -> each <= PlacementText.PAPERS_MOST).toList();
        if (papers.size() < 2) {
            return;
        }
        List<PlacementTrial> few = of(papers.getFirst());
        List<PlacementTrial> many = of(papers.getLast());
        int better = 0;
        for (int i = 0; i < few.size(); i++) {
            better += many.get(i).deviation() < few.get(i).deviation() ? 1 : 0;
        }
        context.metrics.put(PlacementText.BETTER_SEEDS, PERCENT * better / few.size());
        context.checks.add(Check.atMost("ring: standard deviation with " + papers.getLast() + " identifiers / with "
                + papers.getFirst(), rootMeanSquare(many) / rootMeanSquare(few), 1));
    }

    private List<PlacementTrial> of(int identifiers) {
        return Objects.requireNonNull(trials.get(PlacementText.ring(identifiers)));
    }
}
