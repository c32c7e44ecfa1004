package io.varve.server.rdb;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzRun;
import io.varve.server.fuzz.GuardedMemory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import static io.varve.server.rdb.Payloads.integers;
import static io.varve.server.rdb.Payloads.length;
import static io.varve.server.rdb.Payloads.listpack;
import static io.varve.server.rdb.Payloads.little;
import static io.varve.server.rdb.Payloads.texts;
import static io.varve.server.rdb.Payloads.ziplist;
import static io.varve.server.rdb.Payloads.zipmap;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Feeds any bytes to the reader of payloads: it finds a value or throws its one exception, depends only on the bytes,
 * and takes memory in proportion. Confined to the test's thread.
 */
public class PayloadFuzzTest {
    /** A number takes three times the bytes that it is written in, LZF makes 88 of one, and both may come together. */
    private static final int MAX_EXPANSION = Lzf.MAX_EXPANSION * 4;
    private static final int CANARY_BYTES = 8;

    private static final GuardedMemory PAYLOAD = new GuardedMemory(1 << 16);

    @AfterAll
    public static void fuzzerTearDown() {
        PAYLOAD.close();
    }

    @Test
    void anyBytesAreAValueOrAreRefused() {
        new FuzzRun(fuzzCase()).run();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        String longer = "x".repeat(300);
        return new FuzzCase(PayloadFuzzTest.class, PayloadFuzzTest::fuzzerTestOneInput,
                List.of("\0" + texts("text"), "\0\u00c0\u0085", "\0\u00c1" + little(-3000, 2),
                        "\0\u00c2" + little(-1, 4),
                        "\0\u00c3\u0009\u0017\u0002abc\u0080\u0002\u00e0\u0005\u0000",
                        "\u0001" + length(3) + texts("a", "b", "7"),
                        "\n" + ziplist("a", "12", "-1000", longer, "1", "1000000"),
                        "\u000e" + length(2) + ziplist("a", "b") + ziplist("c"),
                        "\u0012" + length(2) + "\u0002" + listpack("a", longer) + "\u0001" + texts("z"),
                        "\u0002" + length(2) + texts("a", "b"), "\u000b" + integers(4, 1, 2, 3),
                        "\u000b" + integers(2, -5),
                        "\u000b" + integers(8, Long.MIN_VALUE), "\u0014" + listpack("a", "b", "c"),
                        "\u0003" + length(3) + texts("a", "1.5") + texts("b") + "\u00fe" + texts("c") + "\u00fd",
                        "\u0005" + length(1) + texts("a") + little(Double.doubleToRawLongBits(7), 8),
                        "\f" + ziplist("a", "1", "b", "2.5"), "\u0011" + listpack("a", "1", "b", "-inf"),
                        "\u0004" + length(2) + texts("a", "b", "c", "d"), "\t" + zipmap("a", "b", "c", longer),
                        "\r" + ziplist("a", "b", "c", "d"), "\u0010" + listpack("a", "b", "c", "d"),
                        "\u0016" + length(2) + length(7) + texts("a", "b") + length(0) + texts("c", "d"),
                        "\u0017" + listpack("a", "b", "7", "c", "d", "0"),
                        "\u0018" + little(7, 8) + length(2) + length(1) + texts("a", "b") + length(0)
                                + texts("c", "d"),
                        "\u0019" + little(7, 8) + listpack("a", "b", "7", "c", "d", "0"),
                        "\u000f" + Payloads.stream(15), "\u0013" + Payloads.stream(19),
                        "\u0015" + Payloads.stream(21)),
                List.of("\u00ff", "\u00fe", "\u00fd", "\u0080", "\u0081", "\u00c0", "\u00c3", "\u00f0", "\u00f4",
                        "\0\0\0\0", "\u0080\u00ff\u00ff\u00ff\u00ff",
                        "\u0081\u007f\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff", "\u0080\u007f\u00ff\u00ff\u00ff",
                        "\u00ff\u00ff\u00ff\u007f",
                        texts(""), listpack(), ziplist(), zipmap(), integers(2), "nan", "1e999"));
    }

    public static void fuzzerTestOneInput(byte[] value) {
        byte[] payload = Arrays.copyOf(value, value.length + PayloadLayout.FOOTER_BYTES);
        payload[value.length] = PayloadLayout.LATEST_VERSION;
        int summed = payload.length - Long.BYTES;
        long checksum = Crc64.of(PAYLOAD.put(payload, 0, summed, (byte) 0), summed);
        for (int i = 0; i < Long.BYTES; i++) {
            payload[summed + i] = (byte) (checksum >>> i * Byte.SIZE);
        }
        String read = read(payload, (byte) 0);
        assertThat(read(payload, (byte) 0xff)).isEqualTo(read);
        PayloadReader.isIntact(PAYLOAD.put(value, 0, value.length, (byte) 0), value.length);
    }

    /** The read elements, which do not depend on the bytes in front of the payload and around unpacked values. */
    private static String read(byte[] payload, byte around) {
        long address = PAYLOAD.put(payload, 0, payload.length, around);
        assertThat(PayloadReader.isIntact(address, payload.length)).isTrue();
        try (Arena arena = Arena.ofConfined()) {
            Unpacked unpacked = new Unpacked(arena, around);
            Recorder recorder = new Recorder();
            String end = "";
            try {
                new PayloadReader(unpacked).read(address, payload.length, recorder);
                assertThat(recorder.kind).isNotNull();
            } catch (CorruptPayloadException corrupt) {
                end = "corrupt";
            }
            unpacked.check((long) MAX_EXPANSION * payload.length);
            return recorder.kind + " " + recorder.seen + recorder.stream + end;
        }
    }

    /** Memory for unpacked values, with guard bytes around it. */
    private static final class Unpacked implements PayloadMemory {
        private final Arena arena;
        private final byte around;
        private final java.util.ArrayList<long[]> taken = new java.util.ArrayList<>();
        private long bytes;

        Unpacked(Arena arena, byte around) {
            this.arena = arena;
            this.around = around;
        }

        @Override
        public long take(int length) {
            assertThat(length).isNotNegative();
            bytes += length;
            long address = arena.allocate((long) length + 2 * CANARY_BYTES).fill(around).address() + CANARY_BYTES;
            taken.add(new long[] {address, length});
            return address;
        }

        void check(long max) {
            assertThat(bytes).isLessThanOrEqualTo(max);
            for (long[] each : taken) {
                for (int i = 0; i < CANARY_BYTES; i++) {
                    assertThat(Memory.getByte(each[0] - 1 - i)).isEqualTo(around);
                    assertThat(Memory.getByte(each[0] + each[1] + i)).isEqualTo(around);
                }
            }
        }
    }

    /** Computes a hash of each byte that it gets. */
    private static final class Recorder implements ValueSink {
        private @Nullable Kind kind;
        private final StringBuilder stream = new StringBuilder();
        private long seen;

        @Override
        public void begin(Kind what) {
            assertThat(kind).isNull();
            kind = what;
        }

        @Override
        public void element(long address, int length) {
            assertThat(kind).isIn(Kind.STRING, Kind.LIST, Kind.SET);
            see(address, length);
        }

        @Override
        public void member(long address, int length, double score) {
            assertThat(kind).isEqualTo(Kind.SORTED_SET);
            assertThat(score).isNotNaN();
            see(address, length);
            seen = 31 * seen + Double.hashCode(score);
        }

        @Override
        public void field(long field, int fieldLength, long value, int valueLength, long time) {
            assertThat(kind).isEqualTo(Kind.HASH);
            assertThat(time).isGreaterThanOrEqualTo(Item.NEVER);
            see(field, fieldLength);
            see(value, valueLength);
            seen = 31 * seen + time;
        }

        @Override
        public StreamSink stream() {
            assertThat(kind).isEqualTo(Kind.STREAM);
            return new StreamText(stream);
        }

        private void see(long address, int length) {
            seen = 31 * seen + length + 1;
            seen = 31 * seen + Arrays.hashCode(Memory.toArray(address, length));
        }
    }
}
