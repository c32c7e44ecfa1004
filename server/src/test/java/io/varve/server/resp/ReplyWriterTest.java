package io.varve.server.resp;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.memory.item.ValueRun;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests that all output is flushed, whatever is cut, inserted or rolled back meanwhile. Confined to the test's thread.
 */
class ReplyWriterTest {
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private final RequestHeapBudget heap = new RequestHeapBudget(1 << 20);
    private final Arena arena = Arena.ofConfined();
    private ReplyWriter reply = new ReplyWriter(allocator, heap);

    @AfterEach
    void nothingIsLeft() {
        reply.close();
        assertThat(allocator.metric().usedDirectMemory()).as("direct bytes not released").isZero();
        assertThat(heap.reservedBytes()).as("heap bytes not given back").isZero();
        arena.close();
    }

    /** A value in memory of the test's. Confined to the test's thread. */
    private static final class TestRun implements ValueRun {
        private final MemorySegment bytes;
        private int holders = 1;

        TestRun(MemorySegment bytes) {
            this.bytes = bytes;
        }

        @Override
        public int headroom() {
            return 0;
        }

        @Override
        public long address() {
            return bytes.address();
        }

        @Override
        public int length() {
            return (int) bytes.byteSize();
        }

        @Override
        public void retain() {
            holders++;
        }

        @Override
        public void release() {
            holders--;
        }
    }

    private TestRun run(int length) {
        MemorySegment bytes = arena.allocate(length);
        for (int i = 0; i < length; i++) {
            bytes.set(ValueLayout.JAVA_BYTE, i, (byte) ('a' + i % 26));
        }
        return new TestRun(bytes);
    }

    private String taken() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        reply.take(piece -> {
            byte[] some = new byte[piece.readableBytes()];
            piece.readBytes(some);
            bytes.writeBytes(some);
            piece.release();
        });
        return bytes.toString(StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void writtenRepliesAreSent(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<TestRun> runs = List.of(run(20_000), run(70_000));
        for (int round = 0; round < 50; round++) {
            StringBuilder expected = new StringBuilder();
            for (int i = random.nextInt(40); i > 0; i--) {
                long mark = reply.mark();
                int length = expected.length();
                write(random, runs, expected, 2);
                if (random.nextInt(3) == 0) {
                    reply.rollback(mark);
                    expected.setLength(length);
                }
                assertThat(reply.pendingBytes()).as("seed %d, round %d", seed, round).isEqualTo(expected.length());
                assertThat(reply.copiedBytes()).isLessThanOrEqualTo(expected.length()).isNotNegative();
            }
            assertThat(taken()).as("seed %d, round %d", seed, round).isEqualTo(expected.toString());
        }
        assertThat(runs).allMatch(run -> run.holders == 1);
    }

    private void write(SplittableRandom random, List<TestRun> runs, StringBuilder expected, int depth) {
        switch (random.nextInt(depth > 0 ? 9 : 7)) {
            case 0 -> {
                long value = random.nextLong() >> random.nextInt(64);
                reply.integer(value);
                expected.append(':').append(value).append("\r\n");
            }
            case 1 -> {
                byte[] bytes = new byte[random.nextInt(1 << random.nextInt(1, 17))];
                Arrays.fill(bytes, (byte) 'x');
                reply.bulk(bytes);
                expected.append('$').append(bytes.length).append("\r\n").append("x".repeat(bytes.length))
                        .append("\r\n");
            }
            case 2 -> {
                reply.ok();
                expected.append("+OK\r\n");
            }
            case 3 -> {
                TestRun run = runs.get(random.nextInt(runs.size()));
                int length = random.nextInt(1 << random.nextInt(1, 13));
                reply.bulk(run.address(), length);
                expected.append('$').append(length).append("\r\n");
                for (int i = 0; i < length; i++) {
                    expected.append((char) ('a' + i % 26));
                }
                expected.append("\r\n");
            }
            case 4 -> {
                double value = random.nextInt(1000) / 8.0;
                String text = value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
                reply.bulkDouble(value);
                expected.append('$').append(text.length()).append("\r\n").append(text).append("\r\n");
            }
            case 5, 6 -> {
                TestRun run = runs.get(random.nextInt(runs.size()));
                int from = random.nextInt(10_000);
                reply.bigBulk(run, run.address() + from, run.length() - from);
                expected.append('$').append(run.length() - from).append("\r\n");
                for (int i = from; i < run.length(); i++) {
                    expected.append((char) ('a' + i % 26));
                }
                expected.append("\r\n");
            }
            default -> {
                long mark = reply.beginDeferred();
                int place = expected.length();
                int count = random.nextInt(5);
                for (int i = 0; i < count; i++) {
                    write(random, runs, expected, depth - 1);
                }
                if (random.nextBoolean()) {
                    reply.endArray(mark, count);
                    expected.insert(place, "*" + count + "\r\n");
                } else {
                    long cursor = random.nextLong() >>> random.nextInt(64);
                    String digits = Long.toUnsignedString(cursor);
                    reply.endScan(mark, cursor, count);
                    expected.insert(place, "*2\r\n$" + digits.length() + "\r\n" + digits + "\r\n*" + count + "\r\n");
                }
            }
        }
    }

    /** Headers of up to two digits are written with what follows them in the buffer: not one byte of it may stay. */
    @Test
    void everyShortNumberComesOutBehindEveryOther() {
        StringBuilder expected = new StringBuilder();
        for (int one = -101; one <= 1001; one += one < 101 ? 1 : 100) {
            for (int another = 0; another <= 110; another++) {
                reply.integer(one);
                reply.array(another);
                expected.append(':').append(one).append("\r\n*").append(another).append("\r\n");
            }
        }
        assertThat(taken()).isEqualTo(expected.toString());
    }

    /** Whatever is left of a chunk, down to nothing, when a reply begins that is written by words. */
    @Test
    void aShortReplyFitsWhereAChunkEnds() {
        for (int left = 0; left < 40; left++) {
            StringBuilder expected = new StringBuilder();
            int length = (16 << 10) - left - 8;
            reply.bulk(new byte[length]);
            expected.append('$').append(length).append("\r\n").append("\0".repeat(length)).append("\r\n");
            reply.ok();
            reply.integer(7);
            reply.array(42);
            expected.append("+OK\r\n:7\r\n*42\r\n");
            assertThat(taken()).as("%d bytes left", left).isEqualTo(expected.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 9, 10, 99, 100, 1000, 10_000})
    void integersThatWereReservedTakeNoOtherBuffer(int count) {
        for (int before = 0; before < 30; before++) {
            reply.bulk(new byte[(16 << 10) - before - 20]);
            reply.reserveIntegers(count, 5);
            long taken = allocator.metric().usedDirectMemory();
            reply.array(count);
            for (int i = 0; i < count; i++) {
                reply.integer(-2);
            }
            assertThat(allocator.metric().usedDirectMemory()).as("%d, %d", count, before).isEqualTo(taken);
            assertThat(taken()).endsWith(":-2\r\n");
        }
    }

    /** Its header does not make it a short one: with that it is longer than a four-byte number can state. */
    @Test
    void theLongestBulkIsRefusedWithoutMemory() {
        TestRun run = run(20_000);
        AbstractByteBufAllocator small = new AbstractByteBufAllocator(true) {
            @Override
            public boolean isDirectBufferPooled() {
                return false;
            }

            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                return allocator.heapBuffer(initialCapacity, maxCapacity);
            }

            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                if (initialCapacity > 1 << 20) {
                    throw NoBufferException.of(initialCapacity);
                }
                return allocator.directBuffer(initialCapacity, maxCapacity);
            }
        };
        reply.close();
        reply = new ReplyWriter(small, heap);
        reply.ok();
        assertThatThrownBy(() -> reply.bulk(run.address(), Integer.MAX_VALUE - 7))
                .isInstanceOf(NoBufferException.class);
    }

    @Test
    void manySmallPiecesTakeFewBuffers() {
        byte[] bytes = new byte[40];
        int count = 1_000_000;
        for (int i = 0; i < count; i++) {
            reply.bulk(bytes);
        }
        List<ByteBuf> pieces = new ArrayList<>();
        reply.take(pieces::add);
        assertThat(pieces.stream().mapToLong(ByteBuf::readableBytes).sum()).isEqualTo(count * 47L);
        assertThat(pieces).hasSizeLessThan(200);
        assertThat(pieces).allMatch(piece -> piece.capacity() <= 1 << 20);
        pieces.forEach(ByteBuf::release);
    }

    /** The text between large values is some bytes each: it does not take a buffer each. */
    @Test
    void manyLargeValuesTakeFewBuffers() {
        TestRun run = run(20_000);
        for (int i = 0; i < 1000; i++) {
            reply.bigBulk(run, run.address(), run.length());
        }
        assertThat(allocator.metric().usedDirectMemory()).isLessThan(64 << 10);
        assertThat(taken()).hasSize(1000 * (8 + 20_000 + 2));
        assertThat(run.holders).isOne();
    }

    @Test
    void largeValuesUpToTheHeapBudget() {
        TestRun run = run(20_000);
        long mark = reply.mark();
        assertThatThrownBy(() -> {
            for (int i = 0; i < 1_000_000; i++) {
                reply.bigBulk(run, run.address(), run.length());
            }
        }).isInstanceOfSatisfying(NoBufferException.class, none -> assertThat(none.isRecoverable()).isFalse());
        reply.rollback(mark);
        assertThat(run.holders).isOne();
        assertThat(reply.isEmpty()).isTrue();
    }
}
