package io.varve.experiments.reproduction;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.varve.experiments.result.Machine;

/**
 * The folder of a reproduction: a folder for each experiment, and {@code index.html} with {@code charts/} and
 * {@code results.csv}, which can be published without the others. Immutable; confined to the main thread.
 */
public final class ReproductionFiles {
    static final String HEADER = "id,artefact,scale,runs,planned,date,verdict,held,seconds";
    private static final String RESULTS = "results.csv";
    private static final String CHARTS = "charts";
    private static final int ID = 0;
    private static final int SCALE = 2;
    private static final int DATE = 5;
    private static final int VERDICT = 6;

    private final Path directory;

    public ReproductionFiles(Path directory) {
        this.directory = directory;
    }

    /** The folder of an experiment's runs. */
    public Path of(String experiment) {
        return directory.resolve(experiment);
    }

    /**
     * Writes the page, its charts and the results.
     *
     * @param results a result for each artefact, in the order of the definition
     * @return the page
     */
    public Path write(Reproduction reproduction, List<ArtefactResult> results) throws IOException {
        Files.createDirectories(directory);
        deleteCharts();
        Map<String, List<String>> charts = new LinkedHashMap<>();
        for (ArtefactResult result : results) {
            charts.put(result.artefact().id(), copied(result));
        }
        Path page = directory.resolve("index.html");
        Files.writeString(page, ReproductionPage.of(reproduction, results, charts, machine()));
        StringBuilder csv = new StringBuilder(HEADER).append('\n');
        for (ArtefactResult result : results) {
            csv.append(String.join(",", result.artefact().id(), result.artefact().artefact(), result.scale(),
                    Integer.toString(result.runs()), Integer.toString(result.planned()), result.date(),
                    result.verdict().words(), result.held(), Long.toString(result.seconds()))).append('\n');
        }
        Files.writeString(directory.resolve(RESULTS), csv);
        return page;
    }

    /** An earlier page may have had more charts. */
    private void deleteCharts() throws IOException {
        Path charts = directory.resolve(CHARTS);
        if (Files.isDirectory(charts)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(charts, "*.{svg,png}")) {
                for (Path file : files) {
                    Files.delete(file);
                }
            }
        }
    }

    private static String machine() {
        Map<String, String> machine = Machine.describe();
        List<String> words = new ArrayList<>();
        for (String name : List.of("cpu", "distribution", "os", "jdk")) {
            if (machine.containsKey(name)) {
                words.add(machine.get(name));
            }
        }
        return machine.get("cores") + " cores, " + machine.getOrDefault("memory_mib", "?") + " MiB of memory, "
                + String.join(", ", words) + ".";
    }

    private List<String> copied(ArtefactResult result) throws IOException {
        List<String> names = new ArrayList<>();
        Path charts = directory.resolve(CHARTS);
        for (Path chart : result.charts()) {
            Files.createDirectories(charts);
            String file = chart.getFileName().toString();
            String name = result.artefact().id().replace('/', '-') + "-" + (names.size() + 1)
                    + file.substring(file.lastIndexOf('.'));
            Files.copy(chart, charts.resolve(name), StandardCopyOption.REPLACE_EXISTING);
            names.add(CHARTS + "/" + name);
        }
        return names;
    }

    /** State and verdict of an artefact in a published {@code results.csv}; empty if it has none. */
    public Optional<Earlier> earlier(String id) throws IOException {
        Path file = directory.resolve(RESULTS);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        return Files.readAllLines(file).stream().map(line -> line.split(",", -1))
                .filter(cells -> cells.length > VERDICT && cells[ID].equals(id) && !cells[DATE].isEmpty())
                .map(cells -> new Earlier(cells[SCALE], cells[DATE], cells[VERDICT])).findFirst();
    }

    /**
     * A published result. Immutable.
     *
     * @param scale the scale of the reproduction
     * @param date the day of its newest run
     * @param verdict in words
     */
    public record Earlier(String scale, String date, String verdict) {}
}
