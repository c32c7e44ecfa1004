package io.varve.experiments.curve;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;

import io.varve.experiments.simulate.KeySource;
import io.varve.experiments.simulate.KeyStream;
import io.varve.experiments.simulate.KeyStream.Operation;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.RespErrorException;
import io.varve.experiments.wire.ServerInfo;

/**
 * Compares the misses of a Varve server on a stream, at a given maxmemory, with the prediction of its own curve.
 * Confined to one thread.
 *
 * <p>The server evicts by {@code allkeys-lru}. Reads are GETRANGE of one byte, which finds and counts as GET does; an
 * absent key is SET before the next request. No key occurs twice in a batch, so that each request sees the effect of
 * those before it. The ratio is measured over the second half of the stream, and the curve is read at its end. The
 * curve covers about the last ten windows; a stream has twenty.
 */
public final class ServerMisses {
    /** Allowed difference, points. */
    public static final double LIMIT = 2;
    /** Sizes of maxmemory, as fractions of the size of all items. */
    private static final List<Double> PARTS = List.of(0.1, 0.25, 0.5);
    private static final List<String> CHANGED = List.of("maxmemory", "maxmemory-policy", "mrc-window", "mrc-tracking");
    private static final long LARGEST_VALUE_BYTES = 512 << 20;
    private static final int BATCH = 100;
    private static final int WINDOWS = 20;
    private static final int MIN_WINDOW = 10_000;
    private static final String KEY_PREFIX = "mrc:key:";
    private static final int KEY_BYTES = KEY_PREFIX.length() + 2 * Long.BYTES;
    /** The value size if all items are alike. */
    private static final int USUAL_VALUE_BYTES = 200;
    /** Approximate bytes of an item beside key and value. */
    private static final int ITEM_OVERHEAD_BYTES = 40;
    private static final double PERCENT = 100;

    private final RespConnection server;
    private final ByteArrayOutputStream batch = new ByteArrayOutputStream();
    private final Set<Long> inBatch = new HashSet<>();
    private final List<BatchCommand> commands = new ArrayList<>();
    private byte[] value = new byte[0];

    /** A command of a batch. Immutable. */
    private record BatchCommand(Operation operation, long key, long bytes) {}

    /**
     * The result of a stream at a maxmemory. Immutable.
     *
     * @param part fraction of the size of all its items
     * @param measured share of the reads that missed
     * @param predicted that share by the server's curve
     */
    public record Row(String stream, double part, long maxmemoryBytes, long reads, double measured, double predicted) {
        /** The difference, points. */
        public double error() {
            return Math.abs(predicted - measured) * PERCENT;
        }
    }

    public ServerMisses(RespConnection server) {
        this.server = server;
    }

    /**
     * Empties the server, and sends it the whole stream at each of some sizes of maxmemory. Afterwards the server is
     * empty and has its earlier settings.
     *
     * @throws IOException if the server cannot be reached, or is not a Varve that records accesses
     */
    public List<Row> measure(KeySource source) throws IOException {
        long all = bytes(source);
        List<String> before = new ArrayList<>(List.of("CONFIG", "SET"));
        for (String setting : CHANGED) {
            List<String> reply = server.call("CONFIG", "GET", setting).lines().toList();
            if (reply.size() != 2) {
                throw new IOException("it has no setting '" + setting + "': expected a Varve server");
            }
            before.addAll(reply);
        }
        List<Row> rows = new ArrayList<>();
        try {
            for (double part : PARTS) {
                rows.add(measure(source, part, Math.round(part * all)));
            }
        } finally {
            server.call("FLUSHALL");
            server.call(before.toArray(String[]::new));
        }
        return rows;
    }

    /** The size of all items of a stream; approximate if its keys are drawn. */
    private static long bytes(KeySource source) throws IOException {
        Map<Long, Long> items = new HashMap<>();
        try (KeyStream stream = source.open()) {
            while (stream.next()) {
                if (stream.operation() != Operation.REMOVE) {
                    items.put(stream.key(), stream.bytes());
                }
            }
        }
        boolean sized = source.hasSizes();
        return items.values().stream().mapToLong(bytes -> KEY_BYTES + valueBytes(sized, bytes) + ITEM_OVERHEAD_BYTES)
                .sum();
    }

    private static long valueBytes(boolean sized, long bytes) {
        if (bytes > LARGEST_VALUE_BYTES) {
            throw new IllegalArgumentException("an item of " + bytes + " bytes: expected at most 512 MB");
        }
        return sized ? Math.max(1, bytes - KEY_BYTES) : USUAL_VALUE_BYTES;
    }

    private Row measure(KeySource source, double part, long maxmemory) throws IOException {
        long requests = count(source);
        server.call("FLUSHALL");
        server.call("CONFIG", "SET", "mrc-tracking", "no");
        server.call("CONFIG", "SET", "maxmemory", String.valueOf(maxmemory), "maxmemory-policy", "allkeys-lru",
                "mrc-window", String.valueOf(Math.max(MIN_WINDOW, requests / WINDOWS)), "mrc-tracking", "yes");
        ServerInfo half = null;
        long done = 0;
        try (KeyStream stream = source.open()) {
            while (stream.next()) {
                request(stream, source.hasSizes());
                if (++done == requests / 2) {
                    flush();
                    half = info();
                }
            }
        }
        flush();
        ServerInfo end = info();
        if (half == null) {
            throw new IOException(source.describe() + " has fewer than two requests");
        }
        long hits = number(end, "keyspace_hits") - number(half, "keyspace_hits");
        long misses = number(end, "keyspace_misses") - number(half, "keyspace_misses");
        OptionalDouble predicted = end.decimal("mrc_miss_ratio_maxmemory");
        if (predicted.isEmpty()) {
            throw new IOException("the server's INFO has no mrc_miss_ratio_maxmemory");
        }
        return new Row(source.describe(), part, maxmemory, hits + misses, (double) misses / (hits + misses),
                predicted.getAsDouble());
    }

    private static long count(KeySource source) throws IOException {
        long requests = 0;
        try (KeyStream stream = source.open()) {
            while (stream.next()) {
                requests++;
            }
        }
        return requests;
    }

    private ServerInfo info() throws IOException {
        return ServerInfo.parse(server.call("INFO", "everything"));
    }

    private static long number(ServerInfo info, String field) throws IOException {
        return info.number(field).orElseThrow(() -> new IOException("the server's INFO has no " + field));
    }

    private void request(KeyStream stream, boolean sized) throws IOException {
        if (commands.size() == BATCH || inBatch.contains(stream.key())) {
            flush();
        }
        inBatch.add(stream.key());
        long bytes = valueBytes(sized, stream.bytes());
        commands.add(new BatchCommand(stream.operation(), stream.key(), bytes));
        switch (stream.operation()) {
            case READ -> command("GETRANGE", name(stream.key()), "0", "0");
            case WRITE -> set(stream.key(), bytes);
            case REMOVE -> command("DEL", name(stream.key()));
        }
        if (stream.updates()) {
            commands.add(new BatchCommand(Operation.WRITE, stream.key(), bytes));
            set(stream.key(), bytes);
        }
    }

    /** Sends the requests, and writes the keys that were absent. */
    private void flush() throws IOException {
        send();
        List<String> replies = replies(commands.size());
        List<BatchCommand> absent = new ArrayList<>();
        for (int i = 0; i < replies.size(); i++) {
            if (commands.get(i).operation == Operation.READ && replies.get(i).isEmpty()) {
                absent.add(commands.get(i));
            }
        }
        for (BatchCommand each : absent) {
            set(each.key, each.bytes);
        }
        send();
        replies(absent.size());
        commands.clear();
        inBatch.clear();
    }

    /** Reads all replies before it reports the first error, so that the connection stays usable. */
    private List<String> replies(int count) throws IOException {
        List<String> replies = new ArrayList<>();
        RespErrorException refused = null;
        for (int i = 0; i < count; i++) {
            try {
                replies.add(server.readReply());
            } catch (RespErrorException error) {
                refused = refused == null ? error : refused;
            }
        }
        if (refused != null) {
            throw refused;
        }
        return replies;
    }

    private void send() throws IOException {
        server.send(batch.toByteArray(), batch.size());
        batch.reset();
    }

    private static String name(long key) {
        return KEY_PREFIX + String.format(Locale.ROOT, "%016x", key);
    }

    private void set(long key, long bytes) throws IOException {
        int length = Math.toIntExact(bytes);
        if (value.length < length) {
            value = "v".repeat(2 * length).getBytes(StandardCharsets.US_ASCII);
        }
        appendHeader(3, "SET", name(key));
        batch.write(("$" + length + "\r\n").getBytes(StandardCharsets.US_ASCII));
        batch.write(value, 0, length);
        batch.write('\r');
        batch.write('\n');
    }

    private void command(String... words) throws IOException {
        appendHeader(words.length, words);
    }

    private void appendHeader(int count, String... words) throws IOException {
        StringBuilder text = new StringBuilder("*").append(count).append("\r\n");
        for (String word : words) {
            text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        batch.write(text.toString().getBytes(StandardCharsets.US_ASCII));
    }

    /** Whether all predictions are near enough to the measurements. */
    public static boolean areAccurate(List<Row> rows) {
        return rows.stream().allMatch(row -> row.error() <= LIMIT);
    }

    public static void printHeader(PrintWriter out) {
        out.println(
                "Share of reads that missed in the second half of a stream, measured and predicted by the server's curve");
        out.printf("%-52s %6s %14s %11s  %10s  %12s  %6s%n", "stream", "size", "maxmemory", "reads", "measured, %",
                "predicted, %", "points");
        out.flush();
    }

    public static void printRows(List<Row> rows, PrintWriter out) {
        for (Row row : rows) {
            out.printf(Locale.ROOT, "%-52s %5.0f%% %,14d %,11d  %11.2f  %12.2f  %6.2f%s%n", row.stream,
                    row.part * PERCENT, row.maxmemoryBytes, row.reads, row.measured * PERCENT,
                    row.predicted * PERCENT, row.error(), row.error() <= LIMIT ? "" : "  TOO LARGE");
        }
        out.flush();
    }

    public static void printSummary(List<Row> rows, PrintWriter out) {
        out.printf(Locale.ROOT, "mean error %.2f points, largest %.2f, %.0f allowed: %s%n",
                rows.stream().mapToDouble(Row::error).average().orElse(0),
                rows.stream().mapToDouble(Row::error).max().orElse(0), LIMIT, areAccurate(rows) ? "held" : "NOT HELD");
        out.flush();
    }

    /** The CSV's line of names. */
    public static void printCsvHeader(PrintWriter out) {
        out.println("stream,part,maxmemory_bytes,reads,measured,predicted,points");
        out.flush();
    }

    /** The CSV's lines, one for each size. */
    public static void printCsv(List<Row> rows, PrintWriter out) {
        for (Row row : rows) {
            out.printf(Locale.ROOT, "\"%s\",%.2f,%d,%d,%.6f,%.6f,%.4f%n", row.stream, row.part, row.maxmemoryBytes,
                    row.reads, row.measured, row.predicted, row.error());
        }
        out.flush();
    }
}
