package io.varve.experiments.report;

import java.util.List;

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
     * @param dashed whether the line is dashed
     * @param points the points from left to right
     */
    record Line(String name, String color, boolean dashed, List<Point> points) {}

    /** A point of a line, in the axes' units; above 0 on a logarithmic axis. */
    record Point(double x, double y) {}
}
