package io.varve.memory.locality.partition;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.memory.locality.curve.MissRatioCurve;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Tests the division of memory among classes, compared with an exhaustive search. */
class MemoryPartitionerTest {
    private static final double JUST_LESS = 1e-6;

    /** All reads miss with less than this, and no more than the rest with more. */
    private static MissRatioCurve step(double bytes, double rest) {
        MissRatioCurve.Builder curve = new MissRatioCurve.Builder(2);
        curve.add(bytes - JUST_LESS, 1);
        curve.add(bytes, rest);
        return curve.build();
    }

    private static MissRatioCurve never() {
        return new MissRatioCurve.Builder(0).build();
    }

    /** Falls in steps and slopes, with plateaus. */
    private static MissRatioCurve random(SplittableRandom random, int memory) {
        int points = 1 + random.nextInt(6);
        MissRatioCurve.Builder curve = new MissRatioCurve.Builder(points);
        double at = 0;
        double ratio = 1;
        for (int i = 0; i < points; i++) {
            at += random.nextDouble() * memory / 3;
            ratio *= random.nextInt(3) == 0 ? 1 : random.nextDouble();
            curve.add(at, ratio);
        }
        return curve.build();
    }

    /**
     * Section 2.1: rates 5 : 3 : 2, penalties of 10, 200 and 200 ms, memory for five items; the third class never
     * returns.
     */
    @Test
    void theExampleOfThePaper() {
        List<Demand> demands = List.of(new Demand(step(2, 0), 0.5, 10), new Demand(step(3, 0), 0.3, 200),
                new Demand(never(), 0.2, 200));
        Shares shares = new MemoryPartitioner(1, 0).divide(demands, 5);
        assertThat(shares.bytes(0)).isEqualTo(2);
        assertThat(shares.bytes(1)).isEqualTo(3);
        assertThat(shares.bytes(2)).isZero();
        assertThat(shares.costMicros()).isCloseTo(40, within(1e-9));
    }

    @Test
    void expensiveClassesComeFirstAndPlateausAreSkipped() {
        Demand dear = new Demand(step(60, 0.1), 100, 1000);
        Demand cheap = new Demand(step(50, 0), 100, 100);
        Shares shares = new MemoryPartitioner(1, 0).divide(List.of(cheap, dear), 100);
        assertThat(shares.bytes(1)).isGreaterThanOrEqualTo(60);
        assertThat(shares.bytes(0) + shares.bytes(1)).isEqualTo(100);
        assertThat(shares.costMicros()).isCloseTo(100 * 100 + 0.1 * 100 * 1000, within(1e-6));
    }

    @Test
    void noPartitionCostsLessThanTheResult() {
        for (long seed = 1; seed <= 300; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int classes = 1 + random.nextInt(4);
            int units = 1 + random.nextInt(9);
            int unitBytes = 1 + random.nextInt(1000);
            int floor = random.nextInt(3) == 0 ? random.nextInt(units * unitBytes / classes + 1) : 0;
            List<Demand> demands = new ArrayList<>();
            int asking = 0;
            for (int i = 0; i < classes; i++) {
                boolean asks = random.nextInt(4) > 0;
                asking += asks ? 1 : 0;
                demands.add(new Demand(random(random, units * unitBytes), asks ? 1 + random.nextInt(100) : 0,
                        1 + random.nextInt(1000)));
            }
            Shares shares = new MemoryPartitioner(unitBytes, floor).divide(demands, (long) units * unitBytes);
            long sum = 0;
            for (int i = 0; i < classes; i++) {
                sum += shares.bytes(i);
                if (asking > 0) {
                    // Whole bytes are one less or more.
                    assertThat(shares.bytes(i)).as("seed %d", seed)
                            .isGreaterThanOrEqualTo(demands.get(i).reads() > 0 ? floor - 1 : 0);
                }
            }
            assertThat(sum).as("seed %d", seed).isEqualTo((long) units * unitBytes);
            double rest = (double) units * unitBytes - (double) floor * asking;
            int restUnits = Math.max(1, (int) (rest / unitBytes));
            double best = cheapest(demands, 0, restUnits, rest / restUnits, floor);
            double slack = 0;
            for (Demand demand : demands) {
                slack += Math.max(0, demand.cost(Math.max(0, floor - 1)) - demand.cost(floor));
            }
            // The rest is allocated beyond the best of whole units, so the cost may be lower, and a byte more by
            // rounding.
            assertThat(shares.costMicros()).as("seed %d", seed)
                    .isLessThanOrEqualTo(best + slack + largestStep(demands, shares) + 1e-6);
        }
    }

    /** The maximum cost of one byte less. */
    private static double largestStep(List<Demand> demands, Shares shares) {
        double step = 0;
        for (int i = 0; i < demands.size(); i++) {
            double bytes = shares.bytes(i);
            step += demands.get(i).cost(Math.max(0, bytes)) - demands.get(i).cost(bytes + 1);
        }
        return step;
    }

    private static double cheapest(List<Demand> demands, int from, int units, double unitBytes, double floor) {
        if (from == demands.size()) {
            return 0;
        }
        double best = Double.MAX_VALUE;
        boolean asks = demands.get(from).reads() > 0;
        for (int k = 0; k <= (asks ? units : 0); k++) {
            best = Math.min(best, demands.get(from).cost(floor + k * unitBytes)
                    + cheapest(demands, from + 1, units - k, unitBytes, floor));
        }
        return best;
    }

    @Test
    void uselessMemoryGoesToClassesThatBenefit() {
        List<Demand> demands = List.of(new Demand(step(10, 0), 1, 1), new Demand(step(30, 0), 1, 1),
                new Demand(never(), 1, 1), new Demand(step(10, 0), 0, 1));
        Shares shares = new MemoryPartitioner(1, 0).divide(demands, 400);
        assertThat(shares.bytes(0)).isEqualTo(100);
        assertThat(shares.bytes(1)).isEqualTo(300);
        assertThat(shares.bytes(2)).isZero();
        assertThat(shares.bytes(3)).isZero();
    }

    @Test
    void withoutDemandAllSharesAreEqual() {
        Demand useless = new Demand(never(), 5, 10);
        Shares shares = new MemoryPartitioner(1, 0).divide(List.of(useless, useless, new Demand(never(), 0, 10)), 100);
        assertThat(shares.bytes(0)).isEqualTo(50);
        assertThat(shares.bytes(1)).isEqualTo(50);
        Demand none = new Demand(never(), 0, 0);
        Shares even = new MemoryPartitioner(1, 7).divide(List.of(none, none, none), 100);
        assertThat(even.bytes(0) + even.bytes(1) + even.bytes(2)).isEqualTo(100);
        assertThat(even.bytes(1)).isBetween(33L, 34L);
        assertThat(even.costMicros()).isZero();
    }

    /** Section 3.3: without a floor the cheap class gets nothing. */
    @Test
    void onlyClassesWithReadsGetTheFloor() {
        List<Demand> demands = List.of(new Demand(step(50, 0), 1, 1), new Demand(step(100, 0), 1, 1000),
                new Demand(step(50, 0), 0, 1000));
        assertThat(new MemoryPartitioner(1, 0).divide(demands, 100).bytes(0)).isZero();
        Shares fair = new MemoryPartitioner(1, 20).divide(demands, 100);
        assertThat(fair.bytes(0)).isGreaterThanOrEqualTo(20);
        assertThat(fair.bytes(2)).isZero();
        assertThatThrownBy(() -> new MemoryPartitioner(1, 51).divide(demands, 100))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("51 bytes for 2 classes");
    }

    @Test
    void terabytesAreDividedInAThousandParts() {
        MissRatioCurve.Builder line = new MissRatioCurve.Builder(1);
        line.add(1e12, 0);
        MissRatioCurve decreasing = line.build();
        Shares shares = new MemoryPartitioner(1, 0).divide(
                List.of(new Demand(step(3e11, 0), 1, 10), new Demand(decreasing, 1, 1)), 1_000_000_000_000L);
        assertThat(shares.bytes(0)).isBetween(300_000_000_000L, 301_000_000_000L);
        assertThat(shares.bytes(0) + shares.bytes(1)).isEqualTo(1_000_000_000_000L);
    }

    @Test
    void valuesOutOfRangeAreRefused() {
        assertThatThrownBy(() -> new MemoryPartitioner(0, 0)).hasMessageContaining("not 0");
        assertThatThrownBy(() -> new MemoryPartitioner(1, -1)).hasMessageContaining("not -1");
        assertThatThrownBy(() -> new MemoryPartitioner(1, 0).divide(List.of(), 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new MemoryPartitioner(1, 0).divide(List.of(new Demand(never(), 1, 1)), 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Demand(never(), -1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Demand(never(), 1, Double.NaN)).isInstanceOf(IllegalArgumentException.class);
    }
}
