package io.varve.memory.collection.stream;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests the byte layouts of streams: sizes, round trips, order, and that no fields overlap. Confined to one thread. */
class StreamLayoutTest {
    private static final int BYTES = 1 << 20;

    private final Arena arena = Arena.ofConfined();
    private final long memory = arena.allocate(BYTES).address();

    @BeforeEach
    void announce() {
        LiveRanges.add(memory, BYTES);
    }

    @AfterEach
    void forget() {
        LiveRanges.remove(memory);
        arena.close();
    }

    @ParameterizedTest
    @ValueSource(bytes = {0, -1})
    void metadataFieldsDoNotOverlap(byte filled) {
        Memory.fill(memory, BYTES, filled);
        StreamMetadataLayout.length(memory, Long.MAX_VALUE);
        StreamMetadataLayout.lastId(memory, -1, 2);
        StreamMetadataLayout.firstId(memory, 3, -4);
        StreamMetadataLayout.maxDeletedId(memory, Long.MIN_VALUE, 6);
        StreamMetadataLayout.added(memory, 7);
        StreamMetadataLayout.nextGroup(memory, 8);
        StreamMetadataLayout.packedId(memory, 9, 10);
        assertThat(StreamMetadataLayout.BYTES).isEqualTo(72);
        assertThat(StreamMetadataLayout.PACKED_BLOCK).isEqualTo(88);
        assertThat(StreamMetadataLayout.length(memory)).isEqualTo(Long.MAX_VALUE);
        assertThat(StreamMetadataLayout.lastMs(memory)).isEqualTo(-1);
        assertThat(StreamMetadataLayout.lastSeq(memory)).isEqualTo(2);
        assertThat(StreamMetadataLayout.firstMs(memory)).isEqualTo(3);
        assertThat(StreamMetadataLayout.firstSeq(memory)).isEqualTo(-4);
        assertThat(StreamMetadataLayout.maxDeletedMs(memory)).isEqualTo(Long.MIN_VALUE);
        assertThat(StreamMetadataLayout.maxDeletedSeq(memory)).isEqualTo(6);
        assertThat(StreamMetadataLayout.added(memory)).isEqualTo(7);
        assertThat(StreamMetadataLayout.nextGroup(memory)).isEqualTo(8);
        assertThat(StreamMetadataLayout.packedMs(memory)).isEqualTo(9);
        assertThat(StreamMetadataLayout.packedSeq(memory)).isEqualTo(10);
        assertThat(Memory.getByte(memory + StreamMetadataLayout.PACKED_BLOCK)).isEqualTo(filled);
        StreamMetadataLayout.clear(memory);
        assertThat(Memory.toArray(memory, StreamMetadataLayout.BYTES)).containsOnly(0);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 63, 64, 127, 128, -1, 4095, 4096, -4096, -4097, 32767, 32768, -32768, -32769, 8388607,
            8388608, -8388608, -8388609, Integer.MAX_VALUE, Integer.MIN_VALUE, Integer.MAX_VALUE + 1L,
            Integer.MIN_VALUE - 1L, Long.MAX_VALUE, Long.MIN_VALUE})
    void integersComeBack(long value) {
        long next = Listpack.putInteger(memory, value);
        assertThat(next - memory).isEqualTo(Listpack.integerBytes(value));
        assertThat(Listpack.isInteger(memory)).isTrue();
        assertThat(Listpack.integer(memory)).isEqualTo(value);
        assertThat(Listpack.next(memory)).isEqualTo(next);
        assertThat(Listpack.previous(next)).isEqualTo(memory);
        String text = Long.toString(value);
        long argument = argument(text);
        assertThat(Listpack.textBytes(argument, text.length())).isEqualTo(Listpack.integerBytes(value));
        assertThat(Listpack.putText(memory, argument, text.length())).isEqualTo(next);
        assertThat(Listpack.isInteger(memory)).isTrue();
        assertThat(Listpack.integer(memory)).isEqualTo(value);
        assertThat(Listpack.isText(memory, argument, text.length())).isTrue();
        assertThat(Listpack.isText(memory, argument("x" + text), text.length() + 1)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 19, 63, 64, 126, 127, 128, 4095, 4096, 16376, 16377, 16378, 16383, 16384, 65536,
            300_000})
    void textsComeBack(int length) {
        String text = "t".repeat(length);
        long argument = argument(text);
        long next = Listpack.putText(memory, argument, length);
        assertThat(next - memory).isEqualTo(Listpack.textBytes(argument, length));
        assertThat(Listpack.isInteger(memory)).isFalse();
        assertThat(Listpack.textLength(memory)).isEqualTo(length);
        assertThat(text(Listpack.textAddress(memory), length)).isEqualTo(text);
        assertThat(Listpack.next(memory)).isEqualTo(next);
        assertThat(Listpack.previous(next)).isEqualTo(memory);
        assertThat(Listpack.isText(memory, argument, length)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "-0", "00", "01", "-01", "+1", " 1", "1 ", "9223372036854775808",
            "-9223372036854775809", "99999999999999999999", "1a", "1.0", "--1"})
    void whatIsNoDecimalFormStaysText(String text) {
        Listpack.putText(memory, argument(text), text.length());
        assertThat(Listpack.isInteger(memory)).isFalse();
        assertThat(text(Listpack.textAddress(memory), Listpack.textLength(memory))).isEqualTo(text);
    }

    private long argument(String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        Memory.copy(bytes, 0, memory + BYTES / 2, bytes.length);
        return memory + BYTES / 2;
    }

    private static String text(long address, int length) {
        return new String(Memory.toArray(address, length), ISO_8859_1);
    }

    // --- keys of group records

    private static final long[] NUMBERS = {0, 1, 30, 31, 32, 2046, 2047, 2048, (1L << 42) - 2, (1L << 42) - 1, 1L << 42,
            Long.MAX_VALUE, Long.MIN_VALUE, -1};
    private static final int[] IDS = {0, 1, 62, 63, 64, 254, 255, 256, Integer.MAX_VALUE};

    @Test
    void keysOfPendingEntriesAreInTheOrderOfTheirNumbers() {
        List<byte[]> pending = new ArrayList<>();
        List<byte[]> owned = new ArrayList<>();
        for (int group : IDS) {
            for (long ms : NUMBERS) {
                for (long seq : NUMBERS) {
                    int length = GroupRecordLayout.pending(memory, group, ms, seq);
                    assertThat(GroupRecordLayout.kind(memory)).isEqualTo(GroupRecordLayout.PENDING);
                    assertNumbers(length, group, ms, seq);
                    pending.add(Memory.toArray(memory, length));
                }
            }
            for (int consumer : IDS) {
                for (long ms : NUMBERS) {
                    int length = GroupRecordLayout.owned(memory, group, consumer, ms, 1);
                    assertThat(GroupRecordLayout.kind(memory)).isEqualTo(GroupRecordLayout.OWNED);
                    assertThat(GroupRecordLayout.consumerOf(memory, length)).isEqualTo(consumer);
                    assertNumbers(length, group, ms, 1);
                    owned.add(Memory.toArray(memory, length));
                }
            }
        }
        assertThat(pending).isSortedAccordingTo(java.util.Arrays::compareUnsigned).doesNotHaveDuplicates();
        assertThat(owned).isSortedAccordingTo(java.util.Arrays::compareUnsigned).doesNotHaveDuplicates();
        assertThat(GroupRecordLayout.pending(memory, 3, 1_700_000_000_000L, 5)).isEqualTo(Long.BYTES);
        assertThat(GroupRecordLayout.owned(memory, 3, 4, 1_700_000_000_000L, 5)).isEqualTo(Long.BYTES);
    }

    private void assertNumbers(int length, int group, long ms, long seq) {
        assertThat(length).isLessThanOrEqualTo(GroupRecordLayout.MAX_NUMBERS_BYTES);
        assertThat(GroupRecordLayout.groupOf(memory, length)).isEqualTo(group);
        assertThat(GroupRecordLayout.ms(memory, length)).isEqualTo(ms);
        assertThat(GroupRecordLayout.seq(memory, length)).isEqualTo(seq);
    }

    @Test
    void keysWithNamesHaveThem() {
        long name = argument("name");
        int length = GroupRecordLayout.group(memory, name, 4);
        assertThat(GroupRecordLayout.kind(memory)).isEqualTo(GroupRecordLayout.GROUP);
        assertThat(text(memory + GroupRecordLayout.nameOffset(memory), length - GroupRecordLayout.nameOffset(memory)))
                .isEqualTo("name");
        length = GroupRecordLayout.consumer(memory, 77, name, 4);
        assertThat(GroupRecordLayout.kind(memory)).isEqualTo(GroupRecordLayout.CONSUMER);
        assertThat(GroupRecordLayout.groupOf(memory, length)).isEqualTo(77);
        assertThat(text(memory + GroupRecordLayout.nameOffset(memory), length - GroupRecordLayout.nameOffset(memory)))
                .isEqualTo("name");
        length = GroupRecordLayout.name(memory, 77, 88);
        assertThat(GroupRecordLayout.kind(memory)).isEqualTo(GroupRecordLayout.NAME);
        assertThat(GroupRecordLayout.groupOf(memory, length)).isEqualTo(77);
        assertThat(GroupRecordLayout.consumerOf(memory, length)).isEqualTo(88);
    }

    @ParameterizedTest
    @ValueSource(bytes = {0, -1})
    void valuesOfRecordsDoNotOverlap(byte filled) {
        Memory.fill(memory, BYTES, filled);
        GroupRecordLayout.groupValue(memory, 1, -2, 3, -4);
        assertThat(GroupRecordLayout.groupId(memory)).isEqualTo(1);
        assertThat(GroupRecordLayout.lastMs(memory)).isEqualTo(-2);
        assertThat(GroupRecordLayout.lastSeq(memory)).isEqualTo(3);
        assertThat(GroupRecordLayout.entriesRead(memory)).isEqualTo(-4);
        assertThat(Memory.getByte(memory + GroupRecordLayout.GROUP_BYTES)).isEqualTo(filled);
        Memory.fill(memory, BYTES, filled);
        GroupRecordLayout.consumerValue(memory, Integer.MAX_VALUE, 5, -1);
        assertThat(GroupRecordLayout.consumerId(memory)).isEqualTo(Integer.MAX_VALUE);
        assertThat(GroupRecordLayout.seenMillis(memory)).isEqualTo(5);
        assertThat(GroupRecordLayout.activeMillis(memory)).isEqualTo(-1);
        assertThat(Memory.getByte(memory + GroupRecordLayout.CONSUMER_BYTES)).isEqualTo(filled);
        Memory.fill(memory, BYTES, filled);
        GroupRecordLayout.pendingValue(memory, 6, Long.MAX_VALUE, -1);
        assertThat(GroupRecordLayout.pendingConsumer(memory)).isEqualTo(6);
        assertThat(GroupRecordLayout.deliveredMillis(memory)).isEqualTo(Long.MAX_VALUE);
        assertThat(GroupRecordLayout.deliveries(memory)).isEqualTo(-1);
        assertThat(Memory.getByte(memory + GroupRecordLayout.PENDING_BYTES)).isEqualTo(filled);
    }
}
