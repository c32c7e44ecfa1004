package io.varve.experiments.result;

import io.varve.experiments.plan.RunSpec;

/**
 * A run compared with a baseline of the same cell, in percent (section 4.5 of the bucket-expiry paper). Immutable; an
 * unknown value is NaN.
 *
 * @param run the run
 * @param group its configuration's group
 * @param baseline the baseline's configuration
 * @param meanMemoryReduction reduction of mean used_memory
 * @param peakMemoryReduction reduction of peak used_memory
 * @param meanRssReduction reduction of mean used_memory_rss
 * @param peakRssReduction reduction of peak used_memory_rss
 * @param throughputImprovement unthrottled if the load was throttled, else that of the operations
 */
public record Comparison(RunSpec run, String group, String baseline, double meanMemoryReduction,
        double peakMemoryReduction, double meanRssReduction, double peakRssReduction, double throughputImprovement) {

    public static Comparison of(RunRecord run, RunRecord baseline) {
        return new Comparison(run.run(), run.group(), baseline.run().configuration(),
                reduction(run, baseline, RunMetrics.MEAN_MEMORY), reduction(run, baseline, RunMetrics.PEAK_MEMORY),
                reduction(run, baseline, RunMetrics.MEAN_RSS), reduction(run, baseline, RunMetrics.PEAK_RSS),
                Percent.improvement(throughput(baseline), throughput(run)));
    }

    private static double reduction(RunRecord run, RunRecord baseline, String name) {
        return Percent.reduction(baseline.number(name), run.number(name));
    }

    /** The server's capacity, not the requested rate. */
    public static double throughput(RunRecord run) {
        double unthrottled = run.number(RunMetrics.PROBE_THROUGHPUT);
        return Double.isNaN(unthrottled) ? run.number(RunMetrics.THROUGHPUT) : unthrottled;
    }

    /** A value by the name that figures use: peak-memory, mean-memory, throughput. */
    public double metric(String name) {
        return switch (name) {
            case "peak-memory" -> peakMemoryReduction;
            case "mean-memory" -> meanMemoryReduction;
            case "peak-rss" -> peakRssReduction;
            case "mean-rss" -> meanRssReduction;
            case "throughput" -> throughputImprovement;
            default -> throw new IllegalArgumentException("metric '" + name
                    + "': expected peak-memory, mean-memory, peak-rss, mean-rss, throughput");
        };
    }
}
