package io.varve.experiments.run.speed;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.HdrHistogram.Histogram;

/**
 * Measures one large sorted set: its memory per member, the latency of queries, and the latency of other clients while
 * it is deleted. Confined to the thread that does the run, except the other client.
 */
public final class SortedSetRun {
    private static final String KEY = "members";
    /** Number of members of one ZADD, and of outstanding ZADDs. */
    private static final int BATCH = 100;
    private static final int ON_THE_WAY = 16;
    private static final int RANGE_MEMBERS = 10;
    private static final double MICRO = 1000;
    private static final double MILLI = 1e6;
    private static final long POLL_MILLIS = 100;
    private static final long MAX_WAIT_MILLIS = 120_000;
    /** Maximum memory that may remain of a deleted set, bytes a member. */
    private static final double FREED_BYTES = 4;
    private static final double MAX_WAIT_WHILE_DELETED_MILLIS = 5;

    private final RunContext context;
    private final Map<String, String> workload;
    private final int members;
    private final int questions;
    private final int seconds;
    private final SplittableRandom random;

    public SortedSetRun(RunContext context) {
        this.context = context;
        workload = context.plan.workload(context.run);
        members = Math.toIntExact(context.plan.keys(context.run));
        questions = Integer.parseInt(workload.getOrDefault("questions", "20000"));
        seconds = Math.max(1, context.plan.size(context.run).seconds());
        random = new SplittableRandom(context.plan.experiment().seed());
        context.load.putAll(workload);
        context.load.put("members", String.valueOf(members));
    }

    public void measure() throws IOException {
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            long usedBefore = usedMemory(connection);
            long residentBefore = ProcessUsage.residentBytes(context.target);
            context.phase("load", () -> load(connection));
            context.phase("rest", () -> context.pause(seconds * 1000L));
            context.phase("memory", () -> memory(connection, usedBefore, residentBefore));
            context.phase("queries", () -> runQueries(connection));
            context.phase("delete", () -> delete(connection, usedBefore));
        }
    }

    private static String member(int number) {
        return String.format(Locale.ROOT, "member:%09d", number);
    }

    private void load(RespConnection connection) throws IOException {
        long start = System.nanoTime();
        int onTheWay = 0;
        for (int next = 0; next < members && !context.cancellation.isCancelled() && !context.isFailed();) {
            int end = Math.min(members, next + BATCH);
            StringBuilder request = new StringBuilder().append('*').append(2 + 2 * (end - next)).append("\r\n");
            word(request, "ZADD");
            word(request, KEY);
            for (; next < end; next++) {
                word(request, String.valueOf(random.nextDouble()));
                word(request, member(next));
            }
            connection.send(request.toString().getBytes(StandardCharsets.US_ASCII), request.length());
            if (++onTheWay == ON_THE_WAY) {
                connection.readReply();
                onTheWay--;
            }
            context.gauge.set(next * 1e9 / (System.nanoTime() - start));
        }
        for (; onTheWay > 0; onTheWay--) {
            connection.readReply();
        }
        context.metrics.put("load_throughput_ops", members * 1e9 / (System.nanoTime() - start));
        context.gauge.set(0);
    }

    private static void word(StringBuilder request, String word) {
        request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }

    private void memory(RespConnection connection, long usedBefore, long residentBefore) throws IOException {
        long there = Long.parseLong(connection.call("ZCARD", KEY));
        if (there != members) {
            context.faults.add(there + " members instead of " + members);
            return;
        }
        double used = (double) (usedMemory(connection) - usedBefore) / members;
        context.metrics.put("members", members);
        context.metrics.put("used_memory_bytes_per_member", used);
        context.metrics.put("resident_bytes_per_member",
                (double) (ProcessUsage.residentBytes(context.target) - residentBefore) / members);
        String limit = workload.get("limit-bytes-per-member");
        if (limit != null && isVarve()) {
            context.checks.add(Check.atMost("used_memory, bytes per member", used, Double.parseDouble(limit)));
        }
    }

    private boolean isVarve() {
        return context.plan.configuration(context.run).server() == Server.VARVE;
    }

    private static long usedMemory(RespConnection connection) throws IOException {
        return ServerInfo.parse(connection.call("INFO", "memory")).number("used_memory").orElse(0);
    }

    // --- queries

    private void runQueries(RespConnection connection) throws IOException {
        measure(connection, "PING", () -> new String[] {"PING"});
        measure(connection, "ZSCORE", () -> new String[] {"ZSCORE", KEY, any()});
        measure(connection, "ZRANK", () -> new String[] {"ZRANK", KEY, any()});
        measure(connection, "ZRANGE", () -> {
            int first = random.nextInt(Math.max(1, members - RANGE_MEMBERS));
            return new String[] {"ZRANGE", KEY, String.valueOf(first), String.valueOf(first + RANGE_MEMBERS - 1)};
        });
        measure(connection, "ZRANGEBYSCORE", () -> new String[] {"ZRANGEBYSCORE", KEY,
                String.valueOf(random.nextDouble()), "+inf", "LIMIT", "0", String.valueOf(RANGE_MEMBERS)});
        measure(connection, "ZADD", () -> new String[] {"ZADD", KEY, String.valueOf(random.nextDouble()), any()});
    }

    private String any() {
        return member(random.nextInt(members));
    }

    /** Creates the words of a command. */
    private interface Words {
        String[] next();
    }

    private void measure(RespConnection connection, String name, Words words) throws IOException {
        Histogram delays = new Histogram(3);
        for (int i = 0; i < questions && !context.cancellation.isCancelled() && !context.isFailed(); i++) {
            String[] command = words.next();
            long start = System.nanoTime();
            connection.call(command);
            delays.recordValue(System.nanoTime() - start);
        }
        context.metrics.put("latency_p50_us " + name, delays.getValueAtPercentile(50) / MICRO);
        context.metrics.put("latency_p99_us " + name, delays.getValueAtPercentile(99) / MICRO);
    }

    // --- deletion

    /** Another client, which sends its next request immediately after each reply. It has its own thread. */
    private static final class Bystander implements AutoCloseable {
        private final RespConnection connection;
        private final CompletableFuture<Histogram> pings;
        private volatile boolean ended;

        Bystander(Target target) throws IOException {
            connection = new RespConnection(target.host(), target.port());
            pings = CompletableFuture.supplyAsync(this::ping, task -> Thread.ofPlatform().daemon().start(task));
        }

        private Histogram ping() {
            Histogram delays = new Histogram(3);
            try {
                while (!ended) {
                    long start = System.nanoTime();
                    connection.call("PING");
                    delays.recordValue(System.nanoTime() - start);
                }
            } catch (IOException broken) {
                throw new CompletionException(broken);
            }
            return delays;
        }

        /** Its response times, nanoseconds. */
        Histogram end() throws IOException {
            ended = true;
            try {
                return pings.join();
            } catch (CompletionException failed) {
                throw new IOException("the other client failed: " + failed.getMessage(), failed);
            }
        }

        @Override
        public void close() throws IOException {
            ended = true;
            connection.close();
        }
    }

    private void delete(RespConnection connection, long usedBefore) throws IOException {
        try (Bystander before = new Bystander(context.target)) {
            context.pause(seconds * 1000L);
            recordWaits("before", before.end());
        }
        try (Bystander beside = new Bystander(context.target)) {
            long start = System.nanoTime();
            connection.call("DEL", KEY);
            context.metrics.put("delete_ms", (System.nanoTime() - start) / MILLI);
            long end = context.elapsedMillis() + MAX_WAIT_MILLIS;
            while (usedMemory(connection) - usedBefore > FREED_BYTES * members && !context.cancellation.isCancelled()
                    && !context.isFailed()) {
                if (context.elapsedMillis() > end) {
                    context.faults.add("the memory was not released within " + MAX_WAIT_MILLIS / 1000 + " s");
                    return;
                }
                context.pause(POLL_MILLIS);
            }
            context.metrics.put("memory_back_ms", (System.nanoTime() - start) / MILLI);
            Histogram waits = beside.end();
            recordWaits("while deleted", waits);
            if (isVarve()) {
                context.checks.add(Check.atMost("longest wait of another client during the deletion, ms",
                        waits.getMaxValue() / MILLI, MAX_WAIT_WHILE_DELETED_MILLIS));
            }
        }
    }

    private void recordWaits(String when, Histogram waits) {
        context.metrics.put("bystander_p999_us " + when, waits.getValueAtPercentile(99.9) / MICRO);
        context.metrics.put("bystander_longest_ms " + when, waits.getMaxValue() / MILLI);
    }
}
