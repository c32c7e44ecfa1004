package io.varve.experiments.run.log;

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
import java.util.Objects;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.LogMode;
import io.varve.experiments.plan.WriteAheadLogLoad;
import io.varve.experiments.plan.WriteAheadLogLoad.Load;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.TrialResult;
import io.varve.experiments.result.table.WriteAheadLogText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.context.ServerStarter;
import io.varve.experiments.run.load.SequentialLoad;
import io.varve.experiments.run.speed.MeasuredCommand;
import io.varve.experiments.run.speed.RedisBenchmark;
import io.varve.experiments.run.speed.ThroughputRun;
import io.varve.experiments.server.OwnCores;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;

/**
 * Measures SET on servers without a log and with one that is written every second, before each reply, or when the
 * system decides. Confined to the thread that does the run. Source: Song and Pu, "Implementation and Evaluation of a
 * Durable Distributed Key-Value Store", section 4.3, for the writers of a few records; the other loads are ours.
 *
 * <p>All servers run all the time and are loaded in turns, never two at a time. The order changes with each
 * repetition. Before each repetition every log is rewritten, and after each turn it is forced to the disk, so that no
 * server's turn includes another one's writes.
 */
public final class WriteAheadLogRun {
    /** Duration of one measurement of the warm-up. */
    private static final double WARM_TURN_SECONDS = 1;
    /** Number of requests of the first measurement of a load, before a rate is known. */
    private static final int FIRST_REQUESTS = 1000;
    /** The JIT has settled when a round costs at least this fraction of the previous one. */
    private static final double SETTLED = 0.97;
    /** Maximum wait for that, in multiples of the minimum warm-up. */
    private static final int MAX_WARMUPS = 3;
    /** Minimum bytes of a log for a SET, as a share of the value's bytes: a record also has a key. */
    private static final double LOGGED = 0.9;
    private static final long REWRITE_POLL_MILLIS = 20;

    /** A server under test. */
    private record Contestant(String name, LogMode mode, Server server, Target target, LogFiles files) {}

    private final RunContext context;
    private final ServerStarter starter;
    private final RedisBenchmark generator;
    private final WriteAheadLogLoad load;
    private final Size size;
    private final long keys;
    private final MeasuredCommand command;
    private final List<Contestant> contestants = new ArrayList<>();
    private final Map<String, Double> rates = new HashMap<>();
    private final List<TrialResult> trials = new ArrayList<>();
    private final Map<String, List<RecordWriters.Result>> rounds = new LinkedHashMap<>();

    public WriteAheadLogRun(RunContext context, ServerStarter starter, RedisBenchmark generator) {
        this.context = context;
        this.starter = starter;
        this.generator = generator;
        this.load = context.plan.writeAheadLog(context.run);
        this.size = context.plan.size(context.run);
        this.keys = context.plan.keys(context.run);
        this.command = MeasuredCommand.of("SET", load.valueBytes());
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("keys", String.valueOf(keys));
        context.load.put("repetitions", String.valueOf(size.repetitions()));
        context.load.put("seconds", String.valueOf(size.seconds()));
        context.load.put("server-cores", context.pinning.server().isEmpty() ? "not pinned" : context.pinning.server());
        context.load.put("generator-cores", context.pinning.load().isEmpty() ? "not pinned" : context.pinning.load());
    }

    public void measure() throws IOException {
        context.load.put("disk", Files.getFileStore(context.directory).type());
        context.phase("disk", () -> context.metrics.put(WriteAheadLogText.FORCE,
                LogFiles.forceMicros(context.directory)));
        try {
            for (String name : context.plan.available()) {
                context.phase("start " + name, () -> start(name));
            }
            for (Contestant contestant : contestants) {
                context.phase("load " + contestant.name(), () -> {
                    new SequentialLoad(command.command()).send(contestant.target(), keys, context);
                    contestant.files().force();
                });
            }
            for (Contestant contestant : contestants) {
                context.phase("warm up " + contestant.name(), () -> warmUp(contestant));
            }
            context.phase("writers", this::writeRecords);
            try (BufferedWriter csv = csv(RunFiles.THROUGHPUT_CSV, TrialResult.CSV_HEADER)) {
                for (int repetition = 1; repetition <= size.repetitions(); repetition++) {
                    int number = repetition;
                    context.phase("repetition " + repetition, () -> repeat(number, csv));
                }
            }
        } finally {
            context.gauge.set(0);
            stop();
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

    private void start(String name) throws IOException {
        Path directory = Files.createDirectories(context.directory.resolve(name));
        Configuration configuration = Objects.requireNonNull(context.plan.configurations().get(name));
        Target target = starter.start(name, directory);
        contestants.add(new Contestant(name, LogMode.of(configuration.settings()), configuration.server(), target,
                new LogFiles(directory)));
        context.load.put("started-by " + name, target.startedBy());
        ServerInfo info = info(target);
        context.load.put("version " + name, info.serverVersion());
        boolean logs = info.number("aof_enabled").orElse(0) == 1;
        if (logs != (contestants.getLast().mode() != LogMode.NONE)) {
            context.faults.add(name + (logs ? " has a log" : " has no log"));
        }
    }

    private void stop() throws IOException {
        IOException fault = null;
        for (Contestant contestant : contestants) {
            try {
                contestant.target().close();
                contestant.files().delete();
            } catch (IOException e) {
                fault = e;
            }
        }
        if (fault != null) {
            throw fault;
        }
    }

    /** A JIT compiler's code settles; the other servers get one round, from which their rates follow. */
    private void warmUp(Contestant contestant) throws IOException {
        long start = System.nanoTime();
        double before = Double.POSITIVE_INFINITY;
        while (!context.cancellation.isCancelled() && !context.isFailed()) {
            double cost = 0;
            for (Load each : load.loads()) {
                cost += runTrial(0, contestant, each, WARM_TURN_SECONDS).cpuMicrosPerOp();
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            if (contestant.server() != Server.VARVE || seconds >= (double) size.warmupSeconds() * MAX_WARMUPS
                    || seconds >= size.warmupSeconds() && cost >= before * SETTLED) {
                context.metrics.put("warmup_seconds " + contestant.name(), seconds);
                return;
            }
            before = cost;
        }
    }

    /** The paper's Table 1; the generator is this process. */
    private void writeRecords() throws IOException {
        RecordWriters writers = new RecordWriters(load.writers(), load.records(), keys, load.valueBytes());
        long seed = context.plan.experiment().seed();
        try (OwnCores _ = OwnCores.take(context.pinning.load());
                BufferedWriter csv = csv(RunFiles.RECORDS_CSV, "round,server,records_per_second,mean_latency_ms")) {
            // The first round is the warm-up of this process, and does not count.
            for (int round = 0; round <= load.rounds(); round++) {
                for (Contestant contestant : round % 2 == 1 ? contestants : contestants.reversed()) {
                    if (context.cancellation.isCancelled() || isAnyDead()) {
                        return;
                    }
                    RecordWriters.Result result = writers.run(contestant.target(),
                            seed + (long) round * load.writers());
                    contestant.files().force();
                    context.gauge.set(result.ops());
                    if (round > 0) {
                        rounds.computeIfAbsent(contestant.name(), _ -> new ArrayList<>()).add(result);
                        csv.write(String.format(Locale.ROOT, "%d,%s,%.0f,%.4f%n", round, contestant.name(),
                                result.ops(), result.meanMillis()));
                    }
                }
            }
        }
    }

    private void repeat(int repetition, BufferedWriter csv) throws IOException {
        for (Contestant contestant : contestants) {
            rewriteLog(contestant);
        }
        for (Load each : load.loads()) {
            for (Contestant contestant : repetition % 2 == 1 ? contestants : contestants.reversed()) {
                if (context.cancellation.isCancelled() || isAnyDead()) {
                    return;
                }
                TrialResult trial = runTrial(repetition, contestant, each, size.seconds());
                trials.add(trial);
                csv.write(trial.csv() + "\n");
                csv.flush();
            }
        }
    }

    /** Keeps the disk from filling up: with long pipelines a log grows by gigabytes. */
    private void rewriteLog(Contestant contestant) throws IOException {
        if (contestant.mode() == LogMode.NONE) {
            return;
        }
        try (RespConnection connection = connect(contestant.target())) {
            connection.call("BGREWRITEAOF");
            boolean rewriting = true;
            while (rewriting && !context.cancellation.await(REWRITE_POLL_MILLIS)) {
                ServerInfo info = ServerInfo.parse(connection.call("INFO", "persistence"));
                rewriting = info.number("aof_rewrite_in_progress").orElse(0) != 0
                        || info.number("aof_rewrite_scheduled").orElse(0) != 0;
            }
        }
        contestant.files().force();
    }

    /** @param repetition 0 is the warm-up, which does not count */
    private TrialResult runTrial(int repetition, Contestant contestant, Load each, double seconds) throws IOException {
        String place = each.clients() + "x" + each.pipeline() + " " + contestant.name();
        long requests = ThroughputRun.requests(rates.containsKey(place)
                ? rates.get(place) * seconds
                : Math.max(FIRST_REQUESTS, 2 * each.atOnce()), each.atOnce());
        ServerInfo before = info(contestant.target());
        long cpuBefore = ProcessUsage.cpuMicros(contestant.target());
        long start = System.nanoTime();
        RedisBenchmark.Result result = generator.run(contestant.target(), each.clients(), each.pipeline(), keys,
                requests, command.command(), context.cancellation);
        long nanos = System.nanoTime() - start;
        long cpu = ProcessUsage.cpuMicros(contestant.target()) - cpuBefore;
        ServerInfo after = info(contestant.target());
        rates.put(place, result.ops());
        context.gauge.set(result.ops());
        check(contestant, place, requests, before, after);
        contestant.files().force();
        return new TrialResult(repetition, each.title(), each.pipeline(), contestant.name(), requests, result.ops(),
                TrialResult.cpuPerOperation(0, cpu, requests), cpu * 1e5 / nanos, Double.NaN, result.p50Millis(),
                result.p99Millis());
    }

    /** A measurement without errors, and with a log that has grown, if the server has one. */
    private void check(Contestant contestant, String place, long requests, ServerInfo before, ServerInfo after) {
        long errors = after.number("total_error_replies").orElse(0) - before.number("total_error_replies").orElse(0);
        if (errors > 0) {
            context.faults.add(place + ": " + errors + " error replies");
        }
        if (contestant.mode() == LogMode.NONE) {
            return;
        }
        long logged = logBytes(after) - logBytes(before);
        if (logged < LOGGED * requests * load.valueBytes()) {
            context.faults.add(place + ": the log has grown by " + logged + " bytes in " + requests + " requests");
        }
    }

    private static long logBytes(ServerInfo info) {
        return info.number("aof_current_size").orElse(0) + info.number("aof_buffer_length").orElse(0);
    }

    private boolean isAnyDead() {
        for (Contestant contestant : contestants) {
            String death = contestant.target().death();
            if (death != null && !context.faults.contains(contestant.name() + ": " + death)) {
                context.faults.add(contestant.name() + ": " + death);
            }
        }
        return context.isFailed();
    }

    private static RespConnection connect(Target target) throws IOException {
        return new RespConnection(target.host(), target.port());
    }

    private static ServerInfo info(Target target) throws IOException {
        try (RespConnection connection = connect(target)) {
            return ServerInfo.parse(connection.call("INFO"));
        }
    }

    private void conclude() {
        context.metrics.put(WriteAheadLogText.ROUNDS, load.rounds());
        rounds.forEach((name, results) -> {
            context.metrics.put(WriteAheadLogText.name(WriteAheadLogText.RECORDS, name),
                    MedianRange.of(results.stream().map(RecordWriters.Result::ops).toList()));
            context.metrics.put(WriteAheadLogText.name(WriteAheadLogText.LATENCY, name),
                    MedianRange.of(results.stream().map(RecordWriters.Result::meanMillis).toList()));
        });
        new LogVerdicts(context, load, trials).conclude();
    }
}
