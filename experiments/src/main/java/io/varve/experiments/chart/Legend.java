package io.varve.experiments.chart;

import java.awt.Color;
import java.awt.geom.Path2D;
import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.chart.Drawing.Anchor;
import org.jspecify.annotations.Nullable;

/**
 * The names of all series below a chart, in as many columns as fit. Confined to the thread that draws.
 *
 * <p>A name that is wider than the chart has several lines: no name is cut.
 */
final class Legend {
    private static final double ICON = 28;
    private static final double ICON_GAP = 7;
    private static final double COLUMN_GAP = 22;
    private static final double ROW_GAP = 5;

    private final List<Entry> entries = new ArrayList<>();

    /** Draws the symbol of an entry into a box of fixed width. */
    interface Icon {
        /** @param middle vertical middle of the box */
        void draw(Drawing drawing, double left, double right, double middle);
    }

    private record Entry(String name, Icon icon) {}

    /** Adds an entry, unless there is one of that name. */
    void add(String name, Icon icon) {
        if (entries.stream().noneMatch(entry -> entry.name().equals(name))) {
            entries.add(new Entry(name, icon));
        }
    }

    static Icon line(Color color, Dash dash, @Nullable Marker marker) {
        return (drawing, left, right, middle) -> {
            Path2D path = new Path2D.Double();
            path.moveTo(left, middle);
            path.lineTo(right, middle);
            drawing.line(path, color, LineChart.STROKE, dash);
            if (marker != null) {
                drawing.area(marker.at((left + right) / 2, middle, LineChart.MARKER), color, Color.WHITE);
            }
        };
    }

    static Icon whisker() {
        return (drawing, left, right, middle) -> Whisker.draw(drawing, (left + right) / 2, middle - 7, middle + 7, 4);
    }

    /** Draws the entries, centred, and returns the position below them. */
    double draw(Drawing drawing, double width, double top) {
        if (entries.isEmpty()) {
            return top;
        }
        double available = width - 2 * Theme.MARGIN;
        int columns = entries.size();
        while (columns > 1 && total(widths(columns, available)) > available) {
            columns--;
        }
        double[] widths = widths(columns, available);
        double start = (width - total(widths)) / 2;
        double y = top;
        for (int first = 0; first < entries.size(); first += columns) {
            double x = start;
            int lines = 1;
            for (int column = 0; column < columns && first + column < entries.size(); column++) {
                lines = Math.max(lines, draw(drawing, entries.get(first + column), x, y, available));
                x += widths[column] + COLUMN_GAP;
            }
            y += lines * TextMetrics.lineHeight(Theme.LEGEND) + ROW_GAP;
        }
        return y - ROW_GAP;
    }

    private static int draw(Drawing drawing, Entry entry, double x, double top, double available) {
        double height = TextMetrics.lineHeight(Theme.LEGEND);
        entry.icon().draw(drawing, x, x + ICON, top + height / 2);
        List<String> lines = lines(entry, available);
        double baseline = top + height / 2 + Theme.LEGEND * 0.36;
        for (String line : lines) {
            drawing.text(line, x + ICON + ICON_GAP, baseline, Anchor.START, Theme.LEGEND);
            baseline += height;
        }
        return lines.size();
    }

    private static List<String> lines(Entry entry, double available) {
        return TextMetrics.wrap(entry.name(), Theme.LEGEND, false, available - ICON - ICON_GAP);
    }

    private double[] widths(int columns, double available) {
        double[] widths = new double[columns];
        for (int i = 0; i < entries.size(); i++) {
            widths[i % columns] = Math.max(widths[i % columns],
                    ICON + ICON_GAP + TextMetrics.width(lines(entries.get(i), available), Theme.LEGEND));
        }
        return widths;
    }

    private static double total(double[] widths) {
        double total = COLUMN_GAP * (widths.length - 1);
        for (double width : widths) {
            total += width;
        }
        return total;
    }
}
