package io.varve.server.persistence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a log that is being written: the manifest, the base and the increments in a directory that belongs to
 * this process. The thread of the log adds increments, and the one that rewrites it replaces the base. Guarded by its
 * own monitor; the sizes are volatile.
 */
final class LogFiles {
    private static final Logger LOG = LoggerFactory.getLogger(LogFiles.class);

    private final Disk disk;
    private Path directory = Path.of("");
    private String name = "";
    private LogManifest manifest = LogManifest.empty();
    /** Whether the manifest on disk is this one, not that of an earlier log. */
    private volatile boolean isComplete;
    /** Files of the manifest on disk that the next one does not list. */
    private List<String> obsolete = List.of();
    /** The highest numbers so far: a name is never used twice, whatever became of its file. */
    private long lastBase;
    private long lastIncrement;
    /** The next increment, if it was created and could not be listed; its number is {@link #lastIncrement}. */
    private @Nullable IncrementFile created;
    private volatile long closedBytes;
    private volatile long rewrittenBytes;
    private volatile long baseBytes;
    private @Nullable DirectoryLock lock;

    LogFiles(Disk disk) {
        this.disk = disk;
    }

    // --- begin and end

    /** See {@link AppendLog#lock}. */
    synchronized void lock(Path wanted) throws IOException {
        if (lock == null) {
            lock = DirectoryLock.of(wanted);
        }
    }

    /** Ends {@link #lock}. */
    synchronized void unlock() {
        DirectoryLock held = lock;
        lock = null;
        if (held != null) {
            try {
                held.close();
            } catch (IOException failed) {
                LOG.warn("The lock of {} could not be released", directory, failed);
            }
        }
    }

    /** See {@link AppendLog#open}. */
    synchronized void open(Path into, String fileName, @Nullable LogManifest loaded) throws IOException {
        directory = into;
        name = fileName;
        Path existing = LogManifest.file(into, fileName);
        LogManifest old = Files.exists(existing) ? LogManifest.read(existing) : LogManifest.empty();
        manifest = loaded == null ? old : loaded;
        obsolete = new ArrayList<>(old.names());
        if (loaded != null) {
            obsolete.removeAll(loaded.names());
        }
        isComplete = loaded != null;
        lastBase = Math.max(manifest.lastBase(), LogManifest.lastNumber(into, fileName, ".base."));
        lastIncrement = Math.max(manifest.lastIncrement(), LogManifest.lastNumber(into, fileName, ".incr."));
        long all = 0;
        baseBytes = 0;
        for (String each : loaded == null ? List.<String>of() : loaded.names()) {
            all += disk.size(into.resolve(each));
        }
        closedBytes = all;
        if (loaded != null && loaded.base() != null) {
            baseBytes = disk.size(into.resolve(loaded.base().name()));
        }
        rewrittenBytes = closedBytes;
    }

    /** Whether its files hold all data, so that a start could load it. */
    boolean isComplete() {
        return isComplete;
    }

    synchronized Path directory() {
        return directory;
    }

    // --- increments

    /**
     * Begins the next increment, and lists it before anything is written into it. After a failure it can be tried
     * again.
     *
     * @param before the one that it follows, forced to disk, which is closed
     */
    synchronized IncrementFile next(@Nullable IncrementFile before) throws IOException {
        IncrementFile next = created;
        if (next == null) {
            // If this fails, no manifest lists the name, and the next attempt uses it again.
            next = IncrementFile.create(disk,
                    directory.resolve(LogManifest.Entry.increment(name, lastIncrement + 1).name()));
            created = next;
            lastIncrement++;
        }
        LogManifest changed = manifest.with(LogManifest.Entry.increment(name, lastIncrement));
        disk.forceDirectory(directory);
        if (isComplete) {
            changed.write(disk, directory, name);
            delete(obsolete);
            obsolete = List.of();
        }
        manifest = changed;
        created = null;
        if (before != null) {
            closedBytes += before.bytes();
            close(before);
        }
        return next;
    }

    /** Closes an increment at the end of the log, and one that was not listed. */
    synchronized void closeIncrements(@Nullable IncrementFile open) {
        close(open);
        close(created);
        created = null;
    }

    private void close(@Nullable IncrementFile open) {
        if (open != null) {
            try {
                open.close();
            } catch (IOException failed) {
                LOG.warn("A file of the log in {} could not be closed", directory, failed);
            }
        }
    }

    // --- the base

    /** See {@link AppendLog#temporaryBase}. */
    synchronized Path temporaryBase() {
        return directory.resolve("temp-rewriteaof-" + ProcessHandle.current().pid() + ".rdb");
    }

    /**
     * Replaces the base and all increments except the last one. The caller deletes the files that it returns.
     *
     * @throws IOException if nothing has changed
     */
    synchronized Collection<String> replaceBase(Path written) throws IOException {
        long sequence = ++lastBase;
        LogManifest.Entry base = LogManifest.Entry.base(name, sequence);
        disk.move(written, directory.resolve(base.name()));
        disk.forceDirectory(directory);
        LogManifest changed = manifest.with(base, manifest.lastIncrement());
        changed.write(disk, directory, name);
        // Attempts at a first base have added files to this manifest that the one on disk does not list.
        Set<String> superseded = new LinkedHashSet<>(obsolete);
        superseded.addAll(manifest.names());
        superseded.removeAll(changed.names());
        manifest = changed;
        isComplete = true;
        obsolete = List.of();
        baseBytes = disk.size(directory.resolve(base.name()));
        closedBytes = baseBytes;
        rewrittenBytes = baseBytes;
        return superseded;
    }

    /** Deletes files that no manifest lists any more. */
    void delete(Collection<String> superseded) {
        Path in = directory();
        for (String old : superseded) {
            try {
                disk.delete(in.resolve(old));
            } catch (IOException failed) {
                LOG.warn("{} is no longer needed, and could not be deleted", in.resolve(old), failed);
            }
        }
    }

    // --- figures

    /** The size of all files but the increment that is being written, bytes. */
    long closedBytes() {
        return closedBytes;
    }

    /** The size of all files after the last rewrite, or at the start, bytes. */
    long rewrittenBytes() {
        return rewrittenBytes;
    }

    /** The size of the base, bytes. */
    long baseBytes() {
        return baseBytes;
    }
}
