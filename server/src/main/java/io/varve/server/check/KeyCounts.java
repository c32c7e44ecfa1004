package io.varve.server.check;

import java.io.PrintStream;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.rdb.RdbReader;
import io.varve.server.rdb.StreamSink;
import io.varve.server.rdb.ValueSink;

/**
 * Counts the keys of an RDB file by database and type, and finds the largest ones. Confined to one thread. Its memory
 * does not grow with the number of keys.
 */
final class KeyCounts implements ValueSink {
    private static final int LARGEST_KEYS = 10;
    /** Further databases are counted as one, because a damaged file can name any number of them. */
    private static final int MAX_DATABASES = 1_000;
    private static final int OTHER_DATABASES = Integer.MAX_VALUE;
    private static final int SCORE_BYTES = Double.BYTES;

    /** The counts of a type in a database. Confined to one thread. */
    private static final class Row {
        private long keys;
        private long expiring;
        private long expired;
        private long elements;
        private long payloadBytes;
        private long fileBytes;

        private void add(Row other) {
            keys += other.keys;
            expiring += other.expiring;
            expired += other.expired;
            elements += other.elements;
            payloadBytes += other.payloadBytes;
            fileBytes += other.fileBytes;
        }
    }

    /** One of the largest keys. Immutable. */
    private record LargeKey(int database, Kind kind, long payloadBytes, long elements, String key) {}

    private final long nowMillis;
    private final Map<Integer, Map<Kind, Row>> databases = new TreeMap<>();
    /** The smallest one first. */
    private final PriorityQueue<LargeKey> largest = new PriorityQueue<>(
            Comparator.comparingLong(LargeKey::payloadBytes));
    private byte[] key = new byte[0];
    private int keyLength;
    private Kind kind = Kind.STRING;
    private long elements;
    private long payloadBytes;
    private long empty;

    /** @param nowMillis the time at which keys have expired or not, ms since the epoch */
    KeyCounts(long nowMillis) {
        this.nowMillis = nowMillis;
    }

    /** Begins an entry, whose key is at this address. */
    void beginKey(long address, int length) {
        key = Memory.toArray(address, Math.min(length, SafeText.MAX_BYTES));
        keyLength = length;
        elements = 0;
        payloadBytes = length;
    }

    /** The key of the entry, in quotes. */
    String key() {
        return SafeText.quote(key, keyLength);
    }

    /** Ends the entry of the reader. It is no key if it is a collection without elements, which a start skips. */
    void end(RdbReader reader) {
        if (elements == 0 && kind != Kind.STREAM) {
            empty++;
            return;
        }
        boolean isFull = databases.size() >= MAX_DATABASES && !databases.containsKey(reader.database());
        Row row = databases
                .computeIfAbsent(isFull ? OTHER_DATABASES : reader.database(), _ -> new EnumMap<>(Kind.class))
                .computeIfAbsent(kind, _ -> new Row());
        row.keys++;
        if (reader.expireAtMillis() != Item.NEVER) {
            row.expiring++;
            row.expired += reader.expireAtMillis() <= nowMillis ? 1 : 0;
        }
        row.elements += elements;
        row.payloadBytes += payloadBytes;
        row.fileBytes += reader.value() - reader.key() + reader.valueLength();
        keepIfLarge(reader.database());
    }

    private void keepIfLarge(int database) {
        boolean isFull = largest.size() == LARGEST_KEYS;
        if (isFull && largest.element().payloadBytes() >= payloadBytes) {
            return;
        }
        if (isFull) {
            largest.remove();
        }
        largest.add(new LargeKey(database, kind, payloadBytes, elements, key()));
    }

    // --- elements

    @Override
    public void begin(Kind what) {
        kind = what;
    }

    @Override
    public void element(long address, int length) {
        elements++;
        payloadBytes += length;
    }

    @Override
    public void member(long address, int length, double score) {
        elements++;
        payloadBytes += length + (long) SCORE_BYTES;
    }

    @Override
    public void field(long field, int fieldLength, long value, int valueLength, long time) {
        elements++;
        payloadBytes += fieldLength + (long) valueLength;
    }

    /** The entries are the elements, and the bytes are those of the blocks. */
    @Override
    public StreamSink stream() {
        return (ms, seq, address, length, entries) -> {
            elements += entries;
            payloadBytes += length;
        };
    }

    // --- results

    /** Counts of all databases and types. */
    private Row total() {
        Row total = new Row();
        databases.values().forEach(types -> types.values().forEach(total::add));
        return total;
    }

    /** Number of keys. */
    long keys() {
        return total().keys;
    }

    void print(PrintStream out) {
        Table table = new Table("database", "type", "keys", "with expiry", "expired", "elements", "payload bytes",
                "file bytes");
        databases.forEach((database, types) -> types.forEach((type, row) -> print(table, name(database), name(type),
                row)));
        print(table, "all", "", total());
        table.print(out);
        if (empty > 0) {
            out.println();
            out.println(Table.number(empty) + " collections without elements, which a start skips");
        }
        if (largest.isEmpty()) {
            return;
        }
        Table keys = new Table("database", "type", "payload bytes", "elements", "key");
        List<LargeKey> sorted = largest.stream().sorted(Comparator.comparingLong(LargeKey::payloadBytes).reversed())
                .toList();
        for (LargeKey each : sorted) {
            keys.row(Integer.toString(each.database()), name(each.kind()), Table.number(each.payloadBytes()),
                    Table.number(each.elements()), each.key());
        }
        out.println();
        out.println("Largest keys");
        keys.print(out);
    }

    private static void print(Table table, String database, String type, Row row) {
        table.row(database, type, Table.number(row.keys), Table.number(row.expiring), Table.number(row.expired),
                Table.number(row.elements), Table.number(row.payloadBytes), Table.number(row.fileBytes));
    }

    private static String name(int database) {
        return database == OTHER_DATABASES ? "others" : Integer.toString(database);
    }

    /** The name of the type, as TYPE has it. */
    private static String name(Kind kind) {
        return switch (kind) {
            case STRING -> "string";
            case LIST -> "list";
            case SET -> "set";
            case SORTED_SET -> "zset";
            case HASH -> "hash";
            case STREAM -> "stream";
        };
    }
}
