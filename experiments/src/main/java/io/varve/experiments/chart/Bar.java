package io.varve.experiments.chart;

import java.awt.Color;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;

/** A filled rectangle with an outline; a hatched one differs from another of its colour. Stateless. */
final class Bar {
    private static final double HATCH_DISTANCE = 5;

    private Bar() {}

    static void draw(Drawing drawing, double x, double y, double width, double height, Color color, boolean hatched) {
        drawing.rectangle(x, y, width, height, color, hatched ? null : Theme.INK);
        if (!hatched) {
            return;
        }
        Path2D hatch = new Path2D.Double();
        for (double shift = HATCH_DISTANCE; shift < width + height; shift += HATCH_DISTANCE) {
            double fromX = Math.min(shift, width);
            double toY = Math.min(shift, height);
            hatch.moveTo(x + fromX, y + shift - fromX);
            hatch.lineTo(x + shift - toY, y + toY);
        }
        drawing.line(hatch, Color.WHITE, 1.2, Dash.SOLID);
        drawing.area(new Path2D.Double(new Rectangle2D.Double(x, y, width, height)), null, Theme.INK);
    }

    static Legend.Icon icon(Color color, boolean hatched) {
        return (drawing, left, right, middle) -> draw(drawing, (left + right) / 2 - 7, middle - 6, 14, 12, color,
                hatched);
    }
}
