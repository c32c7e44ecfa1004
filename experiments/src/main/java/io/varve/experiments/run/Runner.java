package io.varve.experiments.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.BusyMachine;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.Sample;
import io.varve.experiments.result.table.PenaltyText;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.MachineUsage;
import io.varve.experiments.run.context.Monitor;
import io.varve.experiments.run.context.Progress;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.context.ServerStarter;
import io.varve.experiments.run.curves.CurvesRun;
import io.varve.experiments.run.expiry.ExpiredEventsRun;
import io.varve.experiments.run.expiry.ExpiryRun;
import io.varve.experiments.run.flash.ObservedRun;
import io.varve.experiments.run.flash.PolicyMemoryRun;
import io.varve.experiments.run.flash.SimulatedRun;
import io.varve.experiments.run.flash.TieredRun;
import io.varve.experiments.run.locks.LocksRun;
import io.varve.experiments.run.log.WriteAheadLogRun;
import io.varve.experiments.run.memory.CleanerRun;
import io.varve.experiments.run.memory.FragmentationRun;
import io.varve.experiments.run.memory.MemoryFitRun;
import io.varve.experiments.run.memory.MemoryPerKeyRun;
import io.varve.experiments.run.placement.PlacementRun;
import io.varve.experiments.run.proxy.ProxyRun;
import io.varve.experiments.run.replication.ReplicationRun;
import io.varve.experiments.run.speed.LatencyRun;
import io.varve.experiments.run.speed.PaperRequestsRun;
import io.varve.experiments.run.speed.RedisBenchmark;
import io.varve.experiments.run.speed.SortedSetRun;
import io.varve.experiments.run.speed.ThroughputRun;
import io.varve.experiments.run.speed.WarmUpRun;
import io.varve.experiments.run.ycsb.LoadedDatabases;
import io.varve.experiments.run.ycsb.PenaltyRun;
import io.varve.experiments.run.ycsb.YcsbRun;
import io.varve.experiments.server.NoServer;
import io.varve.experiments.server.Pinning;
import io.varve.experiments.server.Target;
import io.varve.experiments.server.Targets;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.jspecify.annotations.Nullable;

/**
 * Executes one run from the server's start to its {@code run.json}. Several threads may each execute a run of their
 * own.
 */
public final class Runner {
    private static final int LATENCY_MONITOR_SECONDS = 30;

    private final Plan plan;
    private final Targets targets;
    private final RunFiles files;
    private final Progress progress;
    private final Cancellation cancellation;
    private final double loadPerCore;

    /** @param loadPerCore the load of the machine before the first run, NaN if it is unknown */
    public Runner(Plan plan, Targets targets, RunFiles files, Progress progress, Cancellation cancellation,
            double loadPerCore) {
        this.plan = plan;
        this.targets = targets;
        this.files = files;
        this.progress = progress;
        this.cancellation = cancellation;
        this.loadPerCore = loadPerCore;
    }

    /** Executes the only run at a time. */
    public RunRecord run(RunSpec run, Pinning pinning) throws IOException {
        return run(run, pinning, 1);
    }

    /**
     * @param atOnce number of concurrent runs, for the record
     * @return the record, which contains a fault of the run; only a failure of our own disk is thrown
     */
    public RunRecord run(RunSpec run, Pinning pinning, int atOnce) throws IOException {
        long startNanos = System.nanoTime();
        Path directory = files.of(run);
        clear(directory);
        MachineUsage usage = MachineUsage.start();
        Configuration configuration = plan.configuration(run);
        String startedAt = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        RunRecord record = null;
        try (Target target = open(run, configuration, pinning, directory)) {
            RunContext context = new RunContext(plan, run, directory, target, pinning, cancellation);
            context.metrics.put(RunMetrics.AT_ONCE, atOnce);
            record = measure(context, configuration, startedAt, usage, startNanos);
        } catch (IOException e) {
            if (record != null) {
                throw e; // the measurement is done, but the server did not stop
            }
            record = recordOfFailedStart(run, configuration, startedAt, e);
        }
        files.write(record);
        return record;
    }

    private Target open(RunSpec run, Configuration configuration, Pinning pinning, Path directory) throws IOException {
        if (plan.kind(run) == Kind.WARM_UP) {
            return new NoServer("a new process for each measurement, whose command is in the run's load");
        }
        if (plan.kind(run) == Kind.PLACEMENT) {
            return new NoServer("the cluster's placement inside the process of the experiment, without a server");
        }
        if (Plan.comparesAll(plan.kind(run))) {
            return new NoServer("a process for each configuration, whose command is in the run's load");
        }
        return !Plan.hasServer(plan.kind(run))
                ? new NoServer()
                : targets.open(configuration, plan.scale().embedded(),
                        plan.kind(run) == Kind.PENALTY ? workingSetShare(run, configuration) : plan.maxmemory(run),
                        serverCores(configuration, pinning), directory, plan.kind(run) == Kind.LATENCY);
    }

    /** The limit of a run of the penalty experiment: a share of the content of the server that evicts nothing. */
    private String workingSetShare(RunSpec run, Configuration configuration) throws IOException {
        if (Plan.evictsNothing(configuration)) {
            return plan.maxmemory(run);
        }
        Optional<RunSpec> measuring = plan.workingSetRun(run);
        if (measuring.isEmpty()) {
            throw new IOException("no configuration of the experiment has maxmemory-policy noeviction, which measures "
                    + "the working set");
        }
        double bytes = files.read(measuring.get()).filter(record -> record.outcome() == Outcome.OK)
                .map(record -> record.number(PenaltyText.SET_BYTES)).orElse(Double.NaN);
        if (!(bytes > 0)) {
            throw new IOException("its memory is a share of the final content of " + measuring.get().id()
                    + ", and that run is not complete");
        }
        int servers = Objects.requireNonNullElse(configuration.primaries(), 1);
        return String.valueOf(Math.round(bytes * plan.penalty(run).share() / servers));
    }

    private static String serverCores(Configuration configuration, Pinning pinning) {
        return pinning.serverCores(configuration.eventLoops(), Runtime.getRuntime().availableProcessors());
    }

    private static void clear(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> inside = Files.walk(directory)) {
                for (Path path : inside.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
        Files.createDirectories(directory);
    }

    private RunRecord measure(RunContext context, Configuration configuration, String startedAt, MachineUsage usage,
            long startNanos) throws IOException {
        progress.begin(context);
        try {
            context.serverVersion = Plan.hasServer(plan.kind(context.run)) ? flushed(context.target) : "Varve";
            load(context);
        } catch (IOException e) {
            context.faults.add(context.phase + ": " + (e.getMessage() == null ? e.toString() : e.getMessage()));
        } finally {
            progress.end(context);
        }
        context.metrics.put(BusyMachine.LOAD_AT_START, loadPerCore);
        usage.put(context.metrics);
        context.metrics.put(RunMetrics.RUN_SECONDS,
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos) / 1e3);
        context.isFailed();
        Outcome outcome = !context.faults.isEmpty() && !cancellation.isCancelled()
                ? Outcome.FAILED
                : cancellation.isCancelled() ? Outcome.INTERRUPTED : Outcome.OK;
        return new RunRecord(context.run, configuration.group(), outcome, List.copyOf(context.faults), startedAt,
                plan.experiment().name(), plan.scaleName(), plan.scale().about(), plan.experiment().seed(),
                context.serverVersion, context.target.startedBy(), configuration.settings(), context.load,
                Machine.describe(),
                List.copyOf(context.phases), context.metrics.asMap(), List.copyOf(context.checks),
                List.copyOf(context.cells));
    }

    /** Empties the server. @return its version */
    private static String flushed(Target target) throws IOException {
        try (RespConnection connection = new RespConnection(target.host(), target.port())) {
            connection.call("FLUSHALL");
            return ServerInfo.parse(connection.call("INFO")).serverVersion();
        }
    }

    private void load(RunContext context) throws IOException {
        switch (plan.kind(context.run)) {
            case YCSB -> {
                YcsbRun ycsb = new YcsbRun(context);
                monitored(context, ycsb::measure);
                ycsb.probe();
            }
            case EXPIRY -> monitored(context, new ExpiryRun(context)::measure);
            case MEMORY_FIT -> monitored(context, new MemoryFitRun(context)::measure);
            case MEMORY_PER_KEY -> monitored(context, new MemoryPerKeyRun(context)::measure);
            case FRAGMENTATION -> monitored(context, new FragmentationRun(context)::measure);
            case LATENCY -> latency(context);
            case CLEANER -> new CleanerRun(context).measure();
            case SIMULATED -> new SimulatedRun(context).measure();
            case OBSERVED -> new ObservedRun(context).measure();
            case POLICY_MEMORY -> new PolicyMemoryRun(context).measure();
            case TIERED -> monitored(context, new TieredRun(context)::measure);
            case EXPIRED_EVENTS -> new ExpiredEventsRun(context).measure();
            case PENALTY -> penalty(context);
            case SORTED_SET -> new SortedSetRun(context).measure();
            case THROUGHPUT -> throughput(context);
            case WARM_UP -> warmUp(context);
            case WRITE_AHEAD_LOG ->
                new WriteAheadLogRun(context, starter(context), generator(context)).measure();
            case LOCKS -> new LocksRun(context, starter(context)).measure();
            case CURVES -> new CurvesRun(context).measure();
            case PLACEMENT -> new PlacementRun(context).measure();
            case PROXY -> new ProxyRun(context, starter(context), targets).measure();
            case REPLICATION -> new ReplicationRun(context, starter(context),
                    starter(context, _ -> context.pinning.load()), generator(context)).measure();
            case PAPER_REQUESTS -> withRival(context, rival -> new PaperRequestsRun(context, rival).measure());
        }
    }

    /** Without a monitor: an INFO each second would be part of the measurement. */
    private void throughput(RunContext context) throws IOException {
        RedisBenchmark generator = generator(context);
        withRival(context, rival -> new ThroughputRun(context, rival, generator).measure());
    }

    private static RedisBenchmark generator(RunContext context) {
        return new RedisBenchmark(RedisBenchmark.find(System.getenv().getOrDefault("PATH", "")), context.pinning);
    }

    /** The run starts each server itself, since a started server is measured once. */
    private void warmUp(RunContext context) throws IOException {
        new WarmUpRun(context, starter(context), generator(context)).measure();
    }

    private ServerStarter starter(RunContext context) {
        return starter(context, configuration -> serverCores(configuration, context.pinning));
    }

    private ServerStarter starter(RunContext context, Function<Configuration, String> cores) {
        return (name, directory) -> {
            Configuration configuration = Objects.requireNonNull(plan.configurations().get(name));
            return targets.open(configuration, plan.scale().embedded(), plan.maxmemory(context.run),
                    cores.apply(configuration), directory, false);
        };
    }

    /** Measures the context's server and another one that alternates with it. */
    private interface AlternatingMeasurement {
        void measure(@Nullable Target rival) throws IOException;
    }

    private void withRival(RunContext context, AlternatingMeasurement measurement) throws IOException {
        Optional<String> rival = plan.rival();
        if (rival.isEmpty()) {
            measurement.measure(null);
            return;
        }
        Configuration configuration = Objects.requireNonNull(plan.configurations().get(rival.get()));
        Path directory = Files.createDirectories(context.directory.resolve(rival.get()));
        try (Target target = targets.open(configuration, false, plan.maxmemory(context.run),
                serverCores(configuration, context.pinning), directory, false)) {
            context.load.put("rival", target.startedBy());
            measurement.measure(target);
        }
    }

    /** Monitored rarely: an INFO is a request like any other, and a long one. */
    private void latency(RunContext context) throws IOException {
        RunRecord baseline = null;
        for (String name : plan.experiment().baselines()) {
            RunSpec run = context.run;
            RunSpec other = new RunSpec(run.workload(), run.size(), run.ttls(), run.threads(), name);
            if (!other.equals(run)) {
                baseline = files.read(other).filter(record -> record.outcome() == Outcome.OK).orElse(baseline);
            }
        }
        LatencyRun latency = new LatencyRun(context, baseline);
        monitored(context, LATENCY_MONITOR_SECONDS, latency::measure);
    }

    private void penalty(RunContext context) throws IOException {
        List<RunRecord> others = new ArrayList<>();
        for (RunSpec each : plan.runs()) {
            if (each.cell().equals(context.run.cell()) && !each.equals(context.run)) {
                files.read(each).filter(record -> record.outcome() == Outcome.OK).ifPresent(others::add);
            }
        }
        LoadedDatabases databases = new LoadedDatabases(files.directory(), context.run.size());
        PenaltyRun penalty = new PenaltyRun(context, databases, others);
        monitored(context, penalty::measure);
        penalty.compare();
        if (context.run.equals(plan.runs().getLast())) {
            databases.removeAll();
        }
    }

    /**
     * @throws InvalidExperimentException if a program that the plan needs is missing, or a run's definition is invalid
     */
    public static void require(Plan plan) {
        plan.runs().forEach(plan::serverVariant);
        for (RunSpec run : plan.runs()) {
            boolean startsAll = Plan.comparesAll(plan.kind(run));
            for (String name : startsAll ? plan.available() : List.of(run.configuration())) {
                if ((startsAll || plan.kind(run) == Kind.WARM_UP)
                        && Objects.requireNonNull(plan.configurations().get(name)).server() == Server.REMOTE) {
                    throw new InvalidExperimentException("--against '" + name + "': expected varve or redis,"
                            + " because this experiment starts its servers");
                }
            }
        }
        if (plan.scale().embedded() && plan.runs().stream().map(plan::kind).anyMatch(Kind.REPLICATION::equals)) {
            throw new InvalidExperimentException("scale '" + plan.scaleName() + "': expected embedded: false, because"
                    + " this experiment stops the process of a replica for some seconds");
        }
        if (plan.runs().stream().map(plan::kind).anyMatch(kind -> kind == Kind.THROUGHPUT || kind == Kind.WARM_UP
                || kind == Kind.WRITE_AHEAD_LOG || kind == Kind.REPLICATION)) {
            RedisBenchmark.find(System.getenv().getOrDefault("PATH", ""));
        }
    }

    private void monitored(RunContext context, RunContext.Part part) throws IOException {
        monitored(context, 1, part);
    }

    private void monitored(RunContext context, int everySeconds, RunContext.Part part) throws IOException {
        try (Monitor monitor = Monitor.start(context.target, context.gauge, context.directory, context.startNanos,
                everySeconds)) {
            context.monitor = monitor;
            part.run();
            context.isFailed();
            List<Sample> samples = monitor.samples();
            if (samples.isEmpty()) {
                context.faults.add("the monitor took no sample");
            } else {
                context.metrics.putMemory(samples);
            }
        } finally {
            context.monitor = null;
        }
    }

    private RunRecord recordOfFailedStart(RunSpec run, Configuration configuration, String startedAt,
            IOException fault) {
        return new RunRecord(run, configuration.group(),
                cancellation.isCancelled() ? Outcome.INTERRUPTED : Outcome.FAILED,
                List.of("the server did not start or stop: " + fault.getMessage()), startedAt,
                plan.experiment().name(), plan.scaleName(), plan.scale().about(), plan.experiment().seed(), "unknown",
                "", configuration.settings(), java.util.Map.of(), Machine.describe(), List.of(), java.util.Map.of(),
                List.of(), List.of());
    }
}
