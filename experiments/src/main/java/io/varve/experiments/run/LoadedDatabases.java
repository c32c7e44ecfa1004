package io.varve.experiments.run;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder of the two databases of a size: the first run loads them, and each begins with a copy of them as they were loaded. What the runs before it
 * have written is not there: an insert that finds its record takes more round trips than one that does not. Confined to the thread that does the runs.
 */
final class LoadedDatabases {
    private static final String PREFIX = "databases-";
    private static final String MARK = "whole";

    private final Path results;
    private final Path directory;
    /** As they were loaded, which no run writes to, and those of the run that goes on. */
    private final Path loaded;
    private final Path used;

    /**
     * @param results of the whole experiment
     * @param size    the records' and their number's name
     */
    LoadedDatabases(Path results, String size) {
        this.results = results;
        directory = results.resolve(PREFIX + size);
        loaded = directory.resolve("loaded");
        used = directory.resolve("used");
    }

    /** Where they are loaded. */
    Path loaded() {
        return loaded;
    }

    /** Those of one run, which it may write to. */
    Path used() {
        return used;
    }

    /** Whether they are whole: a load that was cut off begins anew. */
    boolean areThere() {
        return Files.exists(directory.resolve(MARK));
    }

    /** Empties the folder, for a load. */
    void clear() throws IOException {
        remove(directory);
        Files.createDirectories(loaded);
    }

    /** Has {@link #used} be what was loaded, whatever was written to it since. */
    void restore() throws IOException {
        remove(used);
        Files.createDirectories(used);
        try (Stream<Path> files = Files.list(loaded)) {
            for (Path file : files.toList()) {
                copy(file, used.resolve(file.getFileName()));
            }
        }
    }

    /** To the disk as well: nothing of it is written while something is measured. */
    private static void copy(Path from, Path to) throws IOException {
        Files.copy(from, to);
        try (FileChannel copied = FileChannel.open(to, StandardOpenOption.WRITE)) {
            copied.force(true);
        }
    }

    void markLoaded() throws IOException {
        Files.createFile(directory.resolve(MARK));
    }

    /** Removes those of all sizes: nobody needs them any more. */
    void removeAll() throws IOException {
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
