package io.varve.experiments;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.varve.experiments.definition.InvalidExperimentException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests where the option writes CSV. Confined to the test's thread. */
class CsvOptionTest {
    /** A command with the option, and with files as arguments. */
    @Command
    private static final class Traces {
        @Mixin
        private final CsvOption csv = new CsvOption();

        @Parameters
        private final List<String> files = new ArrayList<>();
    }

    @TempDir
    Path folder;

    private final StringWriter text = new StringWriter();
    private final PrintWriter out = new PrintWriter(text);

    private static Traces parse(String... arguments) {
        return CommandLine.populateCommand(new Traces(), arguments);
    }

    private void write(CsvOption csv, String line) {
        try (PrintWriter writer = Objects.requireNonNull(csv.open(out))) {
            writer.print(line);
        }
    }

    @Test
    void absent_opensNoWriter() {
        Traces traces = parse("trace.txt");
        assertThat(traces.csv.isOnly()).isFalse();
        assertThat(traces.csv.open(out)).isNull();
    }

    @Test
    void withoutValue_takesNoArgument_andWritesToStandardOutput() {
        Traces traces = parse("--csv", "trace.txt");
        assertThat(traces.csv.isOnly()).isTrue();
        assertThat(traces.files).containsExactly("trace.txt");
        write(traces.csv, "a,b");
        assertThat(text).as("flushed").hasToString("a,b");
        out.print(";");
        out.flush();
        assertThat(out.checkError()).as("is open").isFalse();
        assertThat(text).hasToString("a,b;");
    }

    @Test
    void atTheEnd_needsNoArgument() {
        assertThat(parse("trace.txt", "--csv").csv.isOnly()).isTrue();
    }

    @Test
    void withFile_writesToTheFileOnly() throws IOException {
        Path file = folder.resolve("curve.csv");
        Traces traces = parse("--csv=" + file, "trace.txt");
        assertThat(traces.csv.isOnly()).isFalse();
        assertThat(traces.files).containsExactly("trace.txt");
        write(traces.csv, "größe,1");
        assertThat(file).hasContent("größe,1");
        assertThat(text.toString()).isEmpty();
        write(traces.csv, "2");
        assertThat(Files.readString(file)).as("replaced").isEqualTo("2");
    }

    @Test
    void withFileThatCannotBeWritten_isRefused() {
        Path file = folder.resolve("missing").resolve("curve.csv");
        Traces traces = parse("--csv=" + file);
        assertThatThrownBy(() -> traces.csv.open(out)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("--csv=" + file).hasMessageContaining("cannot be written");
        CsvOption ofFolder = parse("--csv=" + folder).csv;
        assertThatThrownBy(() -> ofFolder.open(out)).isInstanceOf(InvalidExperimentException.class);
    }
}
