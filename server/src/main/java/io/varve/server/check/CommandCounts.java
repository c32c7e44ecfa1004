package io.varve.server.check;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.RequestSink;
import io.varve.server.resp.Shortage;

/** Counts the commands of a log by name. Confined to one thread. Its memory does not grow with their number. */
final class CommandCounts implements RequestSink {
    private static final int PRINTED = 20;
    /** Further names are counted as one, because a damaged file can have any number of them. */
    private static final int MAX_NAMES = 1_000;
    private static final String OTHERS = "others";
    private static final int BATCH = 1_000;

    /** The counts of a name. Confined to one thread. */
    private static final class Row {
        private long commands;
        private long bytes;

        private void add(Row other) {
            commands += other.commands;
            bytes += other.bytes;
        }
    }

    private final Map<String, Row> names = new HashMap<>();
    private Row row = new Row();
    private boolean nameFollows;
    private int batch;

    /** Accepts another batch of commands. */
    void nextBatch() {
        batch = 0;
    }

    @Override
    public void beginRequest(int arguments) {
        nameFollows = true;
    }

    @Override
    public void argument(long address, int length) {
        if (nameFollows) {
            nameFollows = false;
            row = rowOf(name(address, length));
            row.commands++;
        }
        row.bytes += length;
    }

    private static String name(long address, int length) {
        byte[] bytes = Memory.toArray(address, Math.min(length, SafeText.MAX_BYTES));
        for (byte b : bytes) {
            if (b <= ' ' || b == '"' || b == '\\' || b == 0x7F) {
                return SafeText.quote(bytes, length);
            }
        }
        return new String(bytes, StandardCharsets.US_ASCII).toUpperCase(Locale.ROOT);
    }

    private Row rowOf(String name) {
        Row known = names.get(name);
        return known != null || names.size() < MAX_NAMES
                ? names.computeIfAbsent(name, _ -> new Row())
                : names.computeIfAbsent(OTHERS, _ -> new Row());
    }

    @Override
    public void runArgument(ValueRun run) {
        throw new UnsupportedOperationException("a file has no runs");
    }

    @Override
    public void endRequest(Shortage shortage) {
        batch++;
    }

    @Override
    public void abandonRequest() {
        throw new UnsupportedOperationException("a command of a file is complete");
    }

    @Override
    public boolean isFull() {
        return batch == BATCH;
    }

    boolean isEmpty() {
        return names.isEmpty();
    }

    void print(PrintStream out) {
        List<Map.Entry<String, Row>> sorted = names.entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, Row> each) -> -each.getValue().commands)
                        .thenComparing(Map.Entry::getKey))
                .toList();
        Table table = new Table("command", "commands", "bytes of arguments");
        sorted.stream().limit(PRINTED).forEach(each -> print(table, each.getKey(), each.getValue()));
        if (sorted.size() > PRINTED) {
            Row rest = new Row();
            sorted.stream().skip(PRINTED).forEach(each -> rest.add(each.getValue()));
            print(table, (sorted.size() - PRINTED) + " other names", rest);
        }
        table.print(out);
    }

    private static void print(Table table, String name, Row row) {
        table.row(name, Table.number(row.commands), Table.number(row.bytes));
    }
}
