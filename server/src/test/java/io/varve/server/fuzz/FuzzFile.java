package io.varve.server.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A file for a target whose code reads files, in its own folder. Confined to the test's thread. */
public final class FuzzFile implements AutoCloseable {
    private final Path folder;
    private final Path file;

    private FuzzFile(Path folder, String name) {
        this.folder = folder;
        file = folder.resolve(name);
    }

    public static FuzzFile create(String name) throws IOException {
        return new FuzzFile(Files.createTempDirectory("varve-fuzz"), name);
    }

    /** Replaces the content. @return the file */
    public Path write(byte[] content) {
        try {
            return Files.write(file, content);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    public Path write(List<String> lines) {
        return write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(file);
        Files.delete(folder);
    }
}
