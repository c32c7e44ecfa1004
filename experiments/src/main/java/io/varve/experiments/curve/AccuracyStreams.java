package io.varve.experiments.curve;

import java.util.List;
import java.util.function.Function;

import io.varve.experiments.curve.MixedRequests.Shares;
import site.ycsb.generator.CounterGenerator;
import site.ycsb.generator.HotspotIntegerGenerator;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.generator.ScrambledZipfianGenerator;
import site.ycsb.generator.SequentialGenerator;
import site.ycsb.generator.SkewedLatestGenerator;
import site.ycsb.generator.UniformLongGenerator;
import site.ycsb.generator.ZipfianGenerator;

/** The request streams on which curves are compared. Immutable: static methods only. */
final class AccuracyStreams {
    private static final double STEEP = 1.2;
    private static final int PHASES = 4;

    private AccuracyStreams() {}

    /** All streams, with the given numbers of keys and requests, unless a stream's name says otherwise. */
    static List<MixedRequests> all(int keys, long requests) {
        Function<CounterGenerator, NumberGenerator> zipfian = _ -> new ScrambledZipfianGenerator(0, keys);
        Function<CounterGenerator, NumberGenerator> uniform = _ -> new UniformLongGenerator(0, keys - 1L);
        int few = Math.max(1, keys / 10);
        return List.of(
                new MixedRequests("zipfian (c)", zipfian, Shares.READS, ItemSizes.ALIKE, keys, requests),
                new MixedRequests("zipfian, 5 % updates (b)", zipfian, Shares.updates(0.05), ItemSizes.FIELDS, keys,
                        requests),
                new MixedRequests("zipfian, 50 % updates (a), wide", zipfian, Shares.updates(0.5), ItemSizes.WIDE,
                        keys, requests),
                new MixedRequests("zipfian, read and update (f)", zipfian, new Shares(0, 0.5, 0, 0, 0, false),
                        ItemSizes.FIELDS, keys, requests),
                new MixedRequests("zipfian, 10 % deletes", zipfian, new Shares(0.1, 0, 0, 0.1, 0, false),
                        ItemSizes.FIELDS, keys, requests),
                new MixedRequests("zipfian, expiring", zipfian, new Shares(0.2, 0, 0, 0, 0, true), ItemSizes.FIELDS,
                        keys, requests),
                new MixedRequests("zipfian 1.2, wide", _ -> new ZipfianGenerator(0, keys - 1L, STEEP),
                        Shares.updates(0.05), ItemSizes.WIDE, keys, requests),
                new MixedRequests("latest, 5 % inserts (d)", SkewedLatestGenerator::new,
                        new Shares(0, 0, 0.05, 0, 0, false), ItemSizes.FIELDS, keys, requests),
                new MixedRequests("uniform", uniform, Shares.READS, ItemSizes.ALIKE, keys, requests),
                new MixedRequests("uniform, a tenth of the keys, updates, deletes, wide",
                        _ -> new UniformLongGenerator(0, few - 1L), new Shares(0.3, 0, 0, 0.1, 0, false),
                        ItemSizes.WIDE, few, requests),
                new MixedRequests("hotspot: 80 % to 20 % of the keys",
                        _ -> new HotspotIntegerGenerator(0, keys - 1, 0.2, 0.8), Shares.updates(0.05), ItemSizes.WIDE,
                        keys, requests),
                new MixedRequests("hotspot: 60 % to 20 keys",
                        _ -> new HotspotIntegerGenerator(0, keys - 1, 20.0 / keys, 0.6), Shares.updates(0.05),
                        ItemSizes.FIELDS, keys, requests),
                new MixedRequests("scans (e)", zipfian, new Shares(0, 0, 0.05, 0, 0.95, false), ItemSizes.FIELDS, keys,
                        requests),
                new MixedRequests("scans among reads, wide", zipfian, new Shares(0.05, 0, 0, 0, 0.02, false),
                        ItemSizes.WIDE, keys, requests),
                new MixedRequests("half zipfian, half a loop over a tenth",
                        _ -> new Either(new ScrambledZipfianGenerator(few, keys), new SequentialGenerator(0, few - 1L)),
                        Shares.READS, ItemSizes.ALIKE, keys, requests),
                new MixedRequests("uniform in phases, a tenth or all",
                        _ -> new Phases(new UniformLongGenerator(0, few - 1L), new UniformLongGenerator(few, keys - 1L),
                                Math.max(1, requests / PHASES)),
                        Shares.READS, ItemSizes.ALIKE, keys, requests));
    }

    /** Draws alternately from two generators. Confined to one thread. */
    private static final class Either extends NumberGenerator {
        private final NumberGenerator first;
        private final NumberGenerator second;
        private boolean turn;

        Either(NumberGenerator first, NumberGenerator second) {
            this.first = first;
            this.second = second;
        }

        @Override
        public Number nextValue() {
            turn = !turn;
            return turn ? first.nextValue() : second.nextValue();
        }

        @Override
        public double mean() {
            return (first.mean() + second.mean()) / 2;
        }
    }

    /** Draws many numbers from one generator, then as many from the other. Confined to one thread. */
    private static final class Phases extends NumberGenerator {
        private final NumberGenerator first;
        private final NumberGenerator second;
        private final long length;
        private long drawn;

        Phases(NumberGenerator first, NumberGenerator second, long length) {
            this.first = first;
            this.second = second;
            this.length = length;
        }

        @Override
        public Number nextValue() {
            return drawn++ / length % 2 == 0 ? first.nextValue() : second.nextValue();
        }

        @Override
        public double mean() {
            return (first.mean() + second.mean()) / 2;
        }
    }
}
