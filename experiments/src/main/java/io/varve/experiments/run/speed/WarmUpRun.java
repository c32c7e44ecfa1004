package io.varve.experiments.run.speed;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.paced.PacedSettings;
import io.varve.experiments.plan.LatencyLoad;
import io.varve.experiments.plan.WarmUpLoad;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.LatencyText;
import io.varve.experiments.result.table.WarmUpText;
import io.varve.experiments.run.context.PacedProcess;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.context.ServerStarter;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;

/**
 * Measures servers that have just started: the first pass of redis-benchmark's default tests, the throughput of each
 * second under a constant load, and latencies on a fixed schedule. Confined to the thread that does the run.
 *
 * <p>Each measurement has a new process. Both servers are measured in turn, never two at a time, and the order changes
 * with each repetition.
 */
public final class WarmUpRun {
    /** Minimum number of starts for a share to be judged: with fewer it is only reported, since it may be noise. */
    private static final int JUDGED_FROM = 3;

    /** A measurement with a server that has served nothing before. */
    private interface Measurement {
        void measure(Target target, Path directory) throws IOException;
    }

    private final RunContext context;
    private final ServerStarter starter;
    private final RedisBenchmark generator;
    private final WarmUpLoad load;
    private final LatencyLoad paced;
    private final Size size;
    private final long keys;
    private final String ours;
    private final List<String> servers = new ArrayList<>();
    /** Values of each repetition, by their names in the run's metrics. */
    private final Map<String, List<Double>> values = new LinkedHashMap<>();

    public WarmUpRun(RunContext context, ServerStarter starter, RedisBenchmark generator) {
        this.context = context;
        this.starter = starter;
        this.generator = generator;
        this.load = context.plan.warmUp(context.run);
        this.paced = context.plan.latency(context.run);
        this.size = context.plan.size(context.run);
        this.keys = context.plan.keys(context.run);
        this.ours = context.run.configuration();
        servers.add(ours);
        context.plan.rival().ifPresent(servers::add);
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("requests-of-a-default-test", String.valueOf(size.operations()));
        context.load.put("seconds", String.valueOf(size.seconds()));
        context.load.put("starts", String.valueOf(size.repetitions()));
        context.load.put("server-cores", context.pinning.server().isEmpty() ? "not pinned" : context.pinning.server());
        context.load.put("generator-cores", context.pinning.load().isEmpty() ? "not pinned" : context.pinning.load());
    }

    public void measure() throws IOException {
        try (BufferedWriter passes = csv(RunFiles.FIRST_PASS_CSV, "repetition,server,test,ops");
                BufferedWriter seconds = csv(RunFiles.WARM_UP_CSV, "repetition,server,second,ops")) {
            for (int repetition = 1; repetition <= size.repetitions(); repetition++) {
                for (String server : repetition % 2 == 1 ? servers.reversed() : servers) {
                    String prefix = repetition + "," + server.replace(',', ';') + ",";
                    afterStart("first-pass", repetition, server,
                            (target, _) -> pass(server, target, prefix, passes));
                    afterStart("constant-load", repetition, server,
                            (target, _) -> eachSecond(server, target, prefix, seconds));
                    afterStart("schedule", repetition, server,
                            (target, directory) -> onSchedule(server, target, directory));
                }
            }
        }
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            conclude();
        }
    }

    private BufferedWriter csv(String name, String header) throws IOException {
        BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(name));
        csv.write(header + "\n");
        return csv;
    }

    private void afterStart(String part, int repetition, String server, Measurement measurement) throws IOException {
        context.phase(part + " " + repetition + " " + server, () -> {
            Path directory = folder(part, repetition, server);
            try (Target target = starter.start(server, directory)) {
                target.startSeconds().ifPresent(seconds -> add(WarmUpText.START, server, seconds));
                measurement.measure(target, directory);
                ServerInfo info = info(target);
                if (server.equals(ours)) {
                    context.serverVersion = info.serverVersion();
                }
                context.load.put("started-by " + server, target.startedBy());
                long errors = info.number("total_error_replies").orElse(0);
                if (errors > 0) {
                    context.faults.add(server + ": " + errors + " error replies in " + part);
                }
            } finally {
                context.gauge.set(0);
            }
        });
    }

    private Path folder(String part, int repetition, String server) throws IOException {
        return Files.createDirectories(context.directory
                .resolve(part + "-" + repetition + "-" + server.replaceAll("[^A-Za-z0-9.-]", "-")));
    }

    private static ServerInfo info(Target target) throws IOException {
        try (RespConnection connection = new RespConnection(target.host(), target.port())) {
            return ServerInfo.parse(connection.call("INFO"));
        }
    }

    private void add(String metric, String server, double value) {
        values.computeIfAbsent(WarmUpText.name(metric, server), _ -> new ArrayList<>()).add(value);
    }

    private void pass(String server, Target target, String prefix, BufferedWriter csv) throws IOException {
        Map<String, Double> tests = generator.runDefaultTests(target, paced.connections(), load.pipeline(),
                size.operations(), context.cancellation);
        for (Map.Entry<String, Double> test : tests.entrySet()) {
            add(WarmUpText.ofTest(test.getKey()), server, test.getValue());
            csv.write(prefix + test.getKey() + "," + String.format(Locale.ROOT, "%.0f%n", test.getValue()));
        }
        csv.flush();
    }

    private void eachSecond(String server, Target target, String prefix, BufferedWriter csv) throws IOException {
        try (RespConnection connection = new RespConnection(target.host(), target.port())) {
            Process process = generator.start(target, paced.connections(), load.pipeline(), keys,
                    MeasuredCommand.of(load.test(), load.valueBytes()).command());
            try {
                long start = System.nanoTime();
                long nanosBefore = start;
                long commandsBefore = 0;
                for (int second = 1; second <= size.seconds(); second++) {
                    long due = start + TimeUnit.SECONDS.toNanos(second);
                    while (System.nanoTime() < due) {
                        if (context.cancellation.await(
                                Math.max(1, TimeUnit.NANOSECONDS.toMillis(due - System.nanoTime())))) {
                            return;
                        }
                    }
                    long commands = commands(connection);
                    long nanos = System.nanoTime();
                    double ops = (commands - commandsBefore) * 1e9 / (nanos - nanosBefore);
                    nanosBefore = nanos;
                    commandsBefore = commands;
                    context.gauge.set(ops);
                    add(WarmUpText.ofSecond(second), server, ops);
                    csv.write(prefix + second + "," + String.format(Locale.ROOT, "%.0f%n", ops));
                }
                csv.flush();
                if (!process.isAlive()) {
                    throw new IOException("redis-benchmark ended with status " + process.exitValue());
                }
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private static long commands(RespConnection connection) throws IOException {
        return ServerInfo.parse(connection.call("INFO", "stats")).number("total_commands_processed")
                .orElseThrow(() -> new IOException("INFO has no total_commands_processed"));
    }

    /** The generator is a JVM, so it rehearses at another server until its own code is compiled. */
    private void onSchedule(String server, Target target, Path directory) throws IOException {
        Path rehearsal = Files.createDirectories(directory.resolve("rehearsal"));
        try (Target other = starter.start(servers.getLast(), rehearsal)) {
            PacedSettings settings = new PacedSettings(target.host(), target.port(), paced.connections(),
                    load.pacedRate(), 0, load.pacedSeconds(), context.plan.experiment().seed(), keys, paced.mix(),
                    paced.values(), paced.hashes(), paced.fields(), paced.ttls(), directory);
            new PacedProcess(context).run(settings,
                    PacedSettings.rehearsalWords(other.port(), Math.max(1, size.warmupSeconds())), () -> {});
        }
        if (context.cancellation.isCancelled() || context.isFailed()) {
            return;
        }
        Map<String, Double> numbers = new HashMap<>();
        for (String line : Files.readAllLines(directory.resolve(RunFiles.GENERATOR_TXT))) {
            int equals = line.indexOf('=');
            numbers.put(line.substring(0, equals), Double.parseDouble(line.substring(equals + 1)));
        }
        for (String name : List.of(LatencyText.P50, LatencyText.P99, WarmUpText.REQUESTS, WarmUpText.DISTURBED)) {
            add(name, server, numbers.getOrDefault(name, Double.NaN));
        }
    }

    private void conclude() {
        values.forEach((name, all) -> context.metrics.put(name, MedianRange.of(all).median()));
        for (String server : servers) {
            context.metrics.put(WarmUpText.name(WarmUpText.WARM_AFTER, server),
                    WarmUpText.secondsUntilWarm(bySecond(server)));
        }
        if (servers.size() == 1) {
            return;
        }
        String rival = servers.getLast();
        for (String test : WarmUpText.tests(context.metrics.asMap(), ours)) {
            MedianRange share = MedianRange.of(shares(of(WarmUpText.ofTest(test), ours),
                    of(WarmUpText.ofTest(test), rival)));
            context.metrics.put(WarmUpText.name(WarmUpText.ofTest(test), WarmUpText.SHARE), share.median());
            if (context.plan.configuration(context.run).server() == Server.VARVE) {
                Check check = Check.atLeast(WarmUpText.check(test, rival), share.median(), load.minShare());
                context.checks.add(share.count() >= JUDGED_FROM
                        ? check
                        : check.notAsserted(share.count() + " starts, and a verdict needs " + JUDGED_FROM));
            }
        }
    }

    private List<Double> of(String metric, String server) {
        return values.getOrDefault(WarmUpText.name(metric, server), List.of());
    }

    private List<Double> bySecond(String server) {
        List<Double> ops = new ArrayList<>();
        for (int second = 1; second <= size.seconds(); second++) {
            ops.add(MedianRange.of(of(WarmUpText.ofSecond(second), server)).median());
        }
        return ops;
    }

    /** Each value divided by the other list's value of that repetition. */
    private static List<Double> shares(List<Double> some, List<Double> others) {
        List<Double> shares = new ArrayList<>();
        for (int i = 0; i < Math.min(some.size(), others.size()); i++) {
            shares.add(some.get(i) / others.get(i));
        }
        return shares.isEmpty() ? List.of(Double.NaN) : shares;
    }
}
