package io.varve.experiments.report;

import java.util.List;

/**
 * Lines over any axis. Immutable.
 *
 * @param file    name of the image, without its suffix
 * @param title   for people
 * @param xTitle  what goes to the right
 * @param yTitle  what goes up
 * @param logX    whether equal steps to the right are equal factors
 * @param logY    the same, up
 * @param lines   in the order of the legend
 */
record Graph(String file, String title, String xTitle, String yTitle, boolean logX, boolean logY, List<Line> lines) {
    /**
     * One of them.
     *
     * @param name   in the legend
     * @param color  as HTML writes it
     * @param dashed whether it is told apart by that
     * @param points from left to right
     */
    record Line(String name, String color, boolean dashed, List<Point> points) {}

    /** A place of a line, in the axes' units; above 0 where the axis is logarithmic. */
    record Point(double x, double y) {}
}
