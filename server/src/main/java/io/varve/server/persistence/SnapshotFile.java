package io.varve.server.persistence;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

import io.varve.server.rdb.Crc64;

/**
 * A file that replaces another one when it is complete and on disk. Confined to the thread that writes it. Closed
 * without {@link #commit}, it is deleted, and the other file stays.
 */
public final class SnapshotFile implements Snapshots.Output {
    /** Written bytes after which they are forced to disk, so that the last force is short. */
    private static final long FORCED_BYTES = 16 << 20;

    private final Path target;
    private final Path temporary;
    private final FileChannel channel;
    private long unforced;
    private long checksum;
    private boolean committed;

    private SnapshotFile(Path target, Path temporary, FileChannel channel) {
        this.target = target;
        this.temporary = temporary;
        this.channel = channel;
    }

    /** Creates a temporary file beside the one that it will replace. */
    public static SnapshotFile create(Path target) throws IOException {
        Path temporary = target.resolveSibling("temp-" + ProcessHandle.current().pid() + ".rdb");
        return new SnapshotFile(target, temporary, FileChannel.open(temporary, StandardOpenOption.CREATE,
                StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING));
    }

    @Override
    public void write(MemorySegment bytes) throws IOException {
        checksum = Crc64.update(checksum, bytes.address(), bytes.byteSize());
        unforced += bytes.byteSize();
        writeFully(bytes.asByteBuffer());
        if (unforced >= FORCED_BYTES) {
            unforced = 0;
            channel.force(false);
        }
    }

    private void writeFully(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    @Override
    public void writeChecksum(boolean isWanted) throws IOException {
        writeFully(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN)
                .putLong(0, isWanted ? checksum : 0));
    }

    /** Replaces the other file. Returns when that would survive a loss of power. */
    @Override
    public void commit() throws IOException {
        channel.force(true);
        channel.close();
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        committed = true;
        Path directory = target.toAbsolutePath().getParent();
        if (directory != null) {
            try (FileChannel entries = FileChannel.open(directory, StandardOpenOption.READ)) {
                entries.force(true);
            }
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
        if (!committed) {
            Files.deleteIfExists(temporary);
        }
    }

    /** The file that it replaces. */
    @Override
    public String toString() {
        return target.toString();
    }
}
