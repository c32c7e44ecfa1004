package io.varve.server.persistence;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps other processes from the directory of the log. Guarded by its own monitor. */
final class DirectoryLock {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryLock.class);
    private static final String FILE = "varve.lock";

    private @Nullable FileChannel held;

    /**
     * Takes the lock, unless this has it, and creates the directory if necessary. The end of the process releases it.
     *
     * @throws IOException if another process has it, or the directory cannot be written
     */
    synchronized void take(Path directory) throws IOException {
        if (held != null) {
            return;
        }
        Files.createDirectories(directory);
        FileChannel channel = FileChannel.open(directory.resolve(FILE), StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() == null) {
                throw new IOException(directory + ": another process uses this log");
            }
        } catch (OverlappingFileLockException mine) {
            channel.close();
            throw new IOException(directory + ": another server of this process uses this log", mine);
        } catch (IOException failed) {
            channel.close();
            throw failed;
        }
        held = channel;
    }

    synchronized void release() {
        FileChannel channel = held;
        held = null;
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException failed) {
                LOG.warn("The lock of the log's directory could not be released", failed);
            }
        }
    }
}
