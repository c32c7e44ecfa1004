package io.varve.server.check;

import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.offheap.Memory;
import io.varve.server.persistence.ReusedText;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.PayloadReader;
import io.varve.server.rdb.RdbException;
import io.varve.server.rdb.RdbReader;
import org.jspecify.annotations.Nullable;

/**
 * The content of an RDB file: read completely, with every value. Confined to one thread. It does not find a key or an
 * element that a file has twice, because its memory does not grow with their number.
 */
final class RdbReport implements RdbReader.Sink {
    private static final int MAX_FIELDS = 100;
    private static final int MAX_SECOND_DIGITS = 11;

    private final MemorySegment bytes;
    private final KeyCounts counts;
    private final List<String> fields = new ArrayList<>();
    private String version = "unknown";
    private RdbReader.Checksum checksum = RdbReader.Checksum.NOT_REACHED;
    private long libraries;
    private long end;
    private @Nullable RdbException problem;

    private RdbReport(MemorySegment bytes, long nowMillis) {
        this.bytes = bytes;
        counts = new KeyCounts(nowMillis);
    }

    /**
     * Reads a file.
     *
     * @param nowMillis the time at which keys have expired or not, ms since the epoch
     */
    static RdbReport of(MemorySegment bytes, long nowMillis, Progress progress) {
        RdbReport report = new RdbReport(bytes, nowMillis);
        try (ReusedText texts = new ReusedText(); ReusedText numbers = new ReusedText()) {
            report.read(texts, new PayloadReader(texts, numbers), progress);
        } catch (RdbException found) {
            report.problem = found;
        }
        return report;
    }

    private void read(ReusedText texts, PayloadReader values, Progress progress) throws RdbException {
        RdbReader reader = new RdbReader(bytes.address(), bytes.byteSize(), texts, this);
        version = reader.version();
        try {
            while (reader.next()) {
                readEntry(reader, values);
                progress.at(reader.offset(), reader.length());
            }
        } finally {
            end = reader.offset();
            checksum = reader.checksum();
        }
    }

    private void readEntry(RdbReader reader, PayloadReader values) throws RdbException {
        try {
            int length = values.readText(reader.key(), reader.value() - reader.key());
            counts.beginKey(values.text(), length);
        } catch (CorruptPayloadException corrupt) {
            throw new RdbException(reader.key() - bytes.address(), "the key that begins here is damaged");
        }
        try {
            values.readValue(reader.type(), reader.value(), reader.valueLength(), counts);
            counts.end(reader);
        } catch (CorruptPayloadException corrupt) {
            throw new RdbException(reader.value() - bytes.address(),
                    "the value that begins here is damaged; its key is "
                            + counts.key());
        }
    }

    @Override
    public void auxiliary(String name, String value) {
        if (fields.size() < MAX_FIELDS) {
            fields.add(SafeText.quote(name) + " " + SafeText.quote(value) + time(name, value));
        }
    }

    /** The time of the save, for people. */
    private static String time(String name, String value) {
        boolean isTime = name.equals("ctime") && !value.isEmpty() && value.length() <= MAX_SECOND_DIGITS
                && value.chars().allMatch(c -> c >= '0' && c <= '9');
        try {
            return isTime ? " (" + Instant.ofEpochSecond(Long.parseLong(value)) + ")" : "";
        } catch (DateTimeException tooLate) {
            return "";
        }
    }

    @Override
    public void sizes(int database, long keys, long expiring) {
        // They are hints of the writer: the keys themselves are counted.
    }

    @Override
    public void library(long offset, byte[] source) {
        libraries++;
    }

    /** Why the file cannot be read as a whole; null if it can. */
    @Nullable
    RdbException problem() {
        return problem;
    }

    /** The offset after the end of the RDB data, or after what could be read. */
    long end() {
        return end;
    }

    /** Whether commands of a log follow, as in files of Redis 4 to 6. Their RDB data have a checksum. */
    boolean isFollowedByCommands() {
        return end < bytes.byteSize() && checksum != RdbReader.Checksum.NONE
                && (Memory.getByte(bytes.address() + end) == '*' || Memory.getByte(bytes.address() + end) == '#');
    }

    /** Number of keys that could be read. */
    long keys() {
        return counts.keys();
    }

    void print(PrintStream out) {
        out.println("Version   " + SafeText.quote(version));
        fields.forEach(field -> out.println("Field     " + field));
        out.println("Checksum  " + switch (checksum) {
            case NOT_REACHED -> "not reached";
            case NONE -> "none: this version has no checksum";
            case SWITCHED_OFF -> "switched off when the file was written (rdbchecksum no)";
            case RIGHT -> "right";
            case WRONG -> "wrong";
        });
        if (libraries > 0) {
            out.println("Libraries " + Table.number(libraries) + " of functions, which were not compiled");
        }
        out.println();
        counts.print(out);
        out.println();
    }
}
