package io.varve.experiments.chart;

import java.awt.Color;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

import io.varve.experiments.chart.ColumnChart.Panel;
import io.varve.experiments.chart.ColumnChart.Series;
import io.varve.experiments.chart.ColumnChart.Value;
import io.varve.experiments.chart.Drawing.Anchor;
import org.jspecify.annotations.Nullable;

/**
 * Draws one panel of a bar chart. Immutable.
 *
 * <p>Each column has a slot with a lane for each series, and one for the published values. Names and values are
 * horizontal where all fit, otherwise vertical; values that fit neither way are not printed.
 */
final class ColumnPanel {
    private static final double HEIGHT = 300;
    private static final int INTERVALS = 6;
    private static final double LEAST_LANE = 5;
    private static final double MAX_LANE = 46;
    private static final double SLOT_GAP = 10;
    private static final double BAR_SHARE = 0.86;
    private static final double LABEL_GAP = 4;
    private static final double NAME_GAP = 6;
    private static final int MAX_NAME_LINES = 4;
    private static final double VERTICAL_NAME = 170;
    private static final double WHISKER_CAP = 4;
    private static final double TARGET_STROKE = 2.2;
    private static final double TARGET_HALO = 4.6;
    private static final double MIN_BAR = 1;
    private static final double HEADROOM = 1.15;
    /** Distance from the middle of a line of letters to its baseline, as a share of their size. */
    private static final double MIDDLE = 0.36;

    private final Panel panel;
    private final int lanes;
    private final boolean hasPublished;
    private final double greatest;
    private final double widestValue;
    private final double axisWidth;

    ColumnPanel(Panel panel) {
        this.panel = panel;
        hasPublished = panel.published().stream().anyMatch(published -> published != null);
        lanes = Math.max(1, panel.series().size() + (hasPublished ? 1 : 0));
        greatest = values().mapToDouble(value -> Math.abs(value.value())).filter(Double::isFinite).max().orElse(0);
        widestValue = values().mapToDouble(value -> width(value.value())).max().orElse(0);
        // The scale differs by the room for values only, so that its numbers are about as wide.
        axisWidth = Math.max(Plot.axisWidth(scale(TextMetrics.lineHeight(Theme.VALUE)), panel.yTitle(), HEIGHT),
                Plot.axisWidth(scale(widestValue + LABEL_GAP), panel.yTitle(), HEIGHT));
    }

    private double width(double value) {
        return TextMetrics.width(Numbers.value(value, greatest), Theme.VALUE, false);
    }

    private Stream<Value> values() {
        return panel.series().stream().flatMap(series -> series.values().stream()).filter(value -> value != null);
    }

    private int columns() {
        return Math.max(1, panel.columns().size());
    }

    /** The width in which all names are horizontal, and all values are printed. */
    double comfortableWidth() {
        double word = panel.columns().stream().flatMap(name -> Stream.of(name.split("\\s+", -1)))
                .mapToDouble(each -> TextMetrics.width(each, Theme.TICK, false)).max().orElse(0);
        return axisWidth
                + columns() * Math.max(word + NAME_GAP, lanes * TextMetrics.lineHeight(Theme.VALUE) + SLOT_GAP);
    }

    /** The width below which bars or names overlap. */
    double leastWidth() {
        int lines = panel.columns().stream().mapToInt(name -> verticalName(name).size()).max().orElse(1);
        return axisWidth + columns() * Math.max(lines * TextMetrics.lineHeight(Theme.TICK) + 2,
                lanes * LEAST_LANE + SLOT_GAP);
    }

    private static List<String> verticalName(String name) {
        return TextMetrics.wrap(name, Theme.TICK, false, VERTICAL_NAME);
    }

    /** Text after the first comma begins a line, if the lines fit. */
    private static List<String> verticalName(String name, double slot) {
        List<String> lines = new ArrayList<>();
        for (String part : name.split(", ", 2)) {
            lines.addAll(verticalName(part));
        }
        return lines.size() * TextMetrics.lineHeight(Theme.TICK) < slot ? lines : verticalName(name);
    }

    /** Draws the panel and returns the position below it. */
    double draw(Drawing drawing, double left, double top, double width) {
        double slot = (width - axisWidth) / columns();
        double lane = Math.min(MAX_LANE, (slot - SLOT_GAP) / lanes);
        boolean horizontal = widestValue + LABEL_GAP <= lane;
        boolean vertical = !horizontal && TextMetrics.lineHeight(Theme.VALUE) <= lane;
        double room = LABEL_GAP + (horizontal
                ? TextMetrics.lineHeight(Theme.VALUE)
                : vertical ? widestValue + LABEL_GAP : 0);
        Plot plot = new Plot(left + axisWidth, top, width - axisWidth, HEIGHT, scale(room));
        plot.drawAxis(drawing, panel.yTitle());
        for (int column = 0; column < panel.columns().size(); column++) {
            double start = plot.left() + slot * column + (slot - lane * lanes) / 2;
            drawBars(drawing, plot, column, start, lane);
            drawTarget(drawing, plot, column, start, lane);
        }
        plot.drawBase(drawing);
        if (horizontal || vertical) {
            for (int column = 0; column < panel.columns().size(); column++) {
                drawValues(drawing, plot, column, plot.left() + slot * column + (slot - lane * lanes) / 2, lane,
                        vertical);
            }
        }
        return drawNames(drawing, plot, slot);
    }

    /** @param room space for the text above the highest and below the lowest bar */
    private Scale scale(double room) {
        double least = all().min().orElse(0);
        double most = all().max().orElse(0);
        double span = Math.max(0, most) - Math.min(0, least);
        boolean hasTop = most > 0 || values().anyMatch(value -> value.value() >= 0);
        double extra = HEADROOM * span * room / (HEIGHT - 2 * room);
        return Scale.linear(least < 0 ? least - extra : least, hasTop ? Math.max(0, most) + extra : most, INTERVALS,
                false);
    }

    private DoubleStream all() {
        return DoubleStream.concat(
                values().flatMapToDouble(value -> DoubleStream.of(value.least(), value.greatest())),
                DoubleStream.concat(
                        panel.targets().stream().filter(target -> target != null).mapToDouble(Double::doubleValue),
                        panel.published().stream().filter(published -> published != null)
                                .flatMapToDouble(Published::values)))
                .filter(Double::isFinite);
    }

    private void drawBars(Drawing drawing, Plot plot, int column, double start, double lane) {
        double bar = lane * BAR_SHARE;
        double inset = (lane - bar) / 2;
        for (int i = 0; i < panel.series().size(); i++) {
            Series series = panel.series().get(i);
            Value value = series.values().get(column);
            if (value == null || !Double.isFinite(value.value())) {
                continue;
            }
            double x = start + lane * i + inset;
            double end = plot.y(value.value());
            double zero = plot.y(0);
            double height = Math.max(MIN_BAR, Math.abs(end - zero));
            Bar.draw(drawing, x, value.value() < 0 ? zero : zero - height, bar, height, series.color(),
                    series.hatched());
            if (value.hasRange()) {
                Whisker.draw(drawing, x + bar / 2, plot.y(value.high()), plot.y(value.low()),
                        Math.min(WHISKER_CAP, bar / 2));
            }
        }
        if (hasPublished) {
            Published published = panel.published().get(column);
            if (published != null) {
                published.draw(drawing, plot, start + lane * panel.series().size() + inset, bar);
            }
        }
    }

    private void drawTarget(Drawing drawing, Plot plot, int column, double start, double lane) {
        Double target = panel.targets().get(column);
        if (target != null) {
            target(drawing, start, start + lane * lanes, plot.y(target));
        }
    }

    private static void target(Drawing drawing, double left, double right, double y) {
        drawing.line(left - 3, y, right + 3, y, Color.WHITE, TARGET_HALO);
        drawing.line(left - 3, y, right + 3, y, Theme.INK, TARGET_STROKE);
    }

    static Legend.Icon targetIcon() {
        return (drawing, left, right, middle) -> target(drawing, left + 5, right - 5, middle);
    }

    private void drawValues(Drawing drawing, Plot plot, int column, double start, double lane, boolean vertical) {
        double height = TextMetrics.lineHeight(Theme.VALUE);
        for (int i = 0; i < panel.series().size(); i++) {
            Value value = panel.series().get(i).values().get(column);
            if (value == null || !Double.isFinite(value.value())) {
                continue;
            }
            boolean below = value.value() < 0;
            double from = below ? plot.y(value.least()) + LABEL_GAP : plot.y(value.greatest()) - LABEL_GAP;
            double x = start + lane * (i + 0.5);
            String text = Numbers.value(value.value(), greatest);
            double length = width(value.value());
            double high = vertical ? length : height;
            double top = beside(panel.targets().get(column), plot, below ? from : from - high, high);
            drawing.rectangle(x - (vertical ? height : length) / 2, top, vertical ? height : length, high,
                    Color.WHITE, null);
            if (vertical) {
                drawing.verticalText(text, x + Theme.VALUE * MIDDLE, top + length, Anchor.START, Theme.VALUE);
            } else {
                drawing.text(text, x, top + height / 2 + Theme.VALUE * MIDDLE, Anchor.MIDDLE, Theme.VALUE);
            }
        }
    }

    /** The top of a text that would hide the line of a target: it is above the line instead. */
    private static double beside(@Nullable Double target, Plot plot, double top, double height) {
        if (target == null) {
            return top;
        }
        double y = plot.y(target);
        return y > top - TARGET_HALO && y < top + height + TARGET_HALO / 2 ? y - height - TARGET_HALO / 2 : top;
    }

    /** Draws the names below the panel, and returns the position below them. */
    private double drawNames(Drawing drawing, Plot plot, double slot) {
        double top = plot.bottom() + NAME_GAP;
        double height = TextMetrics.lineHeight(Theme.TICK);
        boolean vertical = isVertical(slot);
        double deepest = top;
        for (int column = 0; column < panel.columns().size(); column++) {
            double middle = plot.left() + slot * (column + 0.5);
            if (vertical) {
                List<String> lines = verticalName(panel.columns().get(column), slot);
                double x = middle - (lines.size() - 1) * height / 2 + Theme.TICK * MIDDLE;
                for (String line : lines) {
                    drawing.verticalText(line, x, top, Anchor.END, Theme.TICK);
                    x += height;
                }
                deepest = Math.max(deepest, top + TextMetrics.width(lines, Theme.TICK));
            } else {
                double y = top + TextMetrics.ascent(Theme.TICK);
                for (String line : horizontalName(panel.columns().get(column), slot)) {
                    drawing.text(line, middle, y, Anchor.MIDDLE, Theme.TICK);
                    y += height;
                    deepest = Math.max(deepest, y - TextMetrics.ascent(Theme.TICK));
                }
            }
        }
        return deepest + 2;
    }

    private boolean isVertical(double slot) {
        return panel.columns().stream().anyMatch(name -> horizontalName(name, slot).size() > MAX_NAME_LINES
                || Stream.of(name.split("\\s+", -1))
                        .anyMatch(word -> TextMetrics.width(word, Theme.TICK, false) > slot - NAME_GAP));
    }

    /** Text after the first comma begins a line. */
    private static List<String> horizontalName(String name, double slot) {
        List<String> lines = new ArrayList<>();
        for (String part : name.split(", ", 2)) {
            lines.addAll(TextMetrics.wrap(part, Theme.TICK, false, slot - NAME_GAP));
        }
        return lines;
    }
}
