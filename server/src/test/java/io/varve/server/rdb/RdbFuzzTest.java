package io.varve.server.rdb;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.memory.offheap.Memory;
import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzRun;
import io.varve.server.fuzz.GuardedMemory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import static io.varve.server.rdb.Payloads.length;
import static io.varve.server.rdb.Payloads.listpack;
import static io.varve.server.rdb.Payloads.little;
import static io.varve.server.rdb.Payloads.texts;
import static io.varve.server.rdb.Payloads.ziplist;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Feeds any bytes to the reader of RDB files: it finds entries or throws its one exception, depends only on the bytes,
 * and ends. Confined to the test's thread.
 */
public class RdbFuzzTest {
    private static final GuardedMemory FILE = new GuardedMemory(1 << 16);
    private static final String NO_CHECKSUM = "\u00ff\0\0\0\0\0\0\0\0";

    @AfterAll
    public static void fuzzerTearDown() {
        FILE.close();
    }

    @Test
    void anyBytesAreAFileOrAreRefused() {
        new FuzzRun(fuzzCase()).run();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        return new FuzzCase(RdbFuzzTest.class, RdbFuzzTest::fuzzerTestOneInput, files(), words());
    }

    /** Files of every kind, as ISO 8859-1. */
    public static List<String> files() {
        String head = "REDIS0010\u00fa" + texts("redis-ver", "7.0.15") + "\u00fe\0\u00fb" + length(2) + length(1);
        return List.of(head + "\0" + texts("key", "value") + "\u00fc" + little(4_000_000_000_000L, 8) + "\0"
                + texts("other", "7") + NO_CHECKSUM,
                head + "\u00f8" + length(77) + "\u0002" + texts("set") + length(2) + texts("a", "b")
                        + NO_CHECKSUM,
                head + "\u00f9\u0005\u0005" + texts("zset") + length(1) + texts("a") + little(7, 8)
                        + NO_CHECKSUM,
                head + "\u0003" + texts("zset") + length(2) + texts("a", "1.5") + texts("b") + "\u00fe"
                        + NO_CHECKSUM,
                head + "\u0012" + texts("list") + length(1) + "\u0002" + listpack("a", "b") + NO_CHECKSUM,
                head + "\u000e" + texts("list") + length(1) + ziplist("a", "b") + NO_CHECKSUM,
                head + "\u0018" + texts("hash") + little(7, 8) + length(2) + length(1) + texts("a", "b")
                        + length(0) + texts("c", "d") + NO_CHECKSUM,
                head + "\u000f" + texts("s") + Payloads.stream(15) + NO_CHECKSUM,
                head + "\u0013" + texts("s") + Payloads.stream(19) + NO_CHECKSUM,
                head + "\u0015" + texts("s") + Payloads.stream(21) + NO_CHECKSUM,
                "VALKEY080\u0016" + texts("hash") + length(2) + texts("a", "b") + little(-1, 8)
                        + texts("c", "d") + little(9, 8) + NO_CHECKSUM,
                "REDIS0001\0" + texts("key", "value") + "\u00ff",
                head + "\u0007" + texts("module") + "\u0081" + little(7, 8) + NO_CHECKSUM,
                head + "\u00f4" + length(1) + length(2) + length(3) + NO_CHECKSUM);
    }

    /** The pieces that files are made of. */
    public static List<String> words() {
        return List.of("REDIS0012", "\u00ff", "\u00fe", "\u00fd\0\0\0\0", "\u00fc", "\u00fb", "\u00fa", "\u00f9",
                "\u00f8", "\u00f5", "\u0080", "\u0081", "\u00c0", "\u00c3", "\u0080\u00ff\u00ff\u00ff\u00ff",
                "\u0081\u007f\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff", texts(""), texts("key"), listpack(),
                ziplist(), NO_CHECKSUM);
    }

    public static void fuzzerTestOneInput(byte[] file) {
        assertThat(read(file, (byte) 0xff)).isEqualTo(read(file, (byte) 0));
    }

    /** The content of a file as text. Bytes outside the file must not affect it. */
    private static String read(byte[] file, byte around) {
        long address = FILE.put(file, 0, file.length, around);
        StringBuilder seen = new StringBuilder();
        try (Arena arena = Arena.ofConfined()) {
            PayloadMemory memory = bytes -> arena.allocate(Math.max(1, bytes)).address();
            RdbReader reader = new RdbReader(address, file.length, memory, new RdbReader.Sink() {
                @Override
                public void auxiliary(String name, String value) {
                    seen.append(name).append('=').append(value).append(' ');
                }

                @Override
                public void sizes(int database, long keys, long expiring) {
                    seen.append(database).append(':').append(keys).append('/').append(expiring).append(' ');
                }

                @Override
                public void library(long offset, byte[] source) {
                    seen.append(offset).append(new String(source, StandardCharsets.ISO_8859_1)).append(' ');
                }
            });
            PayloadReader values = new PayloadReader(memory);
            while (reader.next()) {
                assertThat(reader.value() + reader.valueLength()).isLessThanOrEqualTo(address + file.length);
                seen.append(entry(reader, values)).append(' ');
            }
            seen.append("end at ").append(reader.offset());
        } catch (RdbException damaged) {
            seen.append(damaged.getMessage());
        }
        return seen.toString();
    }

    private static String entry(RdbReader reader, PayloadReader values) {
        StringBuilder seen = new StringBuilder().append(reader.database()).append(' ').append(reader.type())
                .append(' ').append(reader.expireAtMillis()).append(' ').append(reader.idleSeconds()).append(' ')
                .append(reader.frequency()).append(' ');
        try {
            int length = values.readText(reader.key(), reader.value() - reader.key());
            seen.append(text(values.text(), length)).append(' ');
            values.readValue(reader.type(), reader.value(), reader.valueLength(), new ValueSink() {
                @Override
                public void begin(Kind kind) {
                    seen.append(kind);
                }

                @Override
                public void element(long at, int bytes) {
                    seen.append(' ').append(text(at, bytes));
                }

                @Override
                public void member(long at, int bytes, double score) {
                    seen.append(' ').append(text(at, bytes)).append(' ').append(score);
                }

                @Override
                public StreamSink stream() {
                    return new StreamText(seen);
                }

                @Override
                public void field(long field, int fieldBytes, long value, int valueBytes, long time) {
                    seen.append(' ').append(text(field, fieldBytes)).append(' ').append(text(value, valueBytes))
                            .append(' ').append(time);
                }
            });
        } catch (CorruptPayloadException corrupt) {
            seen.append(" corrupt");
        }
        return seen.toString();
    }

    private static String text(long address, int length) {
        return new String(Memory.toArray(address, length), StandardCharsets.ISO_8859_1);
    }
}
