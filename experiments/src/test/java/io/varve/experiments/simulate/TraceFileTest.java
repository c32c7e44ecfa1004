package io.varve.experiments.simulate;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;

import com.github.luben.zstd.ZstdOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the requests in a trace's lines. Confined to the test's thread. */
class TraceFileTest {
    @TempDir
    Path folder;

    private static List<Long> read(TraceFile trace) throws IOException {
        List<Long> keys = new ArrayList<>();
        try (KeyStream stream = trace.open()) {
            while (stream.next()) {
                keys.add(stream.key());
            }
        }
        return keys;
    }

    private TraceFile trace(TraceFormat format, String text) throws IOException {
        return new TraceFile(Files.writeString(folder.resolve("trace"), text), format, TraceColumns.of(null), 4096);
    }

    private static byte[] compressed(String how, String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = switch (how) {
            case "gzip" -> new GZIPOutputStream(bytes);
            case "xz" -> new XZOutputStream(bytes, new LZMA2Options());
            case "zstd" -> new ZstdOutputStream(bytes);
            default -> bytes;
        }) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "gzip", "xz", "zstd"})
    void aLineIsAKey(String how) throws IOException {
        Path file = Files.write(folder.resolve("trace"), compressed(how, "a\nb\n\na \nlonger key\n"));
        TraceFile trace = new TraceFile(file, TraceFormat.KEYS, TraceColumns.of(null), 4096);
        List<Long> keys = read(trace);
        assertThat(keys).hasSize(4);
        assertThat(keys.get(2)).isEqualTo(keys.get(0)).isNotEqualTo(keys.get(1));
        assertThat(trace.distinctKeys()).isEqualTo(3);
    }

    @Test
    void partsThatWereCompressedOneByOneAreOneTrace() throws IOException {
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.write(compressed("gzip", "a\nb\n"));
        both.write(compressed("gzip", "c\n"));
        Path file = Files.write(folder.resolve("trace"), both.toByteArray());
        assertThat(read(new TraceFile(file, TraceFormat.KEYS, TraceColumns.of(null), 4096))).hasSize(3);
    }

    @Test
    void aColumnIsFoundByItsName() throws IOException {
        String text = "time, object ,size\n1,x,10\n2,y,20\n3,x,30\n";
        Path file = Files.writeString(folder.resolve("trace"), text);
        TraceFile trace = new TraceFile(file, TraceFormat.CSV, TraceColumns.of("object"), 4096);
        assertThat(read(trace)).hasSize(3);
        assertThat(trace.distinctKeys()).isEqualTo(2);
        assertThatThrownBy(() -> new TraceFile(file, TraceFormat.CSV, TraceColumns.of(null), 4096).open())
                .isInstanceOf(InvalidTraceException.class).hasMessageContaining("no column 'key'")
                .hasMessageContaining("--column");
    }

    @Test
    void columnsDefineOperationAndItemSize() throws IOException {
        Path file = Files.writeString(folder.resolve("trace"), """
                time,key,key_size,value_size,op,ttl
                0,a,1,100,get,0
                0,b,2,2000000000,SET,60
                1,b,2,0,Delete,0
                1,a,1,3000000000,expire,0
                """);
        TraceFile trace = new TraceFile(file, TraceFormat.CSV,
                new TraceColumns(null, List.of("key_size", "value_size"), "op"), 4096);
        assertThat(trace.hasSizes()).isTrue();
        List<String> reported = new ArrayList<>();
        try (KeyStream stream = trace.open()) {
            while (stream.next()) {
                reported.add(stream.operation() + " " + stream.bytes());
            }
        }
        assertThat(reported).containsExactly("READ 101", "WRITE 2000000002", "REMOVE 2", "REMOVE 3000000001");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"a,1,look|line 2: unknown operation 'look'; expected read, get",
            "a,x,get|line 2: 'x' is not a whole number",
            "a,-1,get|line 2: -1 is not the size of an item; expected 0 to 4294967296 bytes",
            "a|line 2: 1 fields, but field 3 is needed"})
    void columnWithInvalidValueIsNamed(String text, String message) throws IOException {
        Path file = Files.writeString(folder.resolve("trace"), "key,size,op\n" + text + "\n");
        TraceFile trace = new TraceFile(file, TraceFormat.CSV, new TraceColumns("key", List.of("size"), "op"), 4096);
        assertThatThrownBy(() -> read(trace)).isInstanceOf(InvalidTraceException.class).hasMessageContaining(message);
        TraceFile other = new TraceFile(file, TraceFormat.CSV, new TraceColumns("key", List.of("bytes"), null), 4096);
        assertThatThrownBy(other::open).hasMessageContaining("no column 'bytes'")
                .hasMessageContaining("--bytes-column");
    }

    /** A truncated file is not taken for a complete one; nor is a damaged byte passed over. */
    @ParameterizedTest
    @ValueSource(strings = {"gzip", "xz", "zstd"})
    void aCompressedFileThatIsCutOffOrDamagedIsNamed(String how) throws IOException {
        StringBuilder text = new StringBuilder();
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 100_000; i++) {
            text.append(random.nextInt()).append('\n');
        }
        byte[] whole = compressed(how, text.toString());
        Path file = Files.write(folder.resolve("trace"), whole);
        TraceFile trace = new TraceFile(file, TraceFormat.KEYS, TraceColumns.of(null), 4096);
        assertThat(read(trace)).hasSize(100_000);
        for (int length : List.of(5, 100, whole.length / 2, whole.length - 20)) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> read(trace)).as("%d bytes of %d", length, whole.length)
                    .isInstanceOf(InvalidTraceException.class).hasMessageContaining(file.toString())
                    .hasMessageContaining("the file cannot be read");
        }
        byte[] damaged = whole.clone();
        Arrays.fill(damaged, whole.length / 2, whole.length / 2 + 100, (byte) 0xFF);
        Files.write(file, damaged);
        assertThatThrownBy(() -> read(trace)).isInstanceOf(InvalidTraceException.class)
                .hasMessageContaining(file.toString());
    }

    @ParameterizedTest
    @EnumSource(value = TraceFormat.class, names = {"KEYS", "SPC", "MSR"})
    void aTraceWithoutARequestIsRefused(TraceFormat format) throws IOException {
        for (String text : List.of("", "\n \n")) {
            TraceFile trace = trace(format, text);
            assertThatThrownBy(() -> read(trace)).isInstanceOf(InvalidTraceException.class)
                    .hasMessageContaining("the trace has no requests");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"SPC|0,8,4096,q,0.0|unknown operation 'q'; expected R or W",
            "SPC|0,8,-1,R,0.0|a request of -1 bytes; expected 0 to 4294967296",
            "SPC|0,8,4294967297,R,0.0|a request of 4294967297 bytes",
            "SPC|0,-8,4096,R,0.0|sector -8 is out of range; expected 0 to 18014398509481983",
            "SPC|0,9223372036854775807,4096,R,0.0|sector 9223372036854775807 is out of range",
            "SPC|0,-9223372036854775808,4096,R,0.0|is out of range",
            "MSR|1,web,0,W,8192,512,5|unknown operation 'W'; expected Read or Write",
            "MSR|1,web,0,Read,-1,512,5|byte -1 is out of range",
            "MSR|1,web,0,Read,9223372036854775807,512,5|is out of range"})
    void aBlockRequestThatCannotBeIsNamed(TraceFormat format, String text, String message) throws IOException {
        String good = format == TraceFormat.SPC ? "0,8,4096,R,0.0\n" : "1,web,0,Read,8192,512,5\n";
        TraceFile trace = trace(format, good + text + "\n");
        assertThatThrownBy(() -> read(trace)).isInstanceOf(InvalidTraceException.class)
                .hasMessageContaining("line 2: ").hasMessageContaining(message);
    }

    @Test
    void sizesThatCannotBeAddedUpAreNamed() throws IOException {
        Path file = Files.writeString(folder.resolve("trace"), "key,a,b\nx,4294967296,1\ny,1,4294967297\n");
        TraceFile trace = new TraceFile(file, TraceFormat.CSV, new TraceColumns("key", List.of("a", "b"), null), 4096);
        assertThatThrownBy(() -> read(trace)).isInstanceOf(InvalidTraceException.class)
                .hasMessageContaining(
                        "line 3: 4294967297 is not the size of an item; expected 0 to 4294967296 bytes");
    }

    /** 8 sectors are a block; a request of 10 KB from the middle of one touches three. */
    @Test
    void aBlockRequestRequestsEachBlockThatItTouches() throws IOException {
        List<Long> keys = read(trace(TraceFormat.SPC, """
                0,8,4096,r,0.0
                0,12,10240,W,0.1
                1,8,512,r,0.2
                0,40,0,r,0.3
                """));
        assertThat(keys).hasSize(1 + 3 + 1 + 1);
        assertThat(keys.get(1)).as("the same block").isEqualTo(keys.get(0));
        assertThat(keys.get(4)).as("of another unit").isNotEqualTo(keys.get(0));
        assertThat(keys.subList(1, 4)).doesNotHaveDuplicates();
    }

    @Test
    void microsoftsBlocksAreBytes() throws IOException {
        TraceFile trace = trace(TraceFormat.MSR, """
                128166372003061629,proxy,1,Read,8192,4096,1331
                128166372003061630,proxy,1,Write,4096,8192,1331
                128166372003061631,proxy,2,Read,8192,1,1331
                """);
        assertThat(read(trace)).hasSize(4);
        assertThat(trace.distinctKeys()).isEqualTo(3);
        assertThat(trace.hasSizes()).isTrue();
        try (KeyStream stream = trace.open()) {
            assertThat(stream.next() && stream.operation() == KeyStream.Operation.READ).isTrue();
            assertThat(stream.next() && stream.operation() == KeyStream.Operation.WRITE).isTrue();
            assertThat(stream.bytes()).isEqualTo(4096);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"SPC|0,8|line 1: 2 fields",
            "SPC|0,8,1,r,0 NEXT 0,x,1,r,0|line 2: 'x' is not a whole number",
            "MSR|1,host,0,Read,1.5,4096,1|line 1: '1.5'"})
    void invalidLineIsNamed(TraceFormat format, String text, String message) throws IOException {
        TraceFile trace = trace(format, text.replace(" NEXT ", "\n"));
        assertThatThrownBy(() -> read(trace)).isInstanceOf(InvalidTraceException.class).hasMessageContaining(message)
                .hasMessageContaining("trace");
    }

    /** Any text is a key, so a file of another kind would become a curve. */
    @ParameterizedTest
    @EnumSource(value = TraceFormat.class, names = {"KEYS", "CSV"})
    void binaryKeyIsNamed(TraceFormat format) throws IOException {
        TraceFile trace = trace(format, "key\na\tkey\nb\u0000\u0001c\n");
        assertThatThrownBy(() -> read(trace)).isInstanceOf(InvalidTraceException.class)
                .hasMessageContaining("trace, line 3: U+0000 in a key; expected text");
    }

    @Test
    void missingFileIsReported() {
        TraceFile trace = new TraceFile(folder.resolve("none"), TraceFormat.KEYS, TraceColumns.of(null), 4096);
        assertThatThrownBy(trace::open).isInstanceOf(InvalidTraceException.class)
                .hasMessageContaining("does not exist");
    }
}
