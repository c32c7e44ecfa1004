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
import io.varve.memory.locality.MissRatioCurve;
import io.varve.memory.locality.Sampling;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mrc}: the share of reads that miss, for each size of a cache. Confined to the main thread. */
@Command(name = "mrc", mixinStandardHelpOptions = true, sortOptions = false, description = {
        "The miss-ratio curve of a trace, or of the requests that YCSB makes: the share of reads that miss under LRU, for each size of memory.",
        "It is learnt from a sample of the requests in fixed memory, as the server can. Sizes are bytes where the trace has sizes, else items."}, exitCodeListHeading = "%nExit status:%n", exitCodeList = {
                "0:done",
                "1:--accuracy: a curve is farther from the exact one, or from what a server misses, than is allowed",
                "2:bad input: a trace that cannot be read, an option out of its range, a server that is not there or refuses"})
final class MrcCommand implements Callable<Integer> {
    private static final long PROGRESS_REQUESTS = 1 << 22;
    private static final int MOST_POINTS = 1_000_000;
    private static final int REQUESTS_A_KEY = 20;
    private static final int COMPARED_REQUESTS_A_KEY = 2;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private RequestOptions requests;

    @Option(names = "--sample", paramLabel = "SHARE", defaultValue = "0.01", description = "of the requests, that is drawn at least; more while 64,000 keys are enough for it (0.01)")
    private double sample;

    @Option(names = "--exact", description = "the exact curve too, by stack distances; takes memory for each key")
    private boolean exact;

    @Option(names = "--points", paramLabel = "N", defaultValue = "20", description = "sizes, evenly spaced up to where more makes no difference (20); each once")
    private int points;

    @Option(names = "--csv", description = "print size,miss_ratio[,exact_miss_ratio] and nothing else")
    private boolean csv;

    @Option(names = "--accuracy", description = "how far sampled curves are from exact ones: of a trace, or of many streams of YCSB's (2 requests for each key)")
    private boolean accuracy;

    @Option(names = "--server", paramLabel = "HOST:PORT", description = "with --accuracy: a Varve server that is emptied, asked for the streams, and must miss what its own curve says")
    private @Nullable String server;

    @Option(names = "--plots", paramLabel = "DIR", description = "draw the curves into this folder, too: an image for each stream")
    private @Nullable Path plots;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "20191120", description = "of the draws; YCSB's generators have none")
    private long seed;

    @Override
    public Integer call() throws IOException {
        try {
            check();
            String address = server;
            if (address != null) {
                return measure(address);
            }
            return accuracy ? compare() : learn();
        } catch (InvalidTraceException | IllegalArgumentException bad) {
            throw new InvalidExperimentException("mrc: " + bad.getMessage());
        }
    }

    private void check() {
        if (!(sample > 0 && sample <= 1)) {
            throw new IllegalArgumentException("--sample " + sample + ": allowed is above 0, to 1");
        }
        if (points < 1 || points > MOST_POINTS) {
            throw new IllegalArgumentException("--points " + points + ": allowed is 1 to " + MOST_POINTS);
        }
        if (server != null && !accuracy) {
            throw new IllegalArgumentException("--server " + server + " without --accuracy: allowed are both");
        }
        if (server != null && plots != null) {
            throw new IllegalArgumentException("--plots " + plots + " with --server: allowed is one of them");
        }
        requests.checkYcsb();
        if (!accuracy && !requests.given()) {
            throw new IllegalArgumentException(
                    "nothing to look at: allowed is a TRACE, --ycsb zipfian, --ycsb uniform, --ycsb latest, or --accuracy");
        }
    }

    private KeySource source() {
        return requests.fromTrace() ? requests.trace() : requests.ycsb(requests.requestsOr(REQUESTS_A_KEY));
    }

    private Optional<MissRatioPlots> plots() {
        Path folder = plots;
        if (folder == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new MissRatioPlots(folder));
        } catch (IOException refused) {
            throw new InvalidExperimentException("mrc: --plots " + folder + ": no folder, and none can be made there",
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

    private int learn() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        KeySource source = source();
        Optional<MissRatioPlots> drawing = plots();
        LearntCurves curves = LearntCurves.learn(source, sample, exact, seed, csv ? _ -> {} : progress());
        String unit = unit(source);
        if (csv) {
            out.println("size,miss_ratio" + (exact ? ",exact_miss_ratio" : ""));
        } else {
            out.println(source.describe());
            out.printf(Locale.ROOT, "%,d requests; in the end one in %.1f was drawn%n", curves.requests(),
                    1 / curves.rate());
            out.printf("%18s  %9s%s%n", unit, "misses, %", exact ? "   exact, %" : "");
        }
        MissRatioCurve sampled = curves.sampled();
        double largest = curves.exact().orElse(sampled).largestBytes();
        double before = -1;
        for (int i = 1; i <= points; i++) {
            double size = Math.rint(largest * i / points);
            if (size == before) {
                // Of few items or bytes there are not so many sizes.
                continue;
            }
            before = size;
            if (csv) {
                out.printf(Locale.ROOT, "%.0f,%.6f", size, sampled.missRatio(size));
                curves.exact().ifPresent(curve -> out.printf(Locale.ROOT, ",%.6f", curve.missRatio(size)));
            } else {
                out.printf(Locale.ROOT, "%,18.0f  %9.2f", size, 100 * sampled.missRatio(size));
                curves.exact().ifPresent(curve -> out.printf(Locale.ROOT, "  %9.2f", 100 * curve.missRatio(size)));
            }
            out.println();
        }
        out.flush();
        if (drawing.isPresent()) {
            SequencedMap<String, MissRatioCurve> lines = new LinkedHashMap<>();
            curves.exact().ifPresent(curve -> lines.put("exact", curve));
            lines.put("learnt from a sample", sampled);
            draw(drawing.get(), source, lines);
        }
        return 0;
    }

    private int compare() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<KeySource> sources = compared();
        List<CurveAccuracy.Row> rows = new ArrayList<>();
        Optional<MissRatioPlots> drawing = plots();
        CurveAccuracy.Viewer viewer = (source, exactCurve, unsampled, sampled) -> {
            if (drawing.isPresent()) {
                SequencedMap<String, MissRatioCurve> lines = new LinkedHashMap<>();
                lines.put("exact", exactCurve);
                lines.put("learnt from all requests", unsampled);
                lines.put("learnt from a sample", sampled);
                draw(drawing.get(), source, lines);
            }
        };
        if (!csv) {
            CurveAccuracy.head(out);
        }
        for (KeySource source : sources) {
            rows.add(CurveAccuracy.measure(source, Sampling.DEFAULT, seed, viewer));
            if (!csv) {
                CurveAccuracy.line(rows.getLast(), out);
            }
        }
        if (csv) {
            CurveAccuracy.csv(rows).forEach(out::println);
            out.flush();
        } else {
            CurveAccuracy.foot(rows, out);
        }
        return CurveAccuracy.held(rows) ? 0 : 1;
    }

    private List<KeySource> compared() {
        return requests.given()
                ? List.of(source())
                : CurveAccuracy.streams(requests.keys(), requests.requestsOr(COMPARED_REQUESTS_A_KEY));
    }

    private int measure(String address) throws IOException {
        int colon = address.lastIndexOf(':');
        if (colon < 1 || !address.substring(colon + 1).matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException("--server " + address + ": allowed is HOST:PORT");
        }
        try {
            return measure(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
        } catch (UnknownHostException unknown) {
            throw new InvalidExperimentException("mrc: --server " + address + ": there is no such host", unknown);
        } catch (IOException refused) {
            throw new InvalidExperimentException("mrc: --server " + address + ": " + refused.getMessage(), refused);
        }
    }

    private int measure(String host, int port) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<ServerMisses.Row> rows = new ArrayList<>();
        try (RespConnection connection = new RespConnection(host, port)) {
            ServerMisses misses = new ServerMisses(connection);
            if (csv) {
                ServerMisses.csvHead(out);
            } else {
                ServerMisses.head(out);
            }
            for (KeySource source : compared()) {
                List<ServerMisses.Row> measured = misses.measure(source);
                rows.addAll(measured);
                // At once: a stream takes minutes, and the server may refuse the next.
                if (csv) {
                    ServerMisses.csv(measured, out);
                } else {
                    ServerMisses.lines(measured, out);
                }
            }
        }
        if (!csv) {
            ServerMisses.foot(rows, out);
        }
        return ServerMisses.held(rows) ? 0 : 1;
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
