package io.varve.experiments.curve;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

import io.varve.experiments.simulate.KeySource;
import io.varve.experiments.simulate.KeyStream;
import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.Sampling;
import io.varve.memory.locality.curve.StackDistances;

/**
 * Measures the error of sampled miss-ratio curves against exact ones, separately for the model's assumptions and for
 * sampling. Immutable: static methods only.
 */
public final class CurveAccuracy {
    /** The error that the paper reports for its own curves. */
    public static final double MEAN_LIMIT = 1.2;
    private static final double LIMIT = 3;
    private static final double MODEL_LIMIT = 2;
    private static final double ABOVE_MODEL = 1;
    private static final double ONE_PERCENT = 0.01;
    private static final int KEY_SAMPLES = 5;

    private CurveAccuracy() {}

    /**
     * The result for one stream. Immutable.
     *
     * @param rate final sampling rate of accesses
     * @param model unsampled curve against the exact one
     * @param sampling sampled curve against the unsampled one
     * @param whole sampled curve against the exact one
     * @param percent curve sampled at a constant 1 % against the exact one
     * @param plain curve from 1 % of the keys against the exact one: the mean of several samples, because a single one
     *     depends on chance
     * @param shards such a curve with the correction of SHARDS
     */
    public record Row(String stream, long accesses, int keys, double rate, CurveDistance model, CurveDistance sampling,
            CurveDistance whole, CurveDistance percent, CurveDistance plain, CurveDistance shards) {
        /** Whether the sampled curve is near enough. */
        public boolean isAccurate() {
            return whole.mean() <= LIMIT
                    || model.mean() > MODEL_LIMIT && whole.mean() <= model.mean() + ABOVE_MODEL;
        }

        /** Error of the sampled curve against the exact one, in points: the larger of two means. */
        public double error() {
            return whole.mean();
        }
    }

    /** Receives the curves of a stream after its end. */
    @FunctionalInterface
    public interface Viewer {
        void show(KeySource source, MissRatioCurve exact, MissRatioCurve unsampled, MissRatioCurve sampled)
                throws IOException;
    }

    /** The streams of the comparison, with the given numbers of keys and requests. */
    public static List<KeySource> streams(int keys, long requests) {
        return List.copyOf(AccuracyStreams.all(keys, requests));
    }

    /**
     * @param sampling the sampling for the curve to judge
     * @param seed the seed of the sampling
     * @param viewer receives the curves themselves
     * @throws IOException if a trace cannot be read
     */
    public static Row measure(KeySource source, Sampling sampling, long seed, Viewer viewer) throws IOException {
        int keys = Math.toIntExact(Math.max(1, source.distinctKeys()));
        StackDistances exact = new StackDistances();
        ReuseRecorder unsampled = new ReuseRecorder(1, Sampling.all(keys), seed);
        ReuseRecorder sampled = new ReuseRecorder(1, sampling, seed);
        ReuseRecorder percent = new ReuseRecorder(1,
                new Sampling(ONE_PERCENT, ONE_PERCENT, Sampling.DEFAULT.keys()), seed);
        List<KeySampling> byKey = LongStream.range(0, KEY_SAMPLES)
                .mapToObj(which -> new KeySampling(ONE_PERCENT, keys, which)).toList();
        List<Learner> learners = new ArrayList<>(byKey);
        learners.addAll(List.of(Learner.of(exact), Learner.of(unsampled), Learner.of(sampled), Learner.of(percent)));
        long accesses = 0;
        try (KeyStream stream = source.open()) {
            while (stream.next()) {
                accesses++;
                boolean updates = stream.updates();
                learners.forEach(learner -> learner.learn(stream, updates));
            }
        }
        MissRatioCurve truth = exact.curve();
        MissRatioCurve all = unsampled.curve(0);
        MissRatioCurve some = sampled.curve(0);
        MissRatioCurve few = percent.curve(0);
        viewer.show(source, truth, all, some);
        double largest = truth.largestBytes();
        return new Row(source.describe(), accesses, exact.keys(), sampled.rate(),
                CurveDistance.of(all::missRatio, truth::missRatio, largest),
                CurveDistance.of(some::missRatio, all::missRatio, largest),
                CurveDistance.of(some::missRatio, truth::missRatio, largest),
                CurveDistance.of(few::missRatio, truth::missRatio, largest),
                CurveDistance.mean(byKey.stream()
                        .map(sample -> CurveDistance.of(sample.plain(), truth::missRatio, largest)).toList()),
                CurveDistance.mean(byKey.stream()
                        .map(sample -> CurveDistance.of(sample.corrected(), truth::missRatio, largest)).toList()));
    }

    /** Whether all curves are near enough, each and on average. */
    public static boolean areAccurate(List<Row> rows) {
        return rows.stream().allMatch(Row::isAccurate) && mean(rows) <= MEAN_LIMIT;
    }

    private static double mean(List<Row> rows) {
        return rows.stream().mapToDouble(Row::error).average().orElse(0);
    }

    public static void printHeader(PrintWriter out) {
        out.println(
                "Mean absolute error of miss-ratio curves, in percentage points: over evenly spaced sizes / over sizes with a constant ratio");
        out.println(
                "model: unsampled against exact; sampling: sampled against unsampled; others: against exact; keys and SHARDS: mean of five samples");
        out.printf("%-52s %10s %9s %6s  %13s %13s %13s %7s %13s %13s %13s%n", "stream", "accesses", "keys", "sampled",
                "model", "sampling", "total", "largest", "1 % sampled", "1 % of keys", "SHARDS");
        out.flush();
    }

    public static void printRow(Row row, PrintWriter out) {
        out.printf(Locale.ROOT, "%-52s %,10d %,9d %5.1f%%  %13s %13s %13s %7.2f %13s %13s %13s%s%n", row.stream(),
                row.accesses(), row.keys(), 100 * row.rate(), text(row.model()), text(row.sampling()),
                text(row.whole()), row.whole().largest(), text(row.percent()), text(row.plain()), text(row.shards()),
                row.isAccurate() ? "" : "  TOO LARGE");
        out.flush();
    }

    private static String text(CurveDistance distance) {
        return String.format(Locale.ROOT, "%.2f / %.2f", distance.even(), distance.ratio());
    }

    public static void printSummary(List<Row> rows, PrintWriter out) {
        out.printf(Locale.ROOT,
                "mean error of the sampled curves (the larger of the two): %.2f points, %.1f allowed; largest %.2f, %.0f allowed: %s%n",
                mean(rows), MEAN_LIMIT, rows.stream().mapToDouble(Row::error).max().orElse(0), LIMIT,
                areAccurate(rows) ? "held" : "NOT HELD");
        out.flush();
    }

    /** The CSV: a line of names, and one for each stream. */
    public static List<String> csv(List<Row> rows) {
        List<String> lines = new ArrayList<>();
        lines.add(
                "stream,accesses,keys,rate,model_even,model_ratio,sampling_even,sampling_ratio,sampled_even,sampled_ratio,"
                        + "sampled_largest,percent_even,percent_ratio,keys_even,keys_ratio,shards_even,shards_ratio,held");
        for (Row row : rows) {
            lines.add(String.format(Locale.ROOT, "\"%s\",%d,%d,%.5f,%s,%s,%s,%.4f,%s,%s,%s,%b", row.stream(),
                    row.accesses(), row.keys(), row.rate(), fields(row.model()), fields(row.sampling()),
                    fields(row.whole()), row.whole().largest(), fields(row.percent()), fields(row.plain()),
                    fields(row.shards()), row.isAccurate()));
        }
        return lines;
    }

    private static String fields(CurveDistance distance) {
        return String.format(Locale.ROOT, "%.4f,%.4f", distance.even(), distance.ratio());
    }
}
