package io.varve.experiments.report;

import java.util.List;

import io.varve.experiments.chart.Dash;

/**
 * A line chart over any axis. Immutable.
 *
 * @param file name of the image, without its suffix
 * @param title human-readable title
 * @param xTitle title of the horizontal axis
 * @param yTitle title of the vertical axis
 * @param logX whether the horizontal axis is logarithmic
 * @param logY whether the vertical axis is logarithmic
 * @param lines the lines, in the order of the legend
 */
record Graph(String file, String title, String xTitle, String yTitle, boolean logX, boolean logY, List<Line> lines) {
    /**
     * One line.
     *
     * @param name the name in the legend
     * @param color as HTML writes it
     * @param dash its pattern
     * @param points the points from left to right
     */
    record Line(String name, String color, Dash dash, List<Point> points) {
        Line(String name, String color, boolean dashed, List<Point> points) {
            this(name, color, dashed ? Dash.DASHED : Dash.SOLID, points);
        }
    }

    /**
     * A point of a line, in the axes' units; above 0 on a logarithmic axis.
     *
     * @param x horizontal value
     * @param y vertical value
     * @param low the least of the repetitions, NaN if unknown
     * @param high the greatest of the repetitions, NaN if unknown
     */
    record Point(double x, double y, double low, double high) {
        Point(double x, double y) {
            this(x, y, Double.NaN, Double.NaN);
        }
    }
}
