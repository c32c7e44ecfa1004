package io.varve.experiments.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder of the two databases that all runs of a size use one after the other: the first run loads them. Confined to the thread that
 * does the runs.
 */
final class LoadedDatabases {
    private static final String PREFIX = "databases-";
    private static final String MARK = "loaded";

    private final Path results;
    private final Path directory;

    /**
     * @param results of the whole experiment
     * @param size    the records' and their number's name
     */
    LoadedDatabases(Path results, String size) {
        this.results = results;
        directory = results.resolve(PREFIX + size);
    }

    Path directory() {
        return directory;
    }

    /** Whether they are whole: a load that was cut off begins anew. */
    boolean areThere() {
        return Files.exists(directory.resolve(MARK));
    }

    /** Empties the folder, for a load. */
    void clear() throws IOException {
        remove(directory);
        Files.createDirectories(directory);
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
