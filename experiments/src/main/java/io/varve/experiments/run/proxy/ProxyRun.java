package io.varve.experiments.run.proxy;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.ProxyLoad;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.ProxyText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.context.ServerStarter;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.server.Target;
import io.varve.experiments.server.Targets;
import io.varve.experiments.wire.RespConnection;
import org.jspecify.annotations.Nullable;

/**
 * Measures the members of a small cluster under clients that know its slots, and under clients of a proxy. Confined to
 * the thread that does the run.
 *
 * <p>The ways take turns within a round, and the order changes with each round.
 */
public final class ProxyRun {
    private final RunContext context;
    private final ServerStarter starter;
    private final Targets targets;
    private final ProxyLoad load;
    private final Size size;
    private final long keys;
    private final long seed;
    private final List<Target> members = new ArrayList<>();
    private final List<Way> ways = new ArrayList<>();
    private final Map<Place, List<Point>> points = new LinkedHashMap<>();
    private long missed;

    /** A way to the members; the proxy is null if there is none. */
    private record Way(String name, @Nullable Target proxy, ClusterClients clients) {}

    private record Place(String load, String way) {}

    private record Point(double ops, double cpuMicros, double proxyMicros, double p50Micros, double p99Micros) {}

    public ProxyRun(RunContext context, ServerStarter starter, Targets targets) {
        this.context = context;
        this.starter = starter;
        this.targets = targets;
        load = context.plan.proxy(context.run);
        size = context.plan.size(context.run);
        keys = context.plan.keys(context.run);
        seed = context.plan.experiment().seed();
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("rounds", String.valueOf(size.repetitions()));
        context.load.put("seconds", String.valueOf(size.seconds()));
    }

    public void measure() throws IOException {
        try (BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(RunFiles.PROXY_CSV))) {
            csv.write("round,load,way,requests_per_second,cpu_us_per_request,proxy_cpu_us_per_request,p50_us,p99_us\n");
            context.phase("start", this::start);
            context.phase("fill", () -> ways.getFirst().clients().fill(keys));
            context.phase("warm up", () -> round(0, null));
            context.phase("compare", () -> compare(csv));
        } finally {
            context.gauge.set(0);
            stop();
        }
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            context.checks.add(Check.atMost("reads that missed", missed, 0));
        }
    }

    private void start() throws IOException {
        String name = context.run.configuration();
        for (int i = 0; i < load.members(); i++) {
            Target member = starter.start(name,
                    Files.createDirectories(context.directory.resolve("member-" + (i + 1))));
            members.add(member);
            context.load.put("started-by member-" + (i + 1), member.startedBy());
            int first = i == 0 ? 0 : ClusterClients.endOfSlots(i - 1, load.members());
            try (RespConnection connection = new RespConnection(member.host(), member.port())) {
                connection.call("CLUSTER", "ADDSLOTSRANGE", String.valueOf(first),
                        String.valueOf(ClusterClients.endOfSlots(i, load.members()) - 1));
            }
        }
        ways.add(new Way(ProxyText.DIRECT, null, new ClusterClients(members, load, context.cancellation)));
        for (int window : load.windows()) {
            Path directory = Files.createDirectories(context.directory.resolve("proxy-" + window));
            Target proxy = targets.proxy(members, window, "", directory);
            context.load.put("started-by proxy-" + window + "ms", proxy.startedBy());
            ways.add(new Way("proxy-" + window + "ms", proxy,
                    new ClusterClients(List.of(proxy), load, context.cancellation)));
        }
    }

    private void compare(BufferedWriter csv) throws IOException {
        for (int round = 1; round <= size.repetitions(); round++) {
            if (!round(round, csv)) {
                return;
            }
        }
        put(ProxyText.OPS, Point::ops);
        put(ProxyText.CPU, Point::cpuMicros);
        put(ProxyText.PROXY_CPU, Point::proxyMicros);
        put(ProxyText.P50, Point::p50Micros);
        put(ProxyText.P99, Point::p99Micros);
    }

    private void put(String metric, ToDoubleFunction<Point> value) {
        points.forEach((place, all) -> ProxyText.put(context.metrics, metric, place.load(), place.way(),
                MedianRange.of(all.stream().mapToDouble(value).boxed().toList())));
    }

    /**
     * One turn of each way under each load.
     *
     * @param csv receives the measurements; null: it warms the servers up
     * @return whether it has run to its end
     */
    private boolean round(int round, @Nullable BufferedWriter csv) throws IOException {
        long nanos = TimeUnit.SECONDS.toNanos(csv == null ? size.warmupSeconds() : size.seconds());
        for (KeyDistribution.Kind kind : load.distributions()) {
            KeyDistribution distribution = new KeyDistribution(kind, keys);
            for (int pipeline : load.pipelines()) {
                for (Way way : round % 2 == 1 ? ways : ways.reversed()) {
                    noteDeaths(way);
                    if (context.cancellation.isCancelled() || context.isFailed()) {
                        return false;
                    }
                    Point point = turn(way, distribution, pipeline, seed + round, nanos);
                    if (csv != null) {
                        add(csv, round, new Place(kind.name().toLowerCase(Locale.ROOT) + "-" + pipeline, way.name()),
                                point);
                    }
                }
            }
        }
        return true;
    }

    private void noteDeaths(Way way) {
        List<Target> servers = new ArrayList<>(members);
        Target proxy = way.proxy();
        if (proxy != null) {
            servers.add(proxy);
        }
        for (Target server : servers) {
            String death = server.death();
            if (death != null) {
                context.faults.add(server.host() + ":" + server.port() + ": " + death);
            }
        }
    }

    private Point turn(Way way, KeyDistribution distribution, int pipeline, long turnSeed, long nanos)
            throws IOException {
        long membersBefore = membersMicros();
        long proxyBefore = proxyMicros(way);
        ClusterClients.Result result = way.clients().run(distribution, pipeline, turnSeed, nanos);
        double proxyMicros = (double) (proxyMicros(way) - proxyBefore) / result.requests();
        double cpuMicros = (double) (membersMicros() - membersBefore) / result.requests() + proxyMicros;
        missed += result.missed();
        context.gauge.set(result.opsPerSecond());
        return new Point(result.opsPerSecond(), cpuMicros, proxyMicros, result.p50Micros(), result.p99Micros());
    }

    private void add(BufferedWriter csv, int round, Place place, Point point) throws IOException {
        points.computeIfAbsent(place, _ -> new ArrayList<>()).add(point);
        csv.write(String.format(Locale.ROOT, "%d,%s,%s,%.0f,%.2f,%.2f,%.0f,%.0f%n", round, place.load(), place.way(),
                point.ops(), point.cpuMicros(), point.proxyMicros(), point.p50Micros(), point.p99Micros()));
        csv.flush();
    }

    private long membersMicros() throws IOException {
        long micros = 0;
        for (Target member : members) {
            micros += ProcessUsage.cpuMicros(member);
        }
        return micros;
    }

    private static long proxyMicros(Way way) throws IOException {
        Target proxy = way.proxy();
        return proxy == null ? 0 : ProcessUsage.cpuMicros(proxy);
    }

    private void stop() throws IOException {
        IOException fault = null;
        List<AutoCloseable> open = new ArrayList<>();
        for (Way way : ways) {
            open.add(way.clients());
            Target proxy = way.proxy();
            if (proxy != null) {
                open.add(proxy);
            }
        }
        open.addAll(members);
        for (AutoCloseable each : open) {
            try {
                each.close();
            } catch (Exception failed) {
                fault = failed instanceof IOException io ? io : new IOException(failed);
            }
        }
        if (fault != null) {
            throw fault;
        }
    }
}
