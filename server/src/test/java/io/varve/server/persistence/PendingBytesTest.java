package io.varve.server.persistence;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.offheap.Memory;
import io.varve.server.system.NativeMemory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that bytes reach a file as a whole and in order. Confined to the test's thread, and one that appends. */
@Timeout(60)
class PendingBytesTest {
    private static final int BLOCK_BYTES = 256 << 10;
    private static final int APPENDS = 2_000;

    @TempDir
    Path directory;

    private final NativeMemory memory = new NativeMemory();

    @AfterEach
    void free() {
        memory.close();
    }

    private MemorySegment random(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        MemorySegment segment = memory.allocate(length);
        Memory.copy(bytes, 0, segment.address(), length);
        return segment;
    }

    @Test
    void bytesOfAnyLength_areWrittenInOrder_andCountUntilThen() throws IOException {
        MemorySegment source = random(new SplittableRandom(TestBudget.seed("varve.pending.seed")), 3 * BLOCK_BYTES);
        int[] lengths = {0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, 1, BLOCK_BYTES + 1, 3 * BLOCK_BYTES, 7};
        Path target = directory.resolve("file");
        long total = 0;
        java.io.ByteArrayOutputStream expected = new java.io.ByteArrayOutputStream();
        try (PendingBytes pending = new PendingBytes(); SnapshotFile file = SnapshotFile.create(target)) {
            // The second time, the blocks are reused.
            for (int round = 0; round < 2; round++) {
                long left = 0;
                for (int length : lengths) {
                    pending.append(source.address(), length);
                    expected.writeBytes(source.asSlice(0, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
                    left += length;
                    assertThat(pending.bytes()).isEqualTo(left);
                }
                total += left;
                pending.writeTo(file);
                assertThat(pending.bytes()).isZero();
            }
            file.commit();
        }
        assertThat(Files.size(target)).isEqualTo(total);
        assertThat(target).hasBinaryContent(expected.toByteArray());
    }

    @Test
    void bytesThatAreAppendedWhileOthersAreWritten_followThem() throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.pending.seed"));
        MemorySegment source = random(random, 64 << 10);
        int[] lengths = random.ints(APPENDS, 0, 20_000).toArray();
        Path target = directory.resolve("file");
        try (PendingBytes pending = new PendingBytes(); SnapshotFile file = SnapshotFile.create(target)) {
            AtomicBoolean ended = new AtomicBoolean();
            Thread appending = Thread.ofPlatform().start(() -> {
                for (int length : lengths) {
                    pending.append(source.address(), length);
                }
                ended.set(true);
            });
            while (!ended.get()) {
                pending.writeTo(file);
            }
            appending.join();
            pending.writeTo(file);
            file.commit();
        }
        MemorySegment written = MemorySegment.ofArray(Files.readAllBytes(target));
        long at = 0;
        for (int length : lengths) {
            assertThat(written.asSlice(at, length).mismatch(source.asSlice(0, length))).as("at %s", at).isEqualTo(-1);
            at += length;
        }
        assertThat(written.byteSize()).isEqualTo(at);
    }
}
