package io.varve.experiments.run.curves;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.experiments.curve.CurveAccuracy;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.table.CurvesText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.simulate.KeySource;
import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.curve.Sampling;

/**
 * Learns miss-ratio curves of request streams from a sample of their accesses, and compares them with exact ones
 * (pRedis, section 6.2). Confined to the thread that does the run.
 */
public final class CurvesRun {
    /** Points of a curve in the file. */
    private static final int POINTS = 60;

    private final RunContext context;
    private final int keys;
    private final long requests;

    public CurvesRun(RunContext context) {
        this.context = context;
        keys = Math.toIntExact(context.plan.keys(context.run));
        requests = context.plan.size(context.run).operations();
        context.load.put("keys", String.valueOf(keys));
        context.load.put("requests", String.valueOf(requests));
    }

    public void measure() throws IOException {
        List<Double> errors = new ArrayList<>();
        try (BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(RunFiles.CURVES_CSV))) {
            csv.write("stream,size,exact,learnt\n");
            for (KeySource source : CurveAccuracy.streams(keys, requests)) {
                context.phase(source.describe(), () -> errors.add(measure(source, csv)));
            }
        }
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            context.metrics.put(CurvesText.MEAN,
                    errors.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN));
            context.metrics.put(CurvesText.MOST,
                    errors.stream().mapToDouble(Double::doubleValue).max().orElse(Double.NaN));
        }
    }

    private double measure(KeySource source, BufferedWriter csv) throws IOException {
        String stream = name(source);
        long start = System.nanoTime();
        CurveAccuracy.Row row = CurveAccuracy.measure(source, Sampling.DEFAULT, context.plan.experiment().seed(),
                (_, exact, _, sampled) -> write(csv, stream, exact, sampled));
        context.gauge.set(row.accesses() * 1e9 / (System.nanoTime() - start));
        context.metrics.put(CurvesText.name(CurvesText.ERROR, stream), row.error());
        context.metrics.put(CurvesText.name(CurvesText.LARGEST, stream), row.whole().largest());
        context.metrics.put(CurvesText.name(CurvesText.SAMPLED, stream), 100 * row.rate());
        context.metrics.put(CurvesText.name(CurvesText.ACCESSES, stream), row.accesses());
        return row.error();
    }

    /** The stream's description without commas, as it is a cell of a CSV file. */
    private static String name(KeySource source) {
        return source.describe().replace(",", "");
    }

    private static void write(BufferedWriter csv, String stream, MissRatioCurve exact, MissRatioCurve learnt)
            throws IOException {
        double largest = Math.max(1, exact.largestBytes());
        for (int i = 0; i <= POINTS; i++) {
            double size = largest * i / POINTS;
            csv.write(String.format(Locale.ROOT, "%s,%.0f,%.6f,%.6f%n", stream, size, exact.missRatio(size),
                    learnt.missRatio(size)));
        }
        csv.flush();
    }
}
