package io.varve.experiments.chart;

import java.awt.Color;
import java.awt.geom.Path2D;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

import io.varve.experiments.chart.Drawing.Anchor;

/**
 * A chart with lines over a numeric axis. Immutable.
 *
 * <p>Lines of different colours have different markers too, so that they are distinguishable in greyscale.
 *
 * @param title human-readable title, with the figure's number if it has one
 * @param xTitle title of the horizontal axis, with its unit
 * @param yTitle title of the vertical axis, with its unit
 * @param logX whether the horizontal axis is logarithmic
 * @param logY whether the vertical axis is logarithmic
 * @param lines the lines, in the order of the legend
 * @param whiskers the meaning of the points' ranges
 */
public record LineChart(String title, String xTitle, String yTitle, boolean logX, boolean logY, List<Line> lines,
        String whiskers) {
    static final double STROKE = 2;
    private static final List<Marker> SHAPES = List.of(Marker.values());
    static final double MARKER = 4;
    private static final int MAX_X_INTERVALS = 10;
    private static final int Y_INTERVALS = 6;
    private static final double LABEL_DISTANCE = 14;
    /** Markers of a line with many points. */
    private static final int MARKERS = 8;
    private static final int FEW_POINTS = 12;
    private static final double WHISKER_CAP = 4;
    private static final double TICK_MARK = 4;

    /**
     * A line.
     *
     * @param name the name in the legend
     * @param color its colour
     * @param dash its pattern
     * @param points the points from left to right
     */
    public record Line(String name, Color color, Dash dash, List<Point> points) {}

    /**
     * A point in the axes' units.
     *
     * @param x horizontal value
     * @param y vertical value; a line has a gap where it is not finite
     * @param low the least of the repetitions, NaN if unknown
     * @param high the greatest of the repetitions, NaN if unknown
     */
    public record Point(double x, double y, double low, double high) {
        boolean hasRange() {
            return Double.isFinite(low) && Double.isFinite(high);
        }
    }

    /** Writes it into a folder. */
    public ChartFile write(Path directory, String name) throws IOException {
        return ChartFile.write(draw(), directory, name);
    }

    Drawing draw() {
        Drawing drawing = new Drawing(title);
        double top = Title.draw(drawing, Theme.WIDTH) + Theme.GAP * 2;
        Scale y = logY
                ? Scale.logarithmic(Math.min(least(Point::y, true), least(Point::low, true)),
                        Math.max(greatest(Point::y), greatest(Point::high)))
                : Scale.linear(Math.min(least(Point::y, false), least(Point::low, false)),
                        Math.max(greatest(Point::y), greatest(Point::high)), Y_INTERVALS, false);
        double left = Theme.MARGIN + Plot.axisWidth(y, yTitle, Theme.PLOT_HEIGHT);
        Scale x = xScale(Theme.WIDTH - left - Theme.MARGIN);
        double overhang = TextMetrics.width(x.label(x.ticks().getLast()), Theme.TICK, false) / 2;
        Plot plot = new Plot(left, top, Theme.WIDTH - left - Theme.MARGIN - overhang, Theme.PLOT_HEIGHT, y);
        plot.drawAxis(drawing, yTitle);
        double below = drawXAxis(drawing, plot, x);
        plot.drawBase(drawing);
        lines.forEach(line -> drawRanges(drawing, plot, x, line));
        Legend legend = new Legend();
        List<Color> colors = lines.stream().map(Line::color).distinct().toList();
        for (int i = 0; i < lines.size(); i++) {
            Marker marker = SHAPES.get(colors.indexOf(lines.get(i).color()) % SHAPES.size());
            draw(drawing, plot, x, lines.get(i), marker, (i + 0.5) / lines.size());
            legend.add(lines.get(i).name(), Legend.line(lines.get(i).color(), lines.get(i).dash(), marker));
        }
        if (lines.stream().flatMap(line -> line.points().stream()).anyMatch(Point::hasRange)) {
            legend.add(whiskers, Legend.whisker());
        }
        drawing.resize(Theme.WIDTH, legend.draw(drawing, Theme.WIDTH, below + Theme.GAP) + Theme.MARGIN);
        return drawing;
    }

    private Stream<Point> points() {
        return lines.stream().flatMap(line -> line.points().stream())
                .filter(point -> Double.isFinite(point.x()) && Double.isFinite(point.y()))
                .filter(point -> (!logX || point.x() > 0) && (!logY || point.y() > 0));
    }

    private double least(ToDoubleFunction<Point> value, boolean positive) {
        return values(value).filter(each -> !positive || each > 0).min().orElse(Double.POSITIVE_INFINITY);
    }

    private double greatest(ToDoubleFunction<Point> value) {
        return values(value).max().orElse(Double.NEGATIVE_INFINITY);
    }

    private DoubleStream values(ToDoubleFunction<Point> value) {
        return points().mapToDouble(value).filter(Double::isFinite);
    }

    /** The horizontal axis, with as many numbers as fit. */
    private Scale xScale(double width) {
        double least = least(Point::x, logX);
        double greatest = greatest(Point::x);
        if (logX) {
            return Scale.logarithmic(least, greatest);
        }
        int intervals = MAX_X_INTERVALS;
        Scale scale = Scale.linear(least, greatest, intervals, true);
        while (intervals > 1
                && (scale.widestLabel() + LABEL_DISTANCE) * (scale.max() - scale.min()) > width * scale.step()) {
            intervals--;
            scale = Scale.linear(least, greatest, intervals, true);
        }
        return scale;
    }

    /** Draws numbers and title of the horizontal axis, and returns the position below them. */
    private double drawXAxis(Drawing drawing, Plot plot, Scale x) {
        double baseline = plot.bottom() + TICK_MARK + 3 + TextMetrics.ascent(Theme.TICK);
        double free = Double.NEGATIVE_INFINITY;
        for (double tick : x.ticks()) {
            double at = plot.left() + plot.width() * x.fraction(tick);
            drawing.line(at, plot.bottom(), at, plot.bottom() + TICK_MARK, Theme.INK, 1);
            double half = TextMetrics.width(x.label(tick), Theme.TICK, false) / 2;
            if (at - half > free) {
                drawing.text(x.label(tick), at, baseline, Anchor.MIDDLE, Theme.TICK);
                free = at + half + Theme.GAP;
            }
        }
        double y = baseline + TextMetrics.descent(Theme.TICK) + 3;
        for (String line : TextMetrics.wrap(xTitle, Theme.AXIS_TITLE, false, plot.width())) {
            drawing.text(line, plot.left() + plot.width() / 2, y + TextMetrics.ascent(Theme.AXIS_TITLE), Anchor.MIDDLE,
                    Theme.AXIS_TITLE);
            y += TextMetrics.lineHeight(Theme.AXIS_TITLE);
        }
        return y;
    }

    /** The points on the plot, in parts between the line's gaps. */
    private List<List<Point>> placed(Plot plot, Scale x, Line line) {
        List<List<Point>> parts = new ArrayList<>();
        boolean gap = true;
        for (Point point : line.points()) {
            if (!x.shows(point.x()) || !plot.y().shows(point.y())) {
                gap = true;
                continue;
            }
            if (gap) {
                parts.add(new ArrayList<>());
                gap = false;
            }
            parts.getLast().add(new Point(plot.left() + plot.width() * x.fraction(point.x()), plot.y(point.y()),
                    Double.NaN, Double.NaN));
        }
        return parts;
    }

    private void drawRanges(Drawing drawing, Plot plot, Scale x, Line line) {
        for (Point point : line.points()) {
            if (point.hasRange() && x.shows(point.x()) && plot.y().shows(point.y())) {
                Whisker.draw(drawing, plot.left() + plot.width() * x.fraction(point.x()),
                        logY && point.low() <= 0 ? plot.bottom() : plot.y(point.low()), plot.y(point.high()),
                        WHISKER_CAP, line.color());
            }
        }
    }

    private void draw(Drawing drawing, Plot plot, Scale x, Line line, Marker marker, double shift) {
        List<List<Point>> parts = placed(plot, x, line);
        for (List<Point> part : parts) {
            if (part.size() > 1) {
                Path2D path = new Path2D.Double();
                List<Point> shown = thinned(part);
                path.moveTo(shown.getFirst().x(), shown.getFirst().y());
                shown.subList(1, shown.size()).forEach(point -> path.lineTo(point.x(), point.y()));
                drawing.line(path, line.color(), STROKE, line.dash());
            }
        }
        for (Point point : marked(parts.stream().flatMap(List::stream).toList(), plot, shift)) {
            drawing.area(marker.at(point.x(), point.y(), MARKER), line.color(), Color.WHITE);
        }
    }

    /** Few of the points in a column of pixels: the first, the highest, the lowest and the last. */
    private static List<Point> thinned(List<Point> points) {
        List<Point> result = new ArrayList<>();
        int first = 0;
        while (first < points.size()) {
            int end = first;
            int lowest = first;
            int highest = first;
            while (end < points.size() && Math.floor(points.get(end).x()) == Math.floor(points.get(first).x())) {
                lowest = points.get(end).y() > points.get(lowest).y() ? end : lowest;
                highest = points.get(end).y() < points.get(highest).y() ? end : highest;
                end++;
            }
            Stream.of(first, Math.min(lowest, highest), Math.max(lowest, highest), end - 1).distinct()
                    .forEach(i -> result.add(points.get(i)));
            first = end;
        }
        return result;
    }

    /** The points with a marker: all of a few, or some in equal distances that differ from those of other lines. */
    private static List<Point> marked(List<Point> points, Plot plot, double shift) {
        if (points.size() <= FEW_POINTS) {
            return points;
        }
        List<Point> result = new ArrayList<>();
        int next = 0;
        for (int i = 0; i < MARKERS; i++) {
            double wanted = plot.left() + plot.width() * (i + shift) / MARKERS;
            while (next < points.size() && points.get(next).x() < wanted) {
                next++;
            }
            if (next < points.size()) {
                result.add(points.get(next));
                next++;
            }
        }
        return result.isEmpty() ? points.subList(0, 1) : result;
    }
}
