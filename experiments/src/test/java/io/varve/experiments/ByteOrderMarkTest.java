package io.varve.experiments;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.simulate.KeyStream;
import io.varve.experiments.simulate.TraceColumns;
import io.varve.experiments.simulate.TraceFile;
import io.varve.experiments.simulate.TraceFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests files with a byte order mark. Confined to the test's thread. */
class ByteOrderMarkTest {
    private static final String MARK = "\uFEFF";
    private static final Path WORKLOADS = Path.of("..", "workloads");

    @TempDir
    Path folder;

    private static long keys(TraceFile trace) throws IOException {
        long keys = 0;
        try (KeyStream stream = trace.open()) {
            while (stream.next()) {
                keys++;
            }
        }
        return keys;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTraceIsReadAsWithoutIt(boolean compressed) throws IOException {
        byte[] text = (MARK + "key,op\na,get\nb,get\na,get\n").getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = compressed ? new GZIPOutputStream(bytes) : bytes) {
            out.write(text);
        }
        Path file = Files.write(folder.resolve("trace.csv"), bytes.toByteArray());
        TraceFile trace = new TraceFile(file, TraceFormat.CSV, TraceColumns.of(null), 4096);
        assertThat(keys(trace)).isEqualTo(3);
        assertThat(trace.distinctKeys()).isEqualTo(2);
        TraceFile lines = new TraceFile(Files.writeString(folder.resolve("keys"), MARK + "a\nb\na\n"), TraceFormat.KEYS,
                TraceColumns.of(null), 4096);
        assertThat(lines.distinctKeys()).isEqualTo(2);
    }

    @Test
    void experimentsAndTheirPropertiesAreReadAsWithoutIt() throws IOException {
        Path experiments = Files.createDirectories(folder.resolve("experiments"));
        ExperimentFiles shipped = new ExperimentFiles(WORKLOADS.resolve("experiments"));
        try (var files = Files.list(WORKLOADS)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".properties")).toList()) {
                Files.writeString(folder.resolve(file.getFileName()), MARK + Files.readString(file));
            }
        }
        for (String name : shipped.names()) {
            Path file = WORKLOADS.resolve("experiments").resolve(name + ".yaml");
            Files.writeString(experiments.resolve(name + ".yaml"), MARK + Files.readString(file));
        }
        ExperimentFiles marked = new ExperimentFiles(experiments);
        assertThat(marked.names()).isNotEmpty();
        for (String name : shipped.names()) {
            assertThat(marked.read(name)).as(name).isEqualTo(shipped.read(name));
        }
    }
}
