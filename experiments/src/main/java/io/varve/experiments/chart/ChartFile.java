package io.varve.experiments.chart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A chart in a folder: a file for each format, with equal content. Immutable.
 *
 * @param directory the folder
 * @param name the name of its files, without their suffixes
 */
public record ChartFile(Path directory, String name) {
    private static final String SVG = ".svg";
    private static final String PNG = ".png";

    /** All charts of a folder, by name. */
    public static List<ChartFile> in(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).filter(file -> file.endsWith(SVG)).sorted()
                    .map(file -> new ChartFile(directory, file.substring(0, file.length() - SVG.length()))).toList();
        }
    }

    static ChartFile write(Drawing drawing, Path directory, String name) throws IOException {
        ChartFile chart = new ChartFile(directory, name);
        Files.writeString(chart.svg(), Svg.of(drawing));
        Png.write(drawing, chart.png());
        return chart;
    }

    public Path svg() {
        return directory.resolve(name + SVG);
    }

    public Path png() {
        return directory.resolve(name + PNG);
    }

    /**
     * The chart's {@code svg} element, for a page to contain. It has no identifiers, style sheets or links.
     *
     * @throws IOException if there is no such chart
     */
    public String svgText() throws IOException {
        return Files.readString(svg());
    }
}
