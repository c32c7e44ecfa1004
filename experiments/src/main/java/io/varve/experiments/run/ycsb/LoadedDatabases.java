package io.varve.experiments.run.ycsb;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder of the two databases of one size: the first run loads them, and each run starts with a copy of the loaded
 * state. Confined to the thread that does the runs.
 *
 * <p>So a run does not see the writes of earlier runs: an insert that finds its record takes more round trips than one
 * that does not.
 */
public final class LoadedDatabases {
    private static final String PREFIX = "databases-";
    private static final String MARK = "whole";

    private final Path results;
    private final Path directory;
    /** The loaded state, which no run modifies, and the copy of the current run. */
    private final Path loaded;
    private final Path used;

    /**
     * @param results folder of the whole experiment
     * @param size name of the number and size of the records
     */
    public LoadedDatabases(Path results, String size) {
        this.results = results;
        directory = results.resolve(PREFIX + size);
        loaded = directory.resolve("loaded");
        used = directory.resolve("used");
    }

    /** The folder of the loaded state. */
    Path loaded() {
        return loaded;
    }

    /** The folder of the current run, which may write to it. */
    Path used() {
        return used;
    }

    /** Whether the load is complete: an interrupted load starts again. */
    boolean areThere() {
        return Files.exists(directory.resolve(MARK));
    }

    /** Empties the folder, for a load. */
    void clear() throws IOException {
        remove(directory);
        Files.createDirectories(loaded);
    }

    /** Replaces {@link #used} by a copy of the loaded state. */
    void restore() throws IOException {
        remove(used);
        Files.createDirectories(used);
        try (Stream<Path> files = Files.list(loaded)) {
            for (Path file : files.toList()) {
                copy(file, used.resolve(file.getFileName()));
            }
        }
    }

    /** Copies and syncs to the disk, so that no write-back occurs during a measurement. */
    private static void copy(Path from, Path to) throws IOException {
        Files.copy(from, to);
        try (FileChannel copied = FileChannel.open(to, StandardOpenOption.WRITE)) {
            copied.force(true);
        }
    }

    void markLoaded() throws IOException {
        Files.createFile(directory.resolve(MARK));
    }

    /** Removes the databases of all sizes. */
    public void removeAll() throws IOException {
        List<Path> all;
        try (Stream<Path> listed = Files.list(results)) {
            all = listed.filter(path -> path.getFileName().toString().startsWith(PREFIX)).toList();
        }
        for (Path each : all) {
            remove(each);
        }
    }

    private static void remove(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> inside = Files.walk(folder)) {
                for (Path path : inside.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
