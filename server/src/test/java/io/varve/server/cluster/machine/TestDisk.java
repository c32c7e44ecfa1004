package io.varve.server.cluster.machine;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A small disk of one process, which a test can fill: a file system in memory. Confined to the test's thread.
 *
 * <p>It needs Linux, the rights of root and the command {@code mount}.
 */
public final class TestDisk implements AutoCloseable {
    private static final int MEBIBYTES = 64;

    private final Path folder;

    private TestDisk(Path folder) {
        this.folder = folder;
    }

    /** Mounts a disk at an empty folder. */
    public static TestDisk at(Path folder) throws IOException, InterruptedException {
        TestNetwork.run("mount", "-t", "tmpfs", "-o", "size=" + MEBIBYTES + "m", "varve-test", folder.toString());
        return new TestDisk(folder);
    }

    /** Leaves no free byte. */
    public void fill() throws IOException {
        byte[] block = new byte[1 << 16];
        try (OutputStream filler = Files.newOutputStream(filler())) {
            while (folder.toFile().getUsableSpace() > 0) {
                filler.write(block);
            }
        } catch (IOException full) {
            if (folder.toFile().getUsableSpace() > 0) {
                throw full;
            }
        }
    }

    /** Ends {@link #fill}. */
    public void free() throws IOException {
        Files.delete(filler());
    }

    private Path filler() {
        return folder.resolve("filler");
    }

    @Override
    public void close() throws IOException {
        try {
            TestNetwork.run("umount", folder.toString());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
