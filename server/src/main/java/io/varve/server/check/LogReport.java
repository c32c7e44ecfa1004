package io.varve.server.check;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileSystemException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.persistence.LogManifest;
import org.jspecify.annotations.Nullable;

/** The content of a log, file by file. Confined to one thread. */
final class LogReport {
    private final LogDirectory directory;
    private final List<LogFileReport> files = new ArrayList<>();
    private final CommandCounts counts = new CommandCounts();
    private @Nullable LogManifest manifest;
    /** The fault of the manifest. */
    private @Nullable String manifestProblem;

    private LogReport(LogDirectory directory) {
        this.directory = directory;
    }

    /**
     * Reads a log.
     *
     * @param nowMillis the time at which keys of the base have expired or not, ms since the epoch
     * @throws IOException if a file cannot be read, which is no damage
     */
    static LogReport of(LogDirectory directory, long nowMillis, Progress progress) throws IOException {
        LogReport report = new LogReport(directory);
        try {
            report.manifest = LogManifest.read(directory.manifest());
        } catch (FileSystemException | FileNotFoundException unreadable) {
            throw unreadable;
        } catch (IOException damaged) {
            report.manifestProblem = damaged.getMessage();
            return report;
        }
        List<String> names = report.manifest.names();
        for (int i = 0; i < names.size(); i++) {
            report.files.add(LogFileReport.of(directory.directory().resolve(names.get(i)), i == names.size() - 1,
                    report.counts, nowMillis, progress));
        }
        return report;
    }

    /** The manifest; null if it is damaged. */
    @Nullable
    LogManifest manifest() {
        return manifest;
    }

    /** The files in the order of the manifest: the base, if there is one, and the increments. */
    List<LogFileReport> files() {
        return files;
    }

    /** The index of the first damaged file, or of the last file if only its end is torn; -1 if there is neither. */
    int firstToCut() {
        for (int i = 0; i < files.size(); i++) {
            LogFileReport file = files.get(i);
            if (file.problem() != null || file.tornBytes() > 0) {
                return i;
            }
        }
        return -1;
    }

    /** Whether the file with this index is the base. */
    boolean isBase(int index) {
        return index == 0 && manifest != null && manifest.base() != null;
    }

    /** The exit status. */
    int status() {
        if (manifestProblem != null) {
            return FileCheck.DAMAGED;
        }
        int first = firstToCut();
        LogFileReport file = first < 0 ? null : files.get(first);
        if (file == null || file.problem() == null) {
            return FileCheck.VALID;
        }
        return file.isUnsupported() ? FileCheck.UNREADABLE : FileCheck.DAMAGED;
    }

    // --- print

    void print(PrintStream out) {
        out.println("Log       " + directory.manifest());
        out.println();
        Table table = new Table("file", "type", "bytes", "blocks", "commands", "transactions", "first time",
                "last time", "torn bytes");
        for (int i = 0; i < files.size(); i++) {
            print(table, files.get(i), isBase(i) ? "base" : "increment");
        }
        if (!files.isEmpty()) {
            table.print(out);
            out.println();
        }
        for (LogFileReport file : files) {
            RdbReport rdb = file.rdb();
            if (rdb != null) {
                out.println("RDB data of " + file.file().getFileName());
                rdb.print(out);
            }
        }
        if (!counts.isEmpty()) {
            out.println("Commands");
            counts.print(out);
            out.println();
        }
        printVerdict(out);
    }

    private static void print(Table table, LogFileReport file, String type) {
        table.row(String.valueOf(file.file().getFileName()), file.exists() ? type : type + ", missing",
                Table.number(file.bytes()), Table.number(file.blocks()), Table.number(file.commands()),
                Table.number(file.transactions()), time(file.firstMillis()), time(file.lastMillis()),
                Table.number(file.tornBytes()));
    }

    private static String time(long millis) {
        return millis == LogFileReport.NO_TIME ? "-" : Instant.ofEpochMilli(millis).toString();
    }

    private void printVerdict(PrintStream out) {
        if (manifestProblem != null) {
            out.println("Log is damaged: " + manifestProblem);
            return;
        }
        for (LogFileReport file : files) {
            if (file.problem() != null) {
                out.println((file.isUnsupported() ? "Log cannot be read: " : "Log is damaged: ") + file.problem());
            }
        }
        LogFileReport last = files.getLast();
        if (last.tornBytes() > 0) {
            out.println(last.file() + ", byte " + (last.bytes() - last.tornBytes()) + ": the last "
                    + Table.number(last.tornBytes())
                    + " bytes are incomplete. They can be cut off: start does it by itself (aof-load-truncated)");
        }
        if (status() == FileCheck.VALID) {
            long commands = files.stream().mapToLong(LogFileReport::commands).sum();
            out.println((last.tornBytes() > 0 ? "Log is valid up to its torn end: " : "Log is valid: ")
                    + Table.number(files.size()) + " files, " + Table.number(commands) + " commands");
        }
    }
}
