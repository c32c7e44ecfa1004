package io.varve.server.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The file that holds the process's number while it runs. Immutable. */
public final class PidFile implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PidFile.class);

    private final @Nullable Path written;

    private PidFile(@Nullable Path written) {
        this.written = written;
    }

    /** Writes it if it is wanted. As in Redis, a server that cannot says so in the log and goes on. */
    public static PidFile write(@Nullable Path path) {
        if (path == null) {
            return new PidFile(null);
        }
        try {
            Files.writeString(path, ProcessHandle.current().pid() + "\n");
            return new PidFile(path);
        } catch (IOException failed) {
            LOG.warn("pidfile {} could not be written: {}", path, failed.toString());
            return new PidFile(null);
        }
    }

    /** Removes it; once or more. */
    @Override
    public void close() {
        if (written != null) {
            try {
                Files.deleteIfExists(written);
            } catch (IOException failed) {
                LOG.warn("pidfile {} could not be removed: {}", written, failed.toString());
            }
        }
    }
}
