package io.varve.experiments.run.locks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.LocksLoad;
import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.LocksText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.context.ServerStarter;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;

/**
 * Measures stores that differ in their locks: threads in this process use them at full speed (Table 2), then clients
 * use servers that differ likewise (Figure 5). Confined to the thread that does the run, which starts the others.
 * Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value Store", section 4.4.
 *
 * <p>Stores and servers take turns within a round, and the order changes with each round. A ratio has two measurements
 * of one round.
 */
public final class LocksRun {
    private static final byte FIRST_VALUE = 1;
    private static final long WARM_TURN_MILLIS = 500;

    private final RunContext context;
    private final ServerStarter starter;
    private final LocksLoad load;
    private final RequestSet set;
    private final Size size;
    private final int words;
    private final long seed;
    private long missed;

    public LocksRun(RunContext context, ServerStarter starter) {
        this.context = context;
        this.starter = starter;
        this.load = context.plan.locks(context.run);
        this.set = context.plan.requests(context.run);
        this.size = context.plan.size(context.run);
        this.words = Math.toIntExact(context.plan.keys(context.run));
        this.seed = context.plan.experiment().seed();
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("words", String.valueOf(words));
        context.load.put("rounds", String.valueOf(size.repetitions()));
        context.load.put("seconds", String.valueOf(size.seconds()));
    }

    public void measure() throws IOException {
        Map<String, StoreThreads> stores = new LinkedHashMap<>();
        List<WordStore> opened = new ArrayList<>();
        try (BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(RunFiles.LOCKS_CSV))) {
            csv.write("round,load,store,requests_per_second,cpu_ns_per_request\n");
            context.phase("fill", () -> open(stores, opened));
            context.phase("warm up", () -> warmUp(stores));
            context.phase("in process", () -> compare(stores, csv));
            stores.clear();
            closeAll(opened);
            ServedWords served = new ServedWords(context, starter, set, words);
            context.phase("served", () -> served.measure(csv));
            missed += served.missed();
        } finally {
            context.gauge.set(0);
            closeAll(opened);
        }
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            context.checks.add(Check.atMost("reads that missed", missed, 0));
        }
    }

    private static void closeAll(List<WordStore> stores) {
        stores.forEach(WordStore::close);
        stores.clear();
    }

    /** The words, a copy for each store: no store sees the objects of another one. */
    private Word[] words() {
        Word[] all = new Word[words];
        for (int i = 0; i < words; i++) {
            byte[] bytes = new byte[set.keyBytes()];
            set.putKey(seed, i, bytes);
            all[i] = new Word(bytes);
        }
        return all;
    }

    private void open(Map<String, StoreThreads> stores, List<WordStore> opened) throws IOException {
        byte[] value = new byte[set.values().max()];
        Arrays.fill(value, FIRST_VALUE);
        for (String name : load.stores()) {
            WordStore store = open(name);
            opened.add(store);
            fill(store, value);
            stores.put(name, new StoreThreads(store, load.threads(), words, value, seed, context.cancellation));
        }
    }

    private WordStore open(String name) throws IOException {
        return switch (name) {
            case LocksLoad.ONE_LOCK -> LockedMaps.withOneLock(words());
            case LocksLoad.READERS_WRITER_LOCK -> LockedMaps.withReadersWriterLock(words());
            case LocksLoad.SEGMENT_LOCKS -> LockedMaps.withSegments(words(), load.segments());
            case LocksLoad.VARVE -> varve();
            default -> throw new IOException("store '" + name + "': expected " + String.join(", ", LocksLoad.ONE_LOCK,
                    LocksLoad.READERS_WRITER_LOCK, LocksLoad.SEGMENT_LOCKS, LocksLoad.VARVE));
        };
    }

    /** The cache as the server configures it by default. */
    private WordStore varve() throws IOException {
        try {
            return new VarveStore(ServerConfig.defaults().with("maxmemory", context.plan.maxmemory(context.run))
                    .validate().cacheConfig(), words());
        } catch (ConfigException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private void fill(WordStore store, byte[] value) {
        WordStore.Access access = store.open();
        for (int i = 0; i < words; i++) {
            access.write(i, value);
        }
    }

    /** All loads and stores in turns, until their code is compiled. */
    private void warmUp(Map<String, StoreThreads> stores) throws IOException {
        long start = System.nanoTime();
        long least = TimeUnit.SECONDS.toNanos((long) size.warmupSeconds() * stores.size());
        do {
            for (int reads : set.readPercents()) {
                for (StoreThreads threads : stores.values()) {
                    if (context.cancellation.isCancelled()) {
                        return;
                    }
                    threads.run(reads < 100, WARM_TURN_MILLIS);
                }
            }
        } while (System.nanoTime() - start < least);
    }

    private void compare(Map<String, StoreThreads> stores, BufferedWriter csv) throws IOException {
        RoundSeries series = new RoundSeries(csv, "");
        for (int round = 1; round <= size.repetitions(); round++) {
            for (int reads : set.readPercents()) {
                String name = LocksText.load(reads);
                List<String> order = new ArrayList<>(stores.keySet());
                for (String store : round % 2 == 1 ? order : order.reversed()) {
                    if (context.cancellation.isCancelled()) {
                        return;
                    }
                    StoreThreads.Result result = Objects.requireNonNull(stores.get(store)).run(reads < 100,
                            TimeUnit.SECONDS.toMillis(size.seconds()));
                    context.gauge.set(result.ops());
                    missed += result.missed();
                    series.add(round, name, store, result.ops(), result.cpuNanosPerOp());
                }
            }
        }
        series.put(context.metrics, LocksText.OPS, LocksText.CPU_NANOS, 1);
        series.putRatios(context.metrics, LocksText.OVER_ONE_LOCK, load.stores().getFirst());
    }
}
