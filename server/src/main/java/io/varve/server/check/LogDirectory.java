package io.varve.server.check;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.varve.server.persistence.LogManifest;

/**
 * Where a log is. Immutable.
 *
 * @param given the directory that the user has named: that of the log, or the one that contains it
 * @param directory the directory of the log
 * @param manifest the file that lists the others
 */
record LogDirectory(Path given, Path directory, Path manifest) {
    private static final String TEMPORARY = "temp-";
    private static final String REPAIRED = ".repaired";

    /**
     * Finds a log.
     *
     * @param named a directory, or a manifest where one directory has several
     * @throws IOException if there is none, or more than one
     */
    static LogDirectory find(Path named) throws IOException {
        Path given = named.toAbsolutePath().normalize();
        if (isManifest(given)) {
            Path directory = Objects.requireNonNull(given.getParent(), "a file is in a directory");
            return new LogDirectory(directory, directory, given);
        }
        if (!Files.exists(given)) {
            throw new NoSuchFileException(named.toString());
        }
        if (!Files.isDirectory(given)) {
            throw new FileSystemException(named.toString(), null, "expected the directory of a log");
        }
        List<Path> manifests = manifests(given);
        if (manifests.isEmpty()) {
            for (Path each : entries(given)) {
                manifests.addAll(Files.isDirectory(each) && Files.isReadable(each) ? manifests(each) : List.of());
            }
        }
        if (manifests.isEmpty()) {
            throw new FileSystemException(named.toString(), null,
                    "expected a directory with the manifest of a log, or one that contains such a directory");
        }
        if (manifests.size() > 1) {
            throw new FileSystemException(named.toString(), null, "it has several logs: expected one of " + manifests);
        }
        Path manifest = manifests.getFirst();
        return new LogDirectory(given, Objects.requireNonNull(manifest.getParent()), manifest);
    }

    private static List<Path> manifests(Path directory) throws IOException {
        List<Path> found = new ArrayList<>(entries(directory));
        found.removeIf(each -> !isManifest(each));
        return found;
    }

    private static boolean isManifest(Path file) {
        String name = String.valueOf(file.getFileName());
        return name.endsWith(LogManifest.SUFFIX) && !name.startsWith(TEMPORARY) && Files.isRegularFile(file);
    }

    private static List<Path> entries(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.sorted().toList();
        }
    }

    /** The name of the log: its manifest's without the suffix. */
    String name() {
        String name = String.valueOf(manifest.getFileName());
        return name.substring(0, name.length() - LogManifest.SUFFIX.length());
    }

    /** The directory for a repaired copy of the named one. */
    Path repaired() throws IOException {
        Path name = given.getFileName();
        if (name == null) {
            throw new FileSystemException(given.toString(), null, "a copy needs a directory with a name");
        }
        return given.resolveSibling(name + REPAIRED);
    }

    /** The directory of the log in a repaired copy of the named one. */
    Path repairedLog() throws IOException {
        return repaired().resolve(given.relativize(directory));
    }
}
