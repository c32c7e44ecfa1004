package io.varve.experiments.simulate;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import org.jspecify.annotations.Nullable;

/** Reads a trace's requests, line by line. Confined to one thread. */
final class TraceLines implements KeyStream {
    private static final int SECTOR_BYTES = 512;
    /**
     * Maximum size of a request or item. A block device's request is a few megabytes at most, and an item hardly more:
     * a larger number is from another column, and its sum could overflow.
     */
    private static final long MAX_BYTES = 1L << 32;
    private static final Hasher64 HASHER = Hashing.komihash5_0();

    private final TraceFile trace;
    private final BufferedReader reader;
    private final int keyColumn;
    private final int[] bytesColumns;
    /** -1 without such a column. */
    private final int operationColumn;
    private long line;
    private boolean any;
    private long key;
    private Operation operation = Operation.READ;
    private long bytes = 1;
    /** Remaining blocks of a request: the next, and the last. */
    private long block;
    private long lastBlock = -1;
    private long device;

    TraceLines(TraceFile trace, BufferedReader reader) {
        this.trace = trace;
        this.reader = reader;
        TraceColumns named = trace.columns();
        if (trace.format() == TraceFormat.CSV) {
            String names = readLine();
            List<String> columns = names == null
                    ? List.of()
                    : List.of(names.split(",", -1)).stream().map(String::strip).toList();
            keyColumn = column(columns, named.keyName(), "--column");
            bytesColumns = named.bytes().stream().mapToInt(name -> column(columns, name, "--bytes-column")).toArray();
            operationColumn = named.operation() == null
                    ? -1
                    : column(columns, named.operation(), "--operation-column");
        } else {
            keyColumn = 0;
            bytesColumns = new int[0];
            operationColumn = -1;
        }
    }

    private int column(List<String> columns, String name, String option) {
        int at = columns.indexOf(name);
        if (at < 0) {
            throw new InvalidTraceException(trace.path() + ": no column '" + name + "'; the columns are "
                    + String.join(", ", columns) + " (choose one with " + option + ")");
        }
        return at;
    }

    @Override
    public boolean next() {
        if (block <= lastBlock) {
            key = Mixing.mix(device + block++);
            return true;
        }
        String text = readLine();
        while (text != null && text.isBlank()) {
            text = readLine();
        }
        if (text == null) {
            if (!any) {
                throw new InvalidTraceException(trace.path() + ": the trace has no requests (is its format "
                        + trace.format().optionName() + "?)");
            }
            return false;
        }
        any = true;
        switch (trace.format()) {
            case KEYS -> key = hash(text);
            case CSV -> columns(text.split(",", -1));
            case SPC -> {
                String[] fields = text.split(",", -1);
                operation = either(field(fields, 3), "R", "W");
                request(field(fields, 0), sector(number(field(fields, 1))), number(field(fields, 2)));
            }
            case MSR -> {
                String[] fields = text.split(",", -1);
                operation = either(field(fields, 3), "Read", "Write");
                request(field(fields, 1) + "/" + field(fields, 2), number(field(fields, 4)), number(field(fields, 5)));
            }
        }
        return true;
    }

    private void columns(String[] fields) {
        key = hash(field(fields, keyColumn));
        if (operationColumn >= 0) {
            operation = operation(field(fields, operationColumn).strip());
        }
        if (bytesColumns.length > 0) {
            bytes = 0;
            for (int column : bytesColumns) {
                long part = number(field(fields, column));
                if (part < 0 || part > MAX_BYTES) {
                    throw wrong(part + " is not the size of an item", "0 to " + MAX_BYTES + " bytes");
                }
                bytes += part;
            }
        }
    }

    /** Hashes a key, which is any text: bytes of other file types are rejected. */
    private long hash(String field) {
        String text = field.strip();
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            if (Character.isISOControl(letter) && letter != '\t') {
                throw wrong(String.format(Locale.ROOT, "U+%04X in a key", (int) letter),
                        "text, plain or compressed by gzip, xz or zstd (is the format "
                                + trace.format().optionName() + "?)");
            }
        }
        return HASHER.hashCharsToLong(text);
    }

    private Operation operation(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "read", "get", "gets" -> Operation.READ;
            case "write", "set", "add", "replace", "cas", "append", "prepend", "incr", "decr", "insert", "update" ->
                Operation.WRITE;
            case "remove", "delete", "del", "unlink", "expire" -> Operation.REMOVE;
            default -> throw wrong("unknown operation '" + name + "'",
                    "read, get, gets; write, set, add, replace, cas, append, prepend, incr, decr, insert, update; "
                            + "remove, delete, del, unlink, expire");
        };
    }

    private Operation either(String name, String read, String write) {
        String named = name.strip();
        if (named.equalsIgnoreCase(read)) {
            return Operation.READ;
        }
        if (named.equalsIgnoreCase(write)) {
            return Operation.WRITE;
        }
        throw wrong("unknown operation '" + named + "'", read + " or " + write);
    }

    private long sector(long number) {
        if (number < 0 || number > Long.MAX_VALUE / SECTOR_BYTES) {
            throw wrong("sector " + number + " is out of range", "0 to " + Long.MAX_VALUE / SECTOR_BYTES);
        }
        return number * SECTOR_BYTES;
    }

    /** The first of its blocks becomes the key, the others follow. */
    private void request(String unit, long offset, long length) {
        if (length < 0 || length > MAX_BYTES) {
            throw wrong("a request of " + length + " bytes", "0 to " + MAX_BYTES);
        }
        if (offset < 0 || offset > Long.MAX_VALUE - MAX_BYTES) {
            throw wrong("byte " + offset + " is out of range", "0 to " + (Long.MAX_VALUE - MAX_BYTES));
        }
        device = HASHER.hashCharsToLong(unit);
        block = offset / trace.blockBytes();
        lastBlock = (offset + Math.max(1, length) - 1) / trace.blockBytes();
        bytes = trace.blockBytes();
        key = Mixing.mix(device + block++);
    }

    /** Also detects a truncated or damaged compressed file. */
    private @Nullable String readLine() {
        line++;
        try {
            return reader.readLine();
        } catch (IOException broken) {
            throw new InvalidTraceException(
                    String.format(Locale.ROOT, "%s, line %d: the file cannot be read further: %s",
                            trace.path(), line, broken.getMessage() == null ? broken : broken.getMessage()));
        }
    }

    private String field(String[] fields, int at) {
        if (at >= fields.length) {
            throw new InvalidTraceException(String.format(Locale.ROOT,
                    "%s, line %d: %d fields, but field %d is needed (is the format %s?)", trace.path(), line,
                    fields.length, at + 1, trace.format().optionName()));
        }
        return fields[at];
    }

    private long number(String field) {
        try {
            return Long.parseLong(field.strip());
        } catch (NumberFormatException none) {
            throw new InvalidTraceException(
                    String.format(Locale.ROOT, "%s, line %d: '%s' is not a whole number (is the format %s?)",
                            trace.path(), line, field, trace.format().optionName()));
        }
    }

    private InvalidTraceException wrong(String what, String allowed) {
        return new InvalidTraceException(
                String.format(Locale.ROOT, "%s, line %d: %s; expected %s", trace.path(), line, what, allowed));
    }

    @Override
    public long key() {
        return key;
    }

    @Override
    public Operation operation() {
        return operation;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
