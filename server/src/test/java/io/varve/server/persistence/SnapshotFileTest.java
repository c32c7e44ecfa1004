package io.varve.server.persistence;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;

import io.varve.memory.offheap.Memory;
import io.varve.server.rdb.Crc64;
import io.varve.server.system.NativeMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests that a snapshot replaces the previous one as a whole, or not at all. Confined to the test's thread. */
class SnapshotFileTest {
    private static final String BEFORE = "the previous snapshot";
    private static final int LARGE = 17 << 20;

    @TempDir
    Path directory;

    private final NativeMemory memory = new NativeMemory();
    private Path target;

    @BeforeEach
    void writePrevious() throws IOException {
        target = directory.resolve("dump.rdb");
        Files.writeString(target, BEFORE);
    }

    @AfterEach
    void free() {
        memory.close();
    }

    private MemorySegment segment(byte[] bytes) {
        MemorySegment segment = memory.allocate(bytes.length);
        Memory.copy(bytes, 0, segment.address(), bytes.length);
        return segment;
    }

    private List<Path> files() throws IOException {
        try (var files = Files.list(directory)) {
            return files.toList();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void commit_replacesTheFile(boolean withChecksum) throws IOException {
        byte[] text = "a new snapshot".getBytes(StandardCharsets.US_ASCII);
        try (SnapshotFile file = SnapshotFile.create(target)) {
            file.write(segment(text).asSlice(0, 5));
            file.write(segment(text).asSlice(5));
            file.writeChecksum(withChecksum);
            assertThat(target).hasContent(BEFORE);
            file.commit();
        }
        MemorySegment all = segment(text);
        long checksum = withChecksum ? Crc64.update(0, all.address(), all.byteSize()) : 0;
        byte[] expected = ByteBuffer.allocate(text.length + Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).put(text)
                .putLong(checksum).array();
        assertThat(target).hasBinaryContent(expected);
        assertThat(files()).containsExactly(target);
    }

    @Test
    void moreThanIsForcedAtATime_isComplete() throws IOException {
        byte[] bytes = new byte[LARGE];
        bytes[LARGE - 1] = 1;
        try (SnapshotFile file = SnapshotFile.create(target)) {
            file.write(segment(bytes));
            file.write(segment(bytes));
            file.commit();
        }
        assertThat(Files.size(target)).isEqualTo(2L * LARGE);
    }

    @Test
    void fileThatIsNotCommitted_isDeleted() throws IOException {
        try (SnapshotFile file = SnapshotFile.create(target)) {
            file.write(segment(new byte[100]));
            assertThat(files()).hasSize(2);
        }
        assertThat(target).hasContent(BEFORE);
        assertThat(files()).containsExactly(target);
    }

    /** The process ended while it wrote one with the same name. */
    @Test
    void remainsOfAnEarlierAttempt_areOverwritten() throws IOException {
        Files.writeString(directory.resolve("temp-" + ProcessHandle.current().pid() + ".rdb"), "x".repeat(1000));
        try (SnapshotFile file = SnapshotFile.create(target)) {
            file.write(segment(new byte[] {'y'}));
            file.commit();
        }
        assertThat(target).hasContent("y");
        assertThat(files()).containsExactly(target);
    }

    @Test
    void targetThatCannotBeReplaced_failsTheCommit() throws IOException {
        Path folder = directory.resolve("folder");
        Files.createDirectories(folder.resolve("within"));
        assertThatThrownBy(() -> {
            try (SnapshotFile file = SnapshotFile.create(folder)) {
                file.commit();
            }
        }).isInstanceOf(IOException.class).isNotInstanceOf(NotDirectoryException.class);
        assertThat(folder.resolve("within")).isDirectory();
        assertThat(files()).containsExactlyInAnyOrder(target, folder);
    }
}
