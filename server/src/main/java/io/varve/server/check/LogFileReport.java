package io.varve.server.check;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

import io.varve.server.persistence.LogException;
import io.varve.server.persistence.LogReader;
import io.varve.server.rdb.RdbException;
import io.varve.server.rdb.RdbReader;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;

/** The content of a file of a log: read completely, also behind damage. Confined to one thread. */
final class LogFileReport {
    /** No command of the file has a time. */
    static final long NO_TIME = -1;

    private final Path file;
    private boolean exists = true;
    private boolean unsupported;
    private @Nullable RdbReport rdb;
    private @Nullable String problem;
    private long bytes;
    private long blocks;
    private long commands;
    private long transactions;
    private long firstMillis = NO_TIME;
    private long lastMillis = NO_TIME;
    private long tornBytes;
    private long intactBytes;
    private long lostCommands;

    private LogFileReport(Path file) {
        this.file = file;
    }

    /**
     * Reads a file.
     *
     * @param isLast whether it is the last file of its log, whose end may be torn
     */
    static LogFileReport of(Path file, boolean isLast, CommandCounts counts, long nowMillis, Progress progress)
            throws IOException {
        LogFileReport report = new LogFileReport(file);
        if (!Files.isRegularFile(file)) {
            report.exists = false;
            report.problem = file + ": the manifest lists it, but there is no such file";
            return report;
        }
        progress.begin(String.valueOf(file.getFileName()));
        try (NativeMemory memory = new NativeMemory()) {
            MemorySegment mapped = memory.map(file);
            report.bytes = mapped.byteSize();
            report.read(mapped, isLast, counts, nowMillis, progress);
        }
        return report;
    }

    private void read(MemorySegment mapped, boolean isLast, CommandCounts counts, long nowMillis, Progress progress) {
        long from = 0;
        if (RdbReader.isRdb(mapped.address(), bytes)) {
            RdbReport read = RdbReport.of(mapped, nowMillis, progress);
            rdb = read;
            RdbException found = read.problem();
            if (found != null) {
                problem = file + ": " + found.getMessage();
                unsupported = !found.isDamage();
                return;
            }
            from = read.end();
        }
        try {
            LogReader reader = new LogReader(file, mapped, from, isLast);
            long damage = readCommands(reader, counts, progress);
            if (problem != null || tornBytes > 0) {
                lostCommands = reader.commands() - reader.intactCommands() + reader.tornCommands()
                        + readableBehind(reader, damage);
            }
        } catch (LogException wrongHead) {
            problem = wrongHead.getMessage();
        }
    }

    /** @return where damage or the torn end begins; the length of the file if there is none */
    private long readCommands(LogReader reader, CommandCounts counts, Progress progress) {
        long damage = bytes;
        try {
            boolean more = true;
            while (more) {
                counts.nextBatch();
                more = reader.read(counts);
                noteTime(reader.timeMillis());
                progress.at(reader.offset(), bytes);
            }
            tornBytes = reader.tornBytes();
            damage = tornBytes > 0 ? reader.stoppedAt() : bytes;
        } catch (LogException damaged) {
            problem = damaged.getMessage();
            damage = damaged.offset();
        }
        blocks = reader.blocks();
        commands = reader.intactCommands();
        transactions = reader.transactions();
        intactBytes = reader.intactBytes();
        return damage;
    }

    private void noteTime(long millis) {
        if (millis >= 0) {
            firstMillis = firstMillis == NO_TIME ? millis : firstMillis;
            lastMillis = millis;
        }
    }

    /** Counts the commands of intact blocks behind damage. */
    private static long readableBehind(LogReader damaged, long offset) {
        long readable = 0;
        long damage = offset;
        for (LogReader next = damaged.behind(damage); next != null; next = next.behind(damage)) {
            CommandCounts ignored = new CommandCounts();
            try {
                boolean more = true;
                while (more) {
                    ignored.nextBatch();
                    more = next.read(ignored);
                }
                damage = next.tornBytes() > 0 ? next.stoppedAt() : next.length();
            } catch (LogException again) {
                damage = again.offset();
            }
            readable += next.commands() + next.tornCommands();
        }
        return readable;
    }

    Path file() {
        return file;
    }

    /** Whether the file is there. */
    boolean exists() {
        return exists;
    }

    /** The RDB data with which the file begins; null if it begins with commands. */
    @Nullable
    RdbReport rdb() {
        return rdb;
    }

    /** The damage, with file and offset; null if there is none. */
    @Nullable
    String problem() {
        return problem;
    }

    /** Whether the problem is no damage, but what Varve cannot read. */
    boolean isUnsupported() {
        return unsupported;
    }

    long bytes() {
        return bytes;
    }

    /** Intact blocks, up to damage. */
    long blocks() {
        return blocks;
    }

    /** Commands that a start would run. */
    long commands() {
        return commands;
    }

    long transactions() {
        return transactions;
    }

    /** When the first command ran, ms since the epoch, or {@link #NO_TIME}. */
    long firstMillis() {
        return firstMillis;
    }

    /** When the last command ran, ms since the epoch, or {@link #NO_TIME}. */
    long lastMillis() {
        return lastMillis;
    }

    /** Bytes of an end that a start would cut off. */
    long tornBytes() {
        return tornBytes;
    }

    /** Bytes that a repair would keep; 0 if damage is in front of all commands. */
    long intactBytes() {
        return intactBytes;
    }

    /** Commands that can be read, and that a repair would drop. */
    long lostCommands() {
        return lostCommands;
    }
}
