package io.varve.server.persistence;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The file system as the log needs it: only forced bytes survive a loss of power. A test replaces it by one that
 * loses, tears and reorders the rest. Thread-safe.
 */
interface Disk {
    /** A file that is written from its beginning on. Confined to one thread. */
    interface Output extends AutoCloseable {
        /** Appends all remaining bytes. After an exception any part of them may be in the file. */
        void write(ByteBuffer bytes) throws IOException;

        /** Returns when all written bytes would survive a loss of power. */
        void force() throws IOException;

        /** Cuts the file off. */
        void truncate(long bytes) throws IOException;

        @Override
        void close() throws IOException;
    }

    /** Creates an empty file, in place of an existing one. */
    Output create(Path file) throws IOException;

    /** Renames a file, in place of an existing one. */
    void move(Path from, Path to) throws IOException;

    void delete(Path file) throws IOException;

    /** The length of a file. */
    long size(Path file) throws IOException;

    /** Returns when creations, renames and deletions in the directory would survive a loss of power. */
    void forceDirectory(Path directory) throws IOException;

    /** The machine's file system. */
    static Disk system() {
        return SystemDisk.INSTANCE;
    }

    /** Immutable. */
    final class SystemDisk implements Disk {
        private static final SystemDisk INSTANCE = new SystemDisk();

        private SystemDisk() {}

        @Override
        public Output create(Path file) throws IOException {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                    StandardOpenOption.TRUNCATE_EXISTING);
            return new Output() {
                @Override
                public void write(ByteBuffer bytes) throws IOException {
                    while (bytes.hasRemaining()) {
                        channel.write(bytes);
                    }
                }

                @Override
                public void force() throws IOException {
                    channel.force(false);
                }

                @Override
                public void truncate(long bytes) throws IOException {
                    channel.truncate(bytes);
                    channel.position(bytes);
                }

                @Override
                public void close() throws IOException {
                    channel.close();
                }
            };
        }

        @Override
        public void move(Path from, Path to) throws IOException {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }

        @Override
        public void delete(Path file) throws IOException {
            Files.deleteIfExists(file);
        }

        @Override
        public long size(Path file) throws IOException {
            return Files.size(file);
        }

        @Override
        public void forceDirectory(Path directory) throws IOException {
            try (FileChannel entries = FileChannel.open(directory, StandardOpenOption.READ)) {
                entries.force(true);
            }
        }
    }
}
