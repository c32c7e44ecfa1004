package io.varve.experiments.chart;

import java.awt.geom.AffineTransform;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;

/** The shape of a line's points, which tells lines apart without colour. */
enum Marker {
    CIRCLE, SQUARE, TRIANGLE, DIAMOND, TRIANGLE_DOWN, CROSS, STAR, PENTAGON, PLUS;

    private static final double QUARTER = Math.PI / 4;

    /** The shape with a point at its centre. */
    Path2D at(double x, double y, double radius) {
        return switch (this) {
            case CIRCLE -> new Path2D.Double(
                    new Ellipse2D.Double(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8));
            case SQUARE -> polygon(x, y, 4, radius * 1.15, radius * 1.15, QUARTER);
            case TRIANGLE -> polygon(x, y, 3, radius * 1.2, radius * 1.2, 0);
            case DIAMOND -> polygon(x, y, 4, radius * 1.25, radius * 1.25, 0);
            case TRIANGLE_DOWN -> polygon(x, y, 3, radius * 1.2, radius * 1.2, Math.PI);
            case CROSS -> cross(x, y, radius * 1.3, QUARTER);
            case STAR -> polygon(x, y, 10, radius * 1.4, radius * 0.6, 0);
            case PENTAGON -> polygon(x, y, 5, radius * 1.15, radius * 1.15, 0);
            case PLUS -> cross(x, y, radius * 1.3, 0);
        };
    }

    /** A regular polygon from its top, whose corners are at two radii in turn. */
    private static Path2D polygon(double x, double y, int corners, double outer, double inner, double turn) {
        Path2D path = new Path2D.Double();
        for (int corner = 0; corner < corners; corner++) {
            double angle = turn + 2 * Math.PI * corner / corners;
            double radius = corner % 2 == 0 ? outer : inner;
            add(path, x + radius * Math.sin(angle), y - radius * Math.cos(angle));
        }
        path.closePath();
        return path;
    }

    /** A cross with arms of a third of its width. */
    private static Path2D cross(double x, double y, double radius, double turn) {
        Path2D path = new Path2D.Double();
        double arm = 0.33;
        double[][] points = {{-arm, -1}, {arm, -1}, {arm, -arm}, {1, -arm}, {1, arm}, {arm, arm}, {arm, 1}, {-arm, 1},
                {-arm, arm}, {-1, arm}, {-1, -arm}, {-arm, -arm}};
        for (double[] point : points) {
            add(path, point[0] * radius, point[1] * radius);
        }
        path.closePath();
        AffineTransform place = AffineTransform.getTranslateInstance(x, y);
        place.rotate(turn);
        path.transform(place);
        return path;
    }

    private static void add(Path2D path, double x, double y) {
        if (path.getCurrentPoint() == null) {
            path.moveTo(x, y);
        } else {
            path.lineTo(x, y);
        }
    }
}
