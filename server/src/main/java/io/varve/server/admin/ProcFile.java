package io.varve.server.admin;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/** A short file of the system about this process, opened once and read repeatedly. Guarded by {@code this}. */
final class ProcFile {
    /** Longer than any line of {@code /proc/self/stat}. */
    private static final int MAX_BYTES = 1024;

    private final byte[] bytes = new byte[MAX_BYTES];
    private final @Nullable RandomAccessFile file;

    ProcFile(String path) {
        file = open(path);
    }

    private static @Nullable RandomAccessFile open(String path) {
        try {
            return new RandomAccessFile(path, "r");
        } catch (FileNotFoundException absent) {
            return null;
        }
    }

    /** The current content, or null if the file does not exist or cannot be read. */
    synchronized @Nullable String read() {
        if (file == null) {
            return null;
        }
        try {
            file.seek(0);
            int length = file.read(bytes);
            return length <= 0 ? null : new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
        } catch (IOException unreadable) {
            return null;
        }
    }
}
