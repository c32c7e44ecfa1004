package io.varve.server.persistence;

import java.io.IOException;
import java.nio.file.Path;

/** A file of the log is damaged. Immutable. */
public final class LogException extends IOException {
    private static final long serialVersionUID = 1L;

    private final long offset;

    /** @param offset where the damage begins, in bytes from the beginning of the file */
    public LogException(Path file, long offset, String what) {
        super(file + ", byte " + offset + ": " + what);
        this.offset = offset;
    }

    public long offset() {
        return offset;
    }
}
