package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.IntStream;

import io.varve.memory.locality.curve.MissRatioCurve;

/** Draws miss-ratio curves, an image for each request stream (pRedis, Figure 11). Confined to one thread. */
public final class MissRatioPlots {
    private static final int POINTS = 400;
    private static final int MAX_NAME_LENGTH = 80;
    private static final double WHOLE = 100;

    private final Plots plots;

    /** @throws IOException if the folder cannot be created */
    public MissRatioPlots(Path directory) throws IOException {
        plots = new Plots(Files.createDirectories(directory));
    }

    /**
     * Draws the curves of one stream, from no memory to the size beyond which the first curve is flat.
     *
     * @param stream human-readable description; the image is named after it
     * @param unit the unit of the sizes
     * @param curves the curves by name, at most three, in the order of the legend
     * @return the image
     * @throws IOException if it cannot be written
     */
    public Path draw(String stream, String unit, SequencedMap<String, MissRatioCurve> curves) throws IOException {
        String file = "mrc-" + fileName(stream);
        double largest = Math.max(1, curves.firstEntry().getValue().largestBytes());
        List<Map.Entry<String, MissRatioCurve>> entries = List.copyOf(curves.entrySet());
        return plots.write(new Graph(file, stream, unit, "miss ratio, %", false, false,
                IntStream.range(0, entries.size())
                        .mapToObj(i -> new Graph.Line(entries.get(i).getKey(), Palette.byNumber(i),
                                i == entries.size() - 1,
                                points(entries.get(i).getValue(), largest)))
                        .toList()))
                .png();
    }

    private static List<Graph.Point> points(MissRatioCurve curve, double largest) {
        return IntStream.rangeClosed(0, POINTS).mapToObj(i -> largest * i / POINTS)
                .map(size -> new Graph.Point(size, WHOLE * curve.missRatio(size))).toList();
    }

    private static String fileName(String stream) {
        String name = stream.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
        return name.substring(Math.max(0, name.length() - MAX_NAME_LENGTH));
    }
}
