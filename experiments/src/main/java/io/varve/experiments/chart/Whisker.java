package io.varve.experiments.chart;

import java.awt.Color;

/** The range of a repeated measurement, as a vertical line with two caps. Stateless. */
final class Whisker {
    private static final double STROKE = 1.3;
    private static final double HALO = 3.2;

    private Whisker() {}

    /** Draws it in the colour of a line. */
    static void draw(Drawing drawing, double x, double fromY, double toY, double cap, Color color) {
        strokes(drawing, x, fromY, toY, cap, color, STROKE);
    }

    /**
     * Draws it with a white outline, so that it is visible on any colour.
     *
     * @param cap half the width of a cap
     */
    static void draw(Drawing drawing, double x, double fromY, double toY, double cap) {
        strokes(drawing, x, fromY, toY, cap, Color.WHITE, HALO);
        strokes(drawing, x, fromY, toY, cap, Theme.INK, STROKE);
    }

    private static void strokes(Drawing drawing, double x, double fromY, double toY, double cap, Color color,
            double stroke) {
        drawing.line(x, fromY, x, toY, color, stroke);
        drawing.line(x - cap, fromY, x + cap, fromY, color, stroke);
        drawing.line(x - cap, toY, x + cap, toY, color, stroke);
    }
}
