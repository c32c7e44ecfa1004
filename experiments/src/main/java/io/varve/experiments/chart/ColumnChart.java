package io.varve.experiments.chart;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.chart.Drawing.Anchor;
import org.jspecify.annotations.Nullable;

/**
 * A chart with groups of bars, in one or more panels with a common legend. Immutable.
 *
 * @param title human-readable title, with the figure's number if it has one
 * @param panels the panels, side by side if they fit, otherwise one below the other
 * @param whiskers the meaning of the ranges of values
 */
public record ColumnChart(String title, List<Panel> panels, String whiskers) {
    private static final double PANEL_GAP = 18;
    /** Width of a chart with panels side by side. */
    private static final double WIDE = 840;

    /**
     * One quantity.
     *
     * @param title human-readable title; empty in a chart with one panel
     * @param yTitle title of the vertical axis, with its unit
     * @param columns the names of the groups; text after a comma is on a line of its own
     * @param series one bar per column each
     * @param targets a wanted value per column; null where there is none
     * @param published a paper's values per column; null where there are none
     */
    public record Panel(String title, String yTitle, List<String> columns, List<Series> series,
            List<@Nullable Double> targets, List<@Nullable Published> published) {}

    /**
     * The bars of one colour.
     *
     * @param name the name in the legend
     * @param color their colour
     * @param hatched whether they are hatched, for a colour that another series has too
     * @param values one per column; null where nothing was measured
     */
    public record Series(String name, Color color, boolean hatched, List<@Nullable Value> values) {}

    /**
     * The height of a bar.
     *
     * @param value the measured value
     * @param low the least of the repetitions, NaN if unknown
     * @param high the greatest of the repetitions, NaN if unknown
     */
    public record Value(double value, double low, double high) {
        boolean hasRange() {
            return Double.isFinite(low) && Double.isFinite(high);
        }

        double least() {
            return hasRange() ? Math.min(low, value) : value;
        }

        double greatest() {
            return hasRange() ? Math.max(high, value) : value;
        }
    }

    /** Writes it into a folder. */
    public ChartFile write(Path directory, String name) throws IOException {
        return ChartFile.write(draw(), directory, name);
    }

    Drawing draw() {
        Drawing drawing = new Drawing(title);
        double narrow = panels.stream().mapToDouble(panel -> new ColumnPanel(panel).comfortableWidth()).max().orElse(0);
        double all = (narrow + PANEL_GAP) * panels.size() - PANEL_GAP + 2 * Theme.MARGIN;
        boolean sideBySide = panels.size() > 1 && all <= WIDE;
        double least = panels.stream().mapToDouble(panel -> new ColumnPanel(panel).leastWidth()).max().orElse(0);
        double width = Math.max(Theme.WIDTH, sideBySide ? all : least + 2 * Theme.MARGIN);
        double panelWidth = sideBySide
                ? (width - 2 * Theme.MARGIN - (panels.size() - 1) * PANEL_GAP) / panels.size()
                : width - 2 * Theme.MARGIN;
        double left = Theme.MARGIN;
        double top = Title.draw(drawing, width) + Theme.GAP * 2;
        double below = top;
        for (Panel panel : panels) {
            double bottom = draw(drawing, panel, left, top, panelWidth);
            below = Math.max(below, bottom);
            if (sideBySide) {
                left += panelWidth + PANEL_GAP;
            } else {
                top = bottom + PANEL_GAP;
            }
        }
        drawing.resize(width, legend().draw(drawing, width, below + Theme.GAP) + Theme.MARGIN);
        return drawing;
    }

    private double draw(Drawing drawing, Panel panel, double left, double top, double width) {
        double y = top;
        if (!panel.title().isEmpty()) {
            for (String line : TextMetrics.wrap(panel.title(), Theme.AXIS_TITLE, true, width)) {
                drawing.text(line, left, y + TextMetrics.ascent(Theme.AXIS_TITLE), Anchor.START, Theme.AXIS_TITLE,
                        true, Theme.INK);
                y += TextMetrics.lineHeight(Theme.AXIS_TITLE);
            }
            y += Theme.GAP;
        }
        return new ColumnPanel(panel).draw(drawing, left, y, width);
    }

    private Legend legend() {
        Legend legend = new Legend();
        for (Panel panel : panels) {
            panel.series().forEach(series -> legend.add(series.name(), Bar.icon(series.color(), series.hatched())));
        }
        if (panels.stream().anyMatch(panel -> panel.targets().stream().anyMatch(target -> target != null))) {
            legend.add("target", ColumnPanel.targetIcon());
        }
        for (Panel panel : panels) {
            for (Published published : panel.published()) {
                if (published != null) {
                    published.addTo(legend);
                }
            }
        }
        boolean hasRanges = panels.stream().flatMap(panel -> panel.series().stream())
                .anyMatch(series -> series.values().stream().anyMatch(value -> value != null && value.hasRange()));
        if (hasRanges) {
            legend.add(whiskers, Legend.whisker());
        }
        return legend;
    }
}
