package io.varve.experiments.run.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import io.varve.experiments.result.MedianRange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a server's log, and the disk that they are on. Immutable; the thread that does the run uses it.
 *
 * <p>After a turn, the log's remaining bytes are forced to the disk. Otherwise the system would write them during the
 * next server's turn.
 */
final class LogFiles {
    private static final String FOLDER = "appendonlydir";
    private static final int FORCES = 100;
    private static final int RECORD_BYTES = 128;
    private static final double NANOS_PER_MICRO = 1000;

    private static final Logger LOG = LoggerFactory.getLogger(LogFiles.class);

    private final Path folder;

    /** @param directory the server's working directory */
    LogFiles(Path directory) {
        this.folder = directory.resolve(FOLDER);
    }

    /** Forces all files to the disk. */
    void force() throws IOException {
        for (Path file : files()) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.force(true);
            } catch (NoSuchFileException replaced) {
                LOG.debug("A rewrite has just removed {}", file, replaced);
            }
        }
    }

    /** Deletes all files; the server has stopped. */
    void delete() throws IOException {
        for (Path file : files()) {
            Files.deleteIfExists(file);
        }
        Files.deleteIfExists(folder);
    }

    private List<Path> files() throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> inside = Files.walk(folder)) {
            return inside.filter(Files::isRegularFile).sorted(Comparator.naturalOrder()).toList();
        }
    }

    /**
     * Measures the time of a force after an append of a record's size. If it is only some microseconds, the disk does
     * not wait for its medium, and a synchronous log costs little.
     *
     * @param directory a folder on the disk of the logs
     */
    static MedianRange forceMicros(Path directory) throws IOException {
        Path file = Files.createTempFile(directory, "force", ".probe");
        List<Double> micros = new ArrayList<>();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            for (int i = 0; i < FORCES; i++) {
                channel.write(ByteBuffer.allocate(RECORD_BYTES));
                long start = System.nanoTime();
                channel.force(false);
                micros.add((System.nanoTime() - start) / NANOS_PER_MICRO);
            }
        } finally {
            Files.delete(file);
        }
        return MedianRange.of(micros);
    }
}
