package io.varve.experiments.chart;

import java.awt.Color;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A paper's values for a group of bars: only those that it prints. Immutable.
 *
 * <p>Minimum and maximum are drawn as a range. Other values are drawn as what they are: a mean and a maximum are no
 * range.
 *
 * @param min the least, if printed
 * @param mean the mean, if printed
 * @param max the greatest, if printed
 */
public record Published(@Nullable Double min, @Nullable Double mean, @Nullable Double max) {
    private static final String RANGE = "published range";
    private static final String MIN = "published minimum";
    private static final String MEAN = "published mean";
    private static final String MAX = "published maximum";
    private static final double MEAN_STROKE = 2.6;
    private static final double MARKER = 4.5;
    private static final double ICON_WIDTH = 16;
    private static final Color LINE = new Color(0x8a6d1f);

    DoubleStream values() {
        return Stream.of(min, mean, max).filter(value -> value != null).mapToDouble(Double::doubleValue);
    }

    void draw(Drawing drawing, Plot plot, double left, double width) {
        double middle = left + width / 2;
        if (min != null && max != null) {
            drawing.rectangle(left, plot.y(max), width, Math.max(1, plot.y(min) - plot.y(max)), Theme.PUBLISHED, LINE);
        } else if (min != null) {
            marker(drawing, Marker.TRIANGLE, middle, plot.y(min), width);
        } else if (max != null) {
            marker(drawing, Marker.TRIANGLE_DOWN, middle, plot.y(max), width);
        }
        if (mean != null) {
            mean(drawing, left, left + width, plot.y(mean));
        }
    }

    /** The tip of the triangle is at the value. */
    private static void marker(Drawing drawing, Marker marker, double x, double y, double width) {
        double radius = Math.min(MARKER, width / 2);
        double tip = radius * 1.2;
        drawing.area(marker.at(x, marker == Marker.TRIANGLE ? y + tip : y - tip, radius), LINE, Color.WHITE);
        drawing.line(x - radius, y, x + radius, y, LINE, 1);
    }

    private static void mean(Drawing drawing, double left, double right, double y) {
        drawing.line(left, y, right, y, LINE, MEAN_STROKE);
    }

    void addTo(Legend legend) {
        if (min != null && max != null) {
            legend.add(RANGE, (drawing, left, right, middle) -> drawing.rectangle((left + right - ICON_WIDTH) / 2,
                    middle - 6, ICON_WIDTH, 12, Theme.PUBLISHED, LINE));
        } else if (min != null) {
            legend.add(MIN, (drawing, left, right, middle) -> marker(drawing, Marker.TRIANGLE, (left + right) / 2,
                    middle - MARKER, ICON_WIDTH));
        } else if (max != null) {
            legend.add(MAX, (drawing, left, right, middle) -> marker(drawing, Marker.TRIANGLE_DOWN, (left + right) / 2,
                    middle + MARKER, ICON_WIDTH));
        }
        if (mean != null) {
            legend.add(MEAN, (drawing, left, right, middle) -> mean(drawing, (left + right - ICON_WIDTH) / 2,
                    (left + right + ICON_WIDTH) / 2, middle));
        }
    }
}
