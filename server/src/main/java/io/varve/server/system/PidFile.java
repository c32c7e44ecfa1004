package io.varve.server.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The file that holds the process id while the process runs. Immutable. */
public final class PidFile implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PidFile.class);

    private final @Nullable Path written;

    private PidFile(@Nullable Path written) {
        this.written = written;
    }

    /** Writes the file if it is configured. As in Redis, a failure is logged and the server continues. */
    public static PidFile write(@Nullable Path path) {
        if (path == null) {
            return new PidFile(null);
        }
        try {
            Files.writeString(path, ProcessHandle.current().pid() + "\n");
            return new PidFile(path);
        } catch (IOException failed) {
            LOG.warn("Cannot write pidfile {}: {}", path, failed.toString());
            return new PidFile(null);
        }
    }

    /** Removes the file; may be called repeatedly. */
    @Override
    public void close() {
        if (written != null) {
            try {
                Files.deleteIfExists(written);
            } catch (IOException failed) {
                LOG.warn("Cannot remove pidfile {}: {}", written, failed.toString());
            }
        }
    }
}
