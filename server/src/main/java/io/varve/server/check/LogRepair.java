package io.varve.server.check;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

import io.varve.server.persistence.LogManifest;

/**
 * Writes a copy of a log that ends before its first damage, or before its torn end. Immutable: static methods only. The
 * log itself is not changed. The manifest of the copy is written last, so that a copy without one is incomplete.
 */
final class LogRepair {
    private LogRepair() {}

    /** @throws IOException if there is something where the copy would be */
    static void requireAbsent(LogDirectory directory) throws IOException {
        Path copy = directory.repaired();
        if (Files.exists(copy, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileSystemException(copy.toString(), null, "it exists: move it away before a repair");
        }
    }

    /** Writes the copy, if there is something to repair. @return the exit status */
    static int run(LogDirectory directory, LogReport report, PrintStream out) throws IOException {
        int first = report.firstToCut();
        LogManifest manifest = report.manifest();
        if (report.status() == FileCheck.VALID && first < 0) {
            out.println("There is nothing to repair, and no copy was written");
            return FileCheck.VALID;
        }
        if (report.status() == FileCheck.UNREADABLE) {
            out.println("No copy was written: what Varve cannot read may be right");
            return FileCheck.UNREADABLE;
        }
        if (manifest == null) {
            out.println("No copy was written: without a manifest nobody knows which files belong to the log");
            return FileCheck.DAMAGED;
        }
        LogFileReport cut = report.files().get(first);
        boolean hasLostBase = report.isBase(first) && cut.intactBytes() == 0;
        int kept = cut.exists() ? first + 1 : first;
        if (hasLostBase || kept == 0) {
            out.println("No copy was written: nothing in front of the damage can be kept");
            return FileCheck.DAMAGED;
        }
        write(directory, report, manifest, kept);
        printDropped(directory, report.files(), first, out);
        return FileCheck.VALID;
    }

    /** @param kept number of files that are kept, the last one up to its damage */
    private static void write(LogDirectory directory, LogReport report, LogManifest manifest, int kept)
            throws IOException {
        Path copy = directory.repairedLog();
        try {
            Files.createDirectory(directory.repaired());
        } catch (FileAlreadyExistsException exists) {
            throw new FileSystemException(directory.repaired().toString(), null, "it exists: it was made meanwhile");
        }
        Files.createDirectories(copy);
        for (int i = 0; i < kept; i++) {
            LogFileReport file = report.files().get(i);
            boolean isWhole = file.problem() == null && file.tornBytes() == 0;
            copy(file.file(), copy.resolve(String.valueOf(file.file().getFileName())),
                    isWhole ? file.bytes() : file.intactBytes());
        }
        int increments = kept - (manifest.base() == null ? 0 : 1);
        new LogManifest(manifest.base(), manifest.increments().subList(0, increments)).write(copy, directory.name());
    }

    private static void copy(Path from, Path to, long bytes) throws IOException {
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
                FileChannel out = FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            long done = 0;
            while (done < bytes) {
                long copied = in.transferTo(done, bytes - done, out);
                if (copied <= 0) {
                    throw new FileSystemException(from.toString(), null, "another program has shortened it meanwhile");
                }
                done += copied;
            }
            out.force(true);
        }
    }

    private static void printDropped(LogDirectory directory, List<LogFileReport> files, int first, PrintStream out)
            throws IOException {
        out.println("Wrote " + directory.repaired());
        long bytes = 0;
        long commands = 0;
        for (int i = first; i < files.size(); i++) {
            LogFileReport file = files.get(i);
            boolean isCut = i == first && file.exists();
            long droppedBytes = file.bytes() - (isCut ? file.intactBytes() : 0);
            long droppedCommands = file.lostCommands() + (isCut ? 0 : file.commands());
            out.println("  dropped " + Table.number(droppedBytes) + " bytes with " + Table.number(droppedCommands)
                    + " readable commands: " + file.file().getFileName()
                    + (isCut ? " from byte " + file.intactBytes() + " on" : ""));
            bytes += droppedBytes;
            commands += droppedCommands;
        }
        out.println("  dropped in all " + Table.number(bytes) + " bytes with " + Table.number(commands)
                + " readable commands; commands in damaged bytes cannot be counted");
    }
}
