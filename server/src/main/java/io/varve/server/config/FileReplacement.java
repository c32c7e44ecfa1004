package io.varve.server.config;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/** Replaces a file by a new one atomically. Immutable: static methods only. */
public final class FileReplacement {
    private FileReplacement() {}

    /**
     * Writes the file. The new file has the permissions of the old one; without an old one, only the owner may access
     * it. A link stays a link: its target is replaced.
     *
     * @throws IOException if it cannot be written; the old file is then unchanged
     */
    public static void replace(Path named, byte[] content) throws IOException {
        Path file = Files.exists(named) ? named.toRealPath() : named.toAbsolutePath();
        Path fresh = Files.createTempFile(Objects.requireNonNull(file.getParent()), file.getFileName() + ".", ".new");
        try {
            if (Files.exists(file) && Files.getFileStore(file).supportsFileAttributeView("posix")) {
                Files.setPosixFilePermissions(fresh, Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS));
            }
            try (FileChannel channel = FileChannel.open(fresh, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = ByteBuffer.wrap(content);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }
}
