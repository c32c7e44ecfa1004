package io.varve.experiments;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;

import io.varve.experiments.curve.CurveAccuracy;
import io.varve.experiments.curve.LearntCurves;
import io.varve.experiments.curve.ServerMisses;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.report.MissRatioPlots;
import io.varve.experiments.simulate.InvalidTraceException;
import io.varve.experiments.simulate.KeySource;
import io.varve.experiments.wire.RespConnection;
import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.curve.Sampling;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The subcommand {@code mrc}: it computes the miss ratio for each size of a cache. Confined to the main thread. */
@Command(name = "mrc", mixinStandardHelpOptions = true, sortOptions = false, description = {
        "Computes the miss-ratio curve of a trace or of YCSB's requests: the share of reads that miss under LRU, by memory size.",
        "It samples the requests in fixed memory, as the server does. Sizes are bytes if the trace has sizes, else items."}, exitCodeListHeading = "%nExit status:%n", exitCodeList = {
                "0:done",
                "1:--accuracy: a curve differs too much from the exact one, or from the misses of the server",
                "2:bad input: an unreadable trace, an option out of range, a server that is unreachable or refuses a command"})
final class MrcCommand implements Callable<Integer> {
    private static final long PROGRESS_REQUESTS = 1 << 22;
    private static final int MAX_POINTS = 1_000_000;
    private static final int REQUESTS_A_KEY = 20;
    private static final int COMPARED_REQUESTS_A_KEY = 2;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private RequestOptions requests;

    @Option(names = "--sample", paramLabel = "SHARE", defaultValue = "0.01", description = "minimum share of the requests to sample; more is sampled if 64,000 keys suffice for it (0.01)")
    private double sample;

    @Option(names = "--exact", description = "also compute the exact curve, by stack distances; needs memory for each key")
    private boolean exact;

    @Option(names = "--points", paramLabel = "N", defaultValue = "20", description = "number of sizes, evenly spaced up to the size beyond which the curve is flat; equal sizes are printed once (20)")
    private int points;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CsvOption csvOption;

    @Option(names = "--accuracy", description = "measure the error of sampled curves: on a trace, or on many request streams of YCSB (2 requests per key)")
    private boolean accuracy;

    @Option(names = "--server", paramLabel = "HOST:PORT", description = "with --accuracy: send the streams to this Varve server and compare its misses with its own curve; the server is flushed")
    private @Nullable String server;

    @Option(names = "--plots", paramLabel = "DIR", description = "also draw the curves, as one image per stream in this folder")
    private @Nullable Path plots;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "20191120", description = "seed of the sampling; YCSB's generators cannot be seeded")
    private long seed;

    @Override
    public Integer call() throws IOException {
        try {
            check();
            try (PrintWriter csv = csvOption.open(spec.commandLine().getOut())) {
                String address = server;
                if (address != null) {
                    return measure(address, csv);
                }
                return accuracy ? compare(csv) : learn(csv);
            }
        } catch (InvalidTraceException | IllegalArgumentException bad) {
            throw new InvalidExperimentException("mrc: " + bad.getMessage());
        }
    }

    private void check() {
        if (!(sample > 0 && sample <= 1)) {
            throw new IllegalArgumentException("--sample " + sample + ": expected a number above 0, up to 1");
        }
        if (points < 1 || points > MAX_POINTS) {
            throw new IllegalArgumentException("--points " + points + ": expected 1 to " + MAX_POINTS);
        }
        if (server != null && !accuracy) {
            throw new IllegalArgumentException("--server " + server + " without --accuracy: expected both");
        }
        if (server != null && plots != null) {
            throw new IllegalArgumentException("--plots " + plots + " with --server: expected one of them");
        }
        requests.checkYcsb();
        if (!accuracy && !requests.hasSource()) {
            throw new IllegalArgumentException(
                    "no requests: expected a TRACE, --ycsb zipfian, --ycsb uniform, --ycsb latest, or --accuracy");
        }
    }

    private KeySource source() {
        return requests.hasTrace() ? requests.trace() : requests.ycsb(requests.requestsOr(REQUESTS_A_KEY));
    }

    private Optional<MissRatioPlots> plots() {
        Path folder = plots;
        if (folder == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new MissRatioPlots(folder));
        } catch (IOException refused) {
            throw new InvalidExperimentException("mrc: --plots " + folder + ": the folder cannot be created",
                    refused);
        }
    }

    private void draw(MissRatioPlots drawing, KeySource source, SequencedMap<String, MissRatioCurve> lines) {
        try {
            drawing.draw(source.describe(), unit(source), lines);
        } catch (IOException refused) {
            throw new InvalidExperimentException("mrc: --plots " + plots + ": an image cannot be written: "
                    + refused.getMessage(), refused);
        }
    }

    private static String unit(KeySource source) {
        return source.hasSizes() ? "bytes" : "items";
    }

    private int learn(@Nullable PrintWriter csv) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        KeySource source = source();
        Optional<MissRatioPlots> drawing = plots();
        LearntCurves curves = LearntCurves.learn(source, sample, exact, seed,
                csvOption.isOnly() ? _ -> {} : progress());
        String unit = unit(source);
        if (csv != null) {
            csv.println("size,miss_ratio" + (exact ? ",exact_miss_ratio" : ""));
        }
        if (!csvOption.isOnly()) {
            out.println(source.describe());
            out.printf(Locale.ROOT, "%,d requests; the final sampling rate was one in %.1f%n", curves.requests(),
                    1 / curves.rate());
            out.printf("%18s  %9s%s%n", unit, "misses, %", exact ? "   exact, %" : "");
        }
        MissRatioCurve sampled = curves.sampled();
        double largest = curves.exact().orElse(sampled).largestBytes();
        double before = -1;
        for (int i = 1; i <= points; i++) {
            double size = Math.rint(largest * i / points);
            if (size == before) {
                // A few items or bytes do not yield that many sizes.
                continue;
            }
            before = size;
            if (csv != null) {
                csv.printf(Locale.ROOT, "%.0f,%.6f", size, sampled.missRatio(size));
                curves.exact().ifPresent(curve -> csv.printf(Locale.ROOT, ",%.6f", curve.missRatio(size)));
                csv.println();
            }
            if (!csvOption.isOnly()) {
                out.printf(Locale.ROOT, "%,18.0f  %9.2f", size, 100 * sampled.missRatio(size));
                curves.exact().ifPresent(curve -> out.printf(Locale.ROOT, "  %9.2f", 100 * curve.missRatio(size)));
                out.println();
            }
        }
        out.flush();
        if (drawing.isPresent()) {
            SequencedMap<String, MissRatioCurve> lines = new LinkedHashMap<>();
            curves.exact().ifPresent(curve -> lines.put("exact", curve));
            lines.put("from a sample", sampled);
            draw(drawing.get(), source, lines);
        }
        return 0;
    }

    private int compare(@Nullable PrintWriter csv) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<KeySource> sources = compared();
        List<CurveAccuracy.Row> rows = new ArrayList<>();
        Optional<MissRatioPlots> drawing = plots();
        CurveAccuracy.Viewer viewer = (source, exactCurve, unsampled, sampled) -> {
            if (drawing.isPresent()) {
                SequencedMap<String, MissRatioCurve> lines = new LinkedHashMap<>();
                lines.put("exact", exactCurve);
                lines.put("from all requests", unsampled);
                lines.put("from a sample", sampled);
                draw(drawing.get(), source, lines);
            }
        };
        if (!csvOption.isOnly()) {
            CurveAccuracy.printHeader(out);
        }
        for (KeySource source : sources) {
            rows.add(CurveAccuracy.measure(source, Sampling.DEFAULT, seed, viewer));
            if (!csvOption.isOnly()) {
                CurveAccuracy.printRow(rows.getLast(), out);
            }
        }
        if (csv != null) {
            CurveAccuracy.csv(rows).forEach(csv::println);
        }
        if (!csvOption.isOnly()) {
            CurveAccuracy.printSummary(rows, out);
        }
        return CurveAccuracy.areAccurate(rows) ? 0 : 1;
    }

    private List<KeySource> compared() {
        return requests.hasSource()
                ? List.of(source())
                : CurveAccuracy.streams(requests.keys(), requests.requestsOr(COMPARED_REQUESTS_A_KEY));
    }

    private int measure(String address, @Nullable PrintWriter csv) throws IOException {
        int colon = address.lastIndexOf(':');
        if (colon < 1 || !address.substring(colon + 1).matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException("--server " + address + ": expected HOST:PORT");
        }
        try {
            return measure(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)), csv);
        } catch (UnknownHostException unknown) {
            throw new InvalidExperimentException("mrc: --server " + address + ": unknown host", unknown);
        } catch (IOException refused) {
            throw new InvalidExperimentException("mrc: --server " + address + ": " + refused.getMessage(), refused);
        }
    }

    private int measure(String host, int port, @Nullable PrintWriter csv) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<ServerMisses.Row> rows = new ArrayList<>();
        try (RespConnection connection = new RespConnection(host, port)) {
            ServerMisses misses = new ServerMisses(connection);
            if (csv != null) {
                ServerMisses.printCsvHeader(csv);
            }
            if (!csvOption.isOnly()) {
                ServerMisses.printHeader(out);
            }
            for (KeySource source : compared()) {
                List<ServerMisses.Row> measured = misses.measure(source);
                rows.addAll(measured);
                // Printed immediately: a stream takes minutes, and the server may refuse the next.
                if (csv != null) {
                    ServerMisses.printCsv(measured, csv);
                }
                if (!csvOption.isOnly()) {
                    ServerMisses.printRows(measured, out);
                }
            }
        }
        if (!csvOption.isOnly()) {
            ServerMisses.printSummary(rows, out);
        }
        return ServerMisses.areAccurate(rows) ? 0 : 1;
    }

    private LongConsumer progress() {
        long start = System.nanoTime();
        return done -> {
            if (done % PROGRESS_REQUESTS == 0) {
                spec.commandLine().getErr().printf(Locale.ROOT, "%,d requests, %,.0f a second%n", done,
                        done * 1e9 / (System.nanoTime() - start));
                spec.commandLine().getErr().flush();
            }
        };
    }
}
