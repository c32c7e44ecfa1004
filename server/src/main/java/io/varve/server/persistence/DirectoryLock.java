package io.varve.server.persistence;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.varve.server.system.FailureReason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory that one server of one process uses, until {@link #close} or the end of the process. Immutable; closed
 * once.
 */
final class DirectoryLock implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryLock.class);
    /** Bases of processes by their number: see {@link LogFiles#temporaryBase} and {@link SnapshotFile#create}. */
    private static final Pattern TEMPORARY = Pattern.compile("temp-(rewriteaof-)?\\d+\\.rdb");
    private static final String FILE = "varve.lock";

    private final FileChannel channel;

    private DirectoryLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Reserves a directory, and creates it if necessary. Temporary files of bases are deleted, which a process that was
     * killed has left.
     *
     * @throws IOException if another server has it, or it cannot be written
     */
    static DirectoryLock of(Path directory) throws IOException {
        FileChannel channel;
        try {
            if (!Files.isDirectory(directory)) {
                Files.createDirectories(directory);
                Path parent = directory.toAbsolutePath().getParent();
                if (parent != null) {
                    // Without its entry there, a loss of power would lose all files of the directory.
                    Disk.system().forceDirectory(parent);
                }
            }
            channel = FileChannel.open(directory.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException refused) {
            throw new IOException("the log cannot be written: " + FailureReason.of(refused), refused);
        }
        try {
            if (channel.tryLock() == null) {
                throw new IOException(directory + ": another process uses this log");
            }
            deleteTemporaryFiles(directory);
            return new DirectoryLock(channel);
        } catch (OverlappingFileLockException mine) {
            channel.close();
            throw new IOException(directory + ": another server of this process uses this log", mine);
        } catch (IOException failed) {
            channel.close();
            throw failed;
        }
    }

    private static void deleteTemporaryFiles(Path directory) throws IOException {
        List<Path> unfinished;
        try (Stream<Path> files = Files.list(directory)) {
            unfinished = files.filter(file -> TEMPORARY.matcher(file.getFileName().toString()).matches()).toList();
        }
        for (Path file : unfinished) {
            try {
                Files.delete(file);
                LOG.info("{} was deleted: a process has left it unfinished", file);
            } catch (IOException failed) {
                LOG.warn("{} is not needed, and could not be deleted", file, failed);
            }
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
