package io.varve.experiments.run.locks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.result.table.LocksText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.context.ServerStarter;
import io.varve.experiments.run.load.ClosedLoop;
import io.varve.experiments.run.load.InitialLoad;
import io.varve.experiments.server.OwnCores;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;

/**
 * Clients that use the same words behind servers with one shard and with several. Confined to the thread that does the
 * run. Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value Store", section 4.4,
 * Figure 5.
 *
 * <p>A client sends one request and waits for its reply. Under the read-write load two of three requests are reads, as
 * in process, but each has a word of its own.
 */
final class ServedWords {
    private static final long WARM_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final double NANOS_PER_MICRO = 1000;

    private record Contestant(String name, Target target, ClosedLoop clients) {}

    private final RunContext context;
    private final ServerStarter starter;
    private final RequestSet set;
    private final Size size;
    private final int words;
    private final long seed;
    private final KeyDistribution keys;
    private final List<Contestant> contestants = new ArrayList<>();
    private long missed;

    ServedWords(RunContext context, ServerStarter starter, RequestSet set, int words) {
        this.context = context;
        this.starter = starter;
        this.set = set;
        this.size = context.plan.size(context.run);
        this.words = words;
        this.seed = context.plan.experiment().seed();
        this.keys = new KeyDistribution(KeyDistribution.Kind.UNIF, words);
    }

    /** Number of reads that found no value. */
    long missed() {
        return missed;
    }

    void measure(BufferedWriter csv) throws IOException {
        try (OwnCores _ = OwnCores.take(context.pinning.load())) {
            for (String name : context.plan.available()) {
                start(name);
            }
            warmUp();
            RoundSeries series = new RoundSeries(csv, "served by ");
            for (int round = 1; round <= size.repetitions(); round++) {
                for (int reads : set.readPercents()) {
                    for (Contestant each : round % 2 == 1 ? contestants : contestants.reversed()) {
                        if (!run(series, round, reads, each)) {
                            return;
                        }
                    }
                }
            }
            series.put(context.metrics, LocksText.SERVED_OPS, LocksText.SERVED_CPU, NANOS_PER_MICRO);
            for (String baseline : context.plan.experiment().baselines()) {
                series.putRatios(context.metrics, LocksText.OVER_ONE_SHARD, baseline);
            }
        } finally {
            stop();
        }
    }

    /** @return whether to continue */
    private boolean run(RoundSeries series, int round, int reads, Contestant each) throws IOException {
        String death = each.target().death();
        if (death != null) {
            context.faults.add(each.name() + ": " + death);
        }
        if (context.cancellation.isCancelled() || context.isFailed()) {
            return false;
        }
        long cpuBefore = ProcessUsage.cpuMicros(each.target());
        ClosedLoop.Result result = each.clients().run(new ClosedLoop.Mix(reads, keys, seed + round), Long.MAX_VALUE,
                TimeUnit.SECONDS.toNanos(size.seconds()));
        double cpu = (ProcessUsage.cpuMicros(each.target()) - cpuBefore) * NANOS_PER_MICRO / result.requests();
        context.gauge.set(result.ops());
        missed += result.missed();
        series.add(round, LocksText.load(reads), each.name(), result.ops(), cpu);
        return true;
    }

    private void start(String name) throws IOException {
        Path directory = Files.createDirectories(context.directory.resolve(name));
        Target target = starter.start(name, directory);
        try {
            write(target);
            contestants.add(new Contestant(name, target,
                    new ClosedLoop(target, set.connections(), set, seed, context.cancellation)));
        } catch (IOException e) {
            target.close();
            throw e;
        }
        context.load.put("started-by " + name, target.startedBy());
    }

    /** Writes each word once. */
    private void write(Target target) throws IOException {
        try (RespConnection connection = new RespConnection(target.host(), target.port())) {
            InitialLoad.write(connection, set, seed, words, () -> false);
        }
    }

    private void warmUp() throws IOException {
        long start = System.nanoTime();
        long least = TimeUnit.SECONDS.toNanos((long) size.warmupSeconds() * contestants.size());
        for (int turn = 0; turn == 0 || System.nanoTime() - start < least; turn++) {
            for (int reads : set.readPercents()) {
                for (Contestant each : contestants) {
                    if (context.cancellation.isCancelled()) {
                        return;
                    }
                    each.clients().run(new ClosedLoop.Mix(reads, keys, seed - turn), Long.MAX_VALUE, WARM_TURN_NANOS);
                }
            }
        }
    }

    private void stop() throws IOException {
        IOException fault = null;
        for (Contestant each : contestants) {
            try {
                each.clients().close();
                each.target().close();
            } catch (IOException e) {
                fault = e;
            }
        }
        if (fault != null) {
            throw fault;
        }
    }
}
