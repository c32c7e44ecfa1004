package io.varve.server.persistence;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory that one server of one process uses, until {@link #close} or the end of the process. Immutable; closed
 * once.
 */
final class DirectoryLock implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryLock.class);
    private static final String FILE = "varve.lock";

    private final FileChannel channel;

    private DirectoryLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Reserves a directory, and creates it if necessary. Temporary files of bases in it, which a process that was killed
     * has left, are deleted.
     *
     * @throws IOException if another server has it, or it cannot be written
     */
    static DirectoryLock of(Path directory) throws IOException {
        FileChannel channel;
        try {
            if (!Files.isDirectory(directory)) {
                Files.createDirectories(directory);
                // Without its entry there, a loss of power would lose all files of the directory.
                Disk.system().forceDirectory(directory.toAbsolutePath().getParent());
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
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "temp-*.rdb")) {
            for (Path file : files) {
                Files.delete(file);
                LOG.info("{} was deleted: a process has left it unfinished", file);
            }
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
