package io.varve.server.rdb;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.server.rdb.Payloads.integers;
import static io.varve.server.rdb.Payloads.length;
import static io.varve.server.rdb.Payloads.listpack;
import static io.varve.server.rdb.Payloads.little;
import static io.varve.server.rdb.Payloads.payload;
import static io.varve.server.rdb.Payloads.texts;
import static io.varve.server.rdb.Payloads.ziplist;
import static io.varve.server.rdb.Payloads.zipmap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests payloads of all types and versions. Confined to the test's thread. */
class PayloadReaderTest {
    private static final String LONG = "x".repeat(300);
    private static final String VERY_LONG = "y".repeat(20_000);
    private static final String[] WORDS = {"a", "", LONG, VERY_LONG, "0", "12", "13", "-1", "127", "-128", "128",
            "-4096",
            "4095", "32767", "-32768", "8388607", "-8388608", "8388608", "2147483647", "-2147483648", "2147483648",
            "123456789012345678", "007", "z"};

    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void close() {
        arena.close();
    }

    private long address(String bytes) {
        long address = arena.allocate(Math.max(1, bytes.length())).address();
        Memory.copy(bytes.getBytes(StandardCharsets.ISO_8859_1), 0, address, bytes.length());
        return address;
    }

    /** The read elements, as words behind the kind. */
    private String read(String payload) {
        StringBuilder seen = new StringBuilder();
        long address = address(payload);
        assertThat(PayloadReader.isIntact(address, payload.length())).isTrue();
        new PayloadReader(bytes -> arena.allocate(Math.max(1, bytes)).address()).read(address, payload.length(),
                new ValueSink() {
                    @Override
                    public void begin(Kind kind) {
                        seen.append(kind);
                    }

                    @Override
                    public void element(long at, int length) {
                        seen.append(' ').append(text(at, length));
                    }

                    @Override
                    public void member(long at, int length, double score) {
                        seen.append(' ').append(text(at, length)).append('=').append(score);
                    }

                    @Override
                    public StreamSink stream() {
                        return new StreamText(seen);
                    }

                    @Override
                    public void field(long field, int fieldLength, long value, int valueLength, long time) {
                        seen.append(' ').append(text(field, fieldLength)).append('=').append(text(value, valueLength));
                        if (time != Item.NEVER) {
                            seen.append('@').append(time);
                        }
                    }
                });
        return seen.toString();
    }

    private static String text(long address, int length) {
        return new String(Memory.toArray(address, length), StandardCharsets.ISO_8859_1);
    }

    private static String words(String kind) {
        return kind + " " + String.join(" ", WORDS);
    }

    @Test
    void stringsAreNumbersOrPackedOrAsTheyAre() {
        assertThat(read(payload(0, texts("text")))).isEqualTo("STRING text");
        assertThat(read(payload(0, "\u00c0\u0085"))).isEqualTo("STRING -123");
        assertThat(read(payload(0, "\u00c1" + little(-3000, 2)))).isEqualTo("STRING -3000");
        assertThat(read(payload(0, "\u00c2" + little(1_000_000, 4)))).isEqualTo("STRING 1000000");
        assertThat(read(payload(0, texts(VERY_LONG)))).isEqualTo("STRING " + VERY_LONG);
        assertThat(read(payload(0, "\u0081" + "\0\0\0\0\0\0\0\u0003abc"))).isEqualTo("STRING abc");
        // Three bytes as they are, six of those again, then fourteen of the last one.
        String packed = "\u0002abc" + "\u0080\u0002" + "\u00e0\u0005\u0000";
        assertThat(read(payload(0, "\u00c3" + length(packed.length()) + length(23) + packed)))
                .isEqualTo("STRING abcabcabc" + "c".repeat(14));
    }

    @Test
    void listsOfAllAges() {
        assertThat(read(payload(1, length(WORDS.length) + texts(WORDS)))).isEqualTo(words("LIST"));
        assertThat(read(payload(10, ziplist(WORDS)))).isEqualTo(words("LIST"));
        assertThat(read(payload(14, length(3) + ziplist("a", "1") + ziplist() + ziplist("b")))).isEqualTo("LIST a 1 b");
        assertThat(read(payload(18, length(3) + "\u0002" + listpack(WORDS) + "\u0001" + texts(VERY_LONG) + "\u0002"
                + listpack("end")))).isEqualTo(words("LIST") + " " + VERY_LONG + " end");
    }

    @Test
    void setsOfAllAges() {
        assertThat(read(payload(2, length(WORDS.length) + texts(WORDS)))).isEqualTo(words("SET"));
        assertThat(read(payload(20, listpack(WORDS)))).isEqualTo(words("SET"));
        assertThat(read(payload(11, integers(2, -5, 7, 32767)))).isEqualTo("SET -5 7 32767");
        assertThat(read(payload(11, integers(4, -70_000, 7)))).isEqualTo("SET -70000 7");
        assertThat(read(payload(11, integers(8, Long.MIN_VALUE, Long.MAX_VALUE))))
                .isEqualTo("SET -9223372036854775808 9223372036854775807");
    }

    @Test
    void streamsOfAllAges() {
        String entries = "STREAM -5-0 f=v +6-0 g=w length 1 added ";
        String group = " at 6-0 pending 6-0 at 1000 times 3 consumer me seen 1100 active ";
        assertThat(read(payload(15, Payloads.stream(15)))).isEqualTo(entries
                + "1 last 7-0 first 6-0 deleted 0-0 group group read 1" + group + "1100 owns 6-0");
        String numbers = "2 last 7-0 first 6-0 deleted 5-0 group group read 2";
        assertThat(read(payload(19, Payloads.stream(19)))).isEqualTo(entries + numbers + group + "1100 owns 6-0");
        assertThat(read(payload(21, Payloads.stream(21)))).isEqualTo(entries + numbers + group + "900 owns 6-0");
    }

    @Test
    void streamsThatEndEarlyAreCorrupt() {
        for (int type : new int[] {15, 19, 21}) {
            String stream = Payloads.stream(type);
            for (int i = 0; i < stream.length(); i++) {
                String payload = payload(type, stream.substring(0, i));
                assertThatThrownBy(() -> read(payload)).as("%d bytes of type %d", i, type)
                        .isInstanceOf(CorruptPayloadException.class);
            }
        }
    }

    @Test
    void sortedSetsOfAllAges() {
        String expected = "SORTED_SET a=1.5 b=-Infinity 7=3.0";
        assertThat(read(payload(3, length(3) + texts("a", "1.5") + texts("b") + "\u00ff" + texts("7") + texts("3"))))
                .isEqualTo(expected);
        assertThat(
                read(payload(5,
                        length(3) + texts("a") + bits(1.5) + texts("b") + bits(Double.NEGATIVE_INFINITY) + texts("7")
                                + bits(3))))
                .isEqualTo(expected);
        assertThat(read(payload(12, ziplist("a", "1.5", "b", "-inf", "7", "3")))).isEqualTo(expected);
        assertThat(read(payload(17, listpack("a", "1.5", "b", "-inf", "7", "3")))).isEqualTo(expected);
    }

    private static String bits(double value) {
        return little(Double.doubleToRawLongBits(value), 8);
    }

    @Test
    void hashesOfAllAges() {
        String expected = "HASH f=v g=" + LONG + " 7=12 =";
        String[] words = {"f", "v", "g", LONG, "7", "12", "", ""};
        assertThat(read(payload(4, length(4) + texts(words)))).isEqualTo(expected);
        assertThat(read(payload(9, zipmap(words)))).isEqualTo(expected);
        assertThat(read(payload(13, ziplist(words)))).isEqualTo(expected);
        assertThat(read(payload(16, listpack(words)))).isEqualTo(expected);
    }

    @Test
    void hashPayloadsWithFieldTimesOfAllVersions() {
        String expected = "HASH f=v@1000 g=12 =@70368744177663";
        long last = (1L << 46) - 1;
        String[] triples = {"f", "v", "1000", "g", "12", "0", "", "", Long.toString(last)};
        String early = length(3) + length(1000) + texts("f", "v") + length(0) + texts("g", "12")
                + "\u0081" + new StringBuilder(little(last, 8)).reverse() + texts("", "");
        String late = little(1000, 8) + length(3) + length(1) + texts("f", "v") + length(0) + texts("g", "12")
                + "\u0081" + new StringBuilder(little(last - 999, 8)).reverse() + texts("", "");
        assertThat(read(Payloads.withFooter((char) 22 + early, 12))).isEqualTo(expected);
        assertThat(read(Payloads.withFooter((char) 23 + listpack(triples), 12))).isEqualTo(expected);
        assertThat(read(Payloads.withFooter((char) 24 + late, 12))).isEqualTo(expected);
        assertThat(read(Payloads.withFooter((char) 25 + little(1000, 8) + listpack(triples), 12))).isEqualTo(expected);
        assertThat(read(Payloads.withFooter((char) 24 + little(1L << 48, 8) + length(1) + length(0)
                + texts("f", "v"), 12))).as("none has a time").isEqualTo("HASH f=v");
        for (String corrupt : new String[] {(char) 24 + little((1L << 48) + 1, 8) + length(1) + length(0)
                + texts("f", "v"), (char) 24 + little(1L << 48, 8) + length(1) + length(1) + texts("f", "v"),
                (char) 25 + little(1, 8) + listpack("f", "v", "x"), (char) 25 + little(1, 8) + listpack("f", "v"),
                (char) 25 + little(1, 8) + listpack("f", "v", "-1"),
                (char) 23 + listpack("f", "v", Long.toString(1L << 48))}) {
            assertThatThrownBy(() -> read(Payloads.withFooter(corrupt, 12)))
                    .isInstanceOf(CorruptPayloadException.class);
        }
    }

    @Test
    void listpacksHaveNumbersOfAllWidths() {
        String numbers = "\u007f\u0001" + "\u00df\u00ff\u0002" + "\u00d0\u0000\u0002" + "\u00cf\u00ff\u0002" + "\u00f1"
                + little(-4097, 2) + "\u0003"
                + "\u00f2" + little(-8_388_608, 3) + "\u0004" + "\u00f3" + little(Integer.MIN_VALUE, 4) + "\u0005"
                + "\u00f4"
                + little(Long.MAX_VALUE, 8) + "\u0009";
        String listpack = texts(little(7 + numbers.length(), 4) + little(0xFFFF, 2) + numbers + '\u00ff');
        assertThat(read(payload(20, listpack)))
                .isEqualTo("SET 127 -1 -4096 4095 -4097 -8388608 -2147483648 9223372036854775807");
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 7, 8, 15, 19, 21, 26, 255})
    void otherTypesAreNotKnown(int type) {
        assertThatThrownBy(() -> read(payload(type, texts("a", "b", "c")))).isInstanceOf(CorruptPayloadException.class);
    }

    @Test
    void versionsFrom1To12AreReadWhereTheChecksumIsRight() {
        for (int version = 0; version < 20; version++) {
            String payload = Payloads.withFooter("\0" + texts("v"), version);
            String unsummed = payload.substring(0, payload.length() - 8);
            boolean known = version >= 1 && version <= 12;
            assertThat(intact(payload)).isEqualTo(known);
            assertThat(intact(unsummed + "\0\0\0\0\0\0\0\0")).isFalse();
            assertThat(intact(unsummed + "\0\0\0\0\0\0\0\u0001")).isFalse();
        }
        assertThat(intact("123456789")).isFalse();
        assertThat(intact("")).isFalse();
    }

    private boolean intact(String payload) {
        return PayloadReader.isIntact(address(payload), payload.length());
    }

    @Test
    void theChecksumIsThatOfRedis() {
        assertThat(Crc64.of(address("123456789"), 9)).isEqualTo(0xE9C6D914C4B8D9CAL);
        SplittableRandom random = new SplittableRandom(1);
        for (int length = 0; length < 70; length++) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < length; i++) {
                text.append((char) random.nextInt(256));
            }
            assertThat(Crc64.of(address(text.toString()), length)).isEqualTo(Payloads.checksum(text.toString()));
        }
    }

    /**
     * Whatever is cut off is missed, and whatever is changed is read as something else or as nothing, within its
     * bounds.
     */
    @Test
    void corruptPayloadsEndInTheOneError() {
        String[] good = {payload(0, "\u00c3\u0009\u0017\u0002abc\u0080\u0002\u00e0\u0005\u0000"),
                payload(1, length(3) + texts("a", "b", "7")),
                payload(10, ziplist("a", "12", "-1000", LONG)),
                payload(14, length(2) + ziplist("a", "b") + ziplist("c")),
                payload(18, length(2) + "\u0002" + listpack("a", LONG) + "\u0001" + texts("z")),
                payload(11, integers(4, 1, 2, 3)),
                payload(20, listpack("a", "b", "c")), payload(3, length(2) + texts("a", "1.5") + texts("b") + "\u00fe"),
                payload(5, length(1) + texts("a") + bits(7)), payload(12, ziplist("a", "1", "b", "2")),
                payload(17, listpack("a", "1", "b", "2")), payload(4, length(2) + texts("a", "b", "c", "d")),
                payload(9, zipmap("a", "b", "c", LONG)), payload(13, ziplist("a", "b", "c", "d")),
                payload(16, listpack("a", "b", "c", "d")),
                payload(22, length(2) + length(7) + texts("a", "b") + length(0) + texts("c", "d")),
                payload(23, listpack("a", "b", "7", "c", "d", "0")),
                payload(24, little(7, 8) + length(2) + length(1) + texts("a", "b") + length(0) + texts("c", "d")),
                payload(25, little(7, 8) + listpack("a", "b", "7", "c", "d", "0"))};
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (String payload : good) {
            String body = payload.substring(0, payload.length() - 10);
            assertThat(read(payload)).isNotEmpty();
            for (int cut = 1; cut < body.length(); cut++) {
                String shorter = Payloads.withFooter(body.substring(0, cut), 10);
                assertThatThrownBy(() -> read(shorter)).as("%d of %s", cut, payload)
                        .isInstanceOf(CorruptPayloadException.class);
            }
            for (int round = 0; round < 3000; round++) {
                char[] changed = body.toCharArray();
                for (int i = random.nextInt(4); i >= 0; i--) {
                    changed[random.nextInt(changed.length)] = (char) random.nextInt(256);
                }
                try {
                    read(Payloads.withFooter(new String(changed), 10));
                } catch (CorruptPayloadException corrupt) {
                    assertThat(corrupt.getStackTrace()).isEmpty();
                }
            }
        }
    }
}
