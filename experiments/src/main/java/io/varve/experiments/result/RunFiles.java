package io.varve.experiments.result;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.varve.experiments.plan.RunSpec;

/**
 * The output directory: one folder per run, and the files over all of them. Immutable; the thread that executes a run
 * writes its folder.
 */
public final class RunFiles {
    public static final String MEMORY_CSV = "memory.csv";
    /** All numbers of INFO in each sample of {@link #MEMORY_CSV}. */
    public static final String INFO_CSV = "info.csv";
    public static final String EXPIRY_CSV = "expiry.csv";
    public static final String THROUGHPUT_CSV = "throughput.csv";
    public static final String REQUESTS_CSV = "requests.csv";
    public static final String YCSB_TXT = "ycsb.txt";
    public static final String LATENCY_HGRM = "latency.hgrm";
    /** The delays of events after their expiry times, milliseconds. */
    public static final String DELAY_HGRM = "delay.hgrm";
    /** The latency of each second. */
    public static final String LATENCY_CSV = "latency.csv";
    /** Mean response times and misses of each second. */
    public static final String RESPONSE_CSV = "response.csv";
    /** The reply of VARVE.CLASS LIST each second. */
    public static final String CLASSES_CSV = "classes.csv";
    /** The reply of VARVE.MRC for each class, after each tenth of the operations. */
    public static final String CLASS_CURVES_CSV = "class-curves.csv";
    /** Throughput of each second after a start. */
    public static final String WARM_UP_CSV = "warm-up.csv";
    /** Throughput of redis-benchmark's default tests as the first thing after a start. */
    public static final String FIRST_PASS_CSV = "first-pass.csv";
    /** Throughput and latency of each round of the clients that write a few records each. */
    public static final String RECORDS_CSV = "records.csv";
    /** Throughput of each round of each store, in process, and of each server. */
    public static final String LOCKS_CSV = "locks.csv";
    /** Points of the exact and the learnt miss-ratio curve of each stream. */
    public static final String CURVES_CSV = "curves.csv";
    /** The measurements of each placement under each seed. */
    public static final String PLACEMENT_CSV = "placement.csv";
    /** The measurements of each round of each way to the members of a cluster. */
    public static final String PROXY_CSV = "proxy.csv";
    /** CPU time of writes without and with a replica, and its lag, of each round of each server. */
    public static final String REPLICATION_WRITES_CSV = "replication-writes.csv";
    /** The full synchronizations of each round of each pair of servers. */
    public static final String REPLICATION_SYNC_CSV = "replication-sync.csv";
    /** How each pair caught up in each round. */
    public static final String REPLICATION_CATCH_UP_CSV = "replication-catch-up.csv";
    /** The generator's measurements, a number a line. */
    public static final String GENERATOR_TXT = "generator.txt";
    /** The final reply of LATENCY LATEST. */
    public static final String LATENCY_EVENTS = "latency-events.txt";
    private static final String RUN_JSON = "run.json";

    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    private final Path directory;

    public RunFiles(Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
    }

    public Path directory() {
        return directory;
    }

    public Path of(RunSpec run) {
        return directory.resolve(run.id());
    }

    /** The record of an earlier run, complete or not. */
    public Optional<RunRecord> read(RunSpec run) throws IOException {
        Path file = of(run).resolve(RUN_JSON);
        return Files.exists(file) ? Optional.of(JSON.readValue(file.toFile(), RunRecord.class)) : Optional.empty();
    }

    /** The records of all runs in a folder of results; without those that cannot be read. */
    public static List<RunRecord> readAll(Path folder) {
        List<RunRecord> records = new ArrayList<>();
        try (DirectoryStream<Path> runs = Files.newDirectoryStream(folder)) {
            for (Path run : runs) {
                readIfPossible(run.resolve(RUN_JSON)).ifPresent(records::add);
            }
        } catch (IOException | DirectoryIteratorException e) {
            return List.copyOf(records);
        }
        return List.copyOf(records);
    }

    private static Optional<RunRecord> readIfPossible(Path file) {
        try {
            return Files.exists(file) ? Optional.of(JSON.readValue(file.toFile(), RunRecord.class)) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // incomplete, or of another version
        }
    }

    public void write(RunRecord record) throws IOException {
        writeJson(of(record.run()).resolve(RUN_JSON), record);
    }

    /** Writes JSON so that a reader sees the old file or the whole new one. */
    public static void writeJson(Path file, Object value) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        JSON.writeValue(next.toFile(), value);
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    }

    public static <T> T readJson(Path file, Class<T> type) throws IOException {
        return JSON.readValue(file.toFile(), type);
    }

    /** The samples of a run; empty if it took none. */
    public List<Sample> samples(RunSpec run) throws IOException {
        return rows(run, MEMORY_CSV).stream().map(Sample::parse).toList();
    }

    /** All numbers of INFO over a run's time; without fields if the run has no such file. */
    public InfoTable info(RunSpec run) throws IOException {
        Path file = of(run).resolve(INFO_CSV);
        return InfoTable.parse(Files.exists(file) ? Files.readAllLines(file) : List.of());
    }

    /** The rows below the header of one of a run's CSV files; empty if the file does not exist. */
    public List<String> rows(RunSpec run, String name) throws IOException {
        Path file = of(run).resolve(name);
        if (!Files.exists(file)) {
            return List.of();
        }
        List<String> lines = new ArrayList<>(Files.readAllLines(file));
        return lines.isEmpty() ? List.of() : lines.subList(1, lines.size());
    }
}
