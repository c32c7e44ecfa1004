package io.varve.server.persistence;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A directory that one server of one process uses, until {@link #close} or the end of the process. Immutable; closed
 * once.
 */
final class DirectoryLock implements AutoCloseable {
    private static final String FILE = "varve.lock";

    private final FileChannel channel;

    private DirectoryLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Reserves a directory, and creates it if necessary.
     *
     * @throws IOException if another server has it, or it cannot be written
     */
    static DirectoryLock of(Path directory) throws IOException {
        FileChannel channel;
        try {
            Files.createDirectories(directory);
            channel = FileChannel.open(directory.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException refused) {
            throw new IOException("the log cannot be written: " + FailureReason.of(refused), refused);
        }
        try {
            if (channel.tryLock() == null) {
                throw new IOException(directory + ": another process uses this log");
            }
            return new DirectoryLock(channel);
        } catch (OverlappingFileLockException mine) {
            channel.close();
            throw new IOException(directory + ": another server of this process uses this log", mine);
        } catch (IOException failed) {
            channel.close();
            throw failed;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
