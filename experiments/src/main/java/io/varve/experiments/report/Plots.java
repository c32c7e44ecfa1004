package io.varve.experiments.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

import io.varve.experiments.definition.Experiment.Published;
import org.knowm.xchart.AnnotationText;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws PNG plots on white, in our palette, without a display. Confined to the thread that writes the report. */
final class Plots {
    private static final String NUMBERS = "#,##0.##";
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 560;
    private static final Color INK = new Color(0x1f2328);
    private static final Color GRID = new Color(0xe4e7eb);
    private static final Color PUBLISHED = new Color(0xd9c7a0);
    private static final float BAR_WIDTH = 20f;
    private static final float LEGEND_WIDTH = 14f;
    private static final double MIN_SPAN_PERCENT = 10;
    /** Minimum height, so that an empty range is visible. */
    private static final double MIN_PERCENT = 0.3;
    /** Minimum height of a bar from zero, as a fraction of the greatest value shown. */
    private static final double MIN_PART = 0.003;
    private static final float PUBLISHED_WIDTH = 64f;
    /** Width of a letter of a column's name, with its share of the gap to the next name. */
    private static final int LETTER_WIDTH = 10;
    /** Number of lines whose names fit below a chart. */
    private static final int LINES_BELOW = 6;

    private final Path directory;

    Plots(Path directory) {
        this.directory = directory;
        // No cache on disk: it registers a shutdown hook, which fails during Ctrl-C.
        ImageIO.setUseCache(false);
    }

    /** One image per quantity: {@code memory_CELL.png} and so on. */
    void write(Curves curves) throws IOException {
        for (Curves.View view : curves.views()) {
            XYChart chart = chart(WIDTH, HEIGHT, view.title() + ": " + curves.title(), "seconds since FLUSHALL",
                    view.unit());
            chart.getStyler().setXAxisMin(0.0);
            chart.getStyler().setYAxisMin(0.0);
            placeLegend(chart, view.lines().size());
            for (Curves.Line line : view.lines()) {
                XYSeries series = chart.addSeries(line.configuration(),
                        line.points().stream().mapToDouble(Curves.Point::seconds).toArray(),
                        line.points().stream().mapToDouble(Curves.Point::value).toArray());
                boolean limit = line.configuration().equals("limit");
                series.setLineColor(limit ? INK : Palette.color(line.configuration()));
                series.setLineStyle(limit ? dashed() : solid(2f));
                series.setMarker(SeriesMarkers.NONE);
            }
            save(List.of(chart), view.name() + "_" + curves.cell() + ".png");
        }
    }

    /** Many names do not fit below the chart, so they are beside it. */
    private static void placeLegend(XYChart chart, int lines) {
        if (lines > LINES_BELOW) {
            chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
            chart.getStyler().setLegendLayout(LegendLayout.Vertical);
        }
    }

    /** One image: lines over any axis. */
    void write(Graph graph) throws IOException {
        XYChart chart = chart(WIDTH, HEIGHT, graph.title(), graph.xTitle(), graph.yTitle());
        chart.getStyler().setXAxisLogarithmic(graph.logX());
        chart.getStyler().setYAxisLogarithmic(graph.logY());
        if (!graph.logY()) {
            chart.getStyler().setYAxisMin(0.0);
        }
        placeLegend(chart, graph.lines().size());
        for (Graph.Line line : graph.lines()) {
            XYSeries series = chart.addSeries(line.name(),
                    line.points().stream().mapToDouble(Graph.Point::x).toArray(),
                    line.points().stream().mapToDouble(Graph.Point::y).toArray());
            series.setLineColor(Color.decode(line.color()));
            series.setLineStyle(line.dashed() ? dashed() : solid(2f));
            series.setMarker(SeriesMarkers.NONE);
        }
        save(List.of(chart), graph.file() + ".png");
    }

    /** One image per figure, a panel per metric. */
    void write(Bars bars) throws IOException {
        List<XYChart> charts = new ArrayList<>();
        for (Bars.Panel panel : bars.panels()) {
            charts.add(panel(bars, panel));
        }
        save(charts, bars.figure().id().toLowerCase(Locale.ROOT).replace(' ', '-') + ".png");
    }

    /** One image: a bar for each server in every column, a diamond where the target is. */
    void write(Columns columns) throws IOException {
        int longest = columns.names().stream().flatMap(name -> Stream.of(name.split(", ", 2)))
                .mapToInt(String::length).max().orElse(0);
        int width = Math.max(720, Math.max(110, LETTER_WIDTH * longest) * columns.names().size());
        XYChart chart = chart(width, HEIGHT, columns.title(), "", columns.unit());
        chart.getStyler().setXAxisMin(-0.6);
        chart.getStyler().setXAxisMax(columns.names().size() - 0.4);
        chart.getStyler().setXAxisTicksVisible(false);
        double max = columns.max();
        chart.getStyler().setYAxisMin(-0.12 * max);
        chart.getStyler().setYAxisMax(1.12 * max);
        // Below zero are the names of the columns.
        DecimalFormat numbers = new DecimalFormat(NUMBERS, DecimalFormatSymbols.getInstance(Locale.ROOT));
        chart.setCustomYAxisTickLabelsFormatter(value -> value < 0 ? "" : numbers.format(value));
        Set<String> named = new HashSet<>();
        int next = 0;
        double step = 0.8 / columns.series().size();
        for (int column = 0; column < columns.names().size(); column++) {
            String[] words = columns.names().get(column).split(", ", 2);
            for (int line = 0; line < words.length; line++) {
                write(chart, words[line], column, -(0.03 + 0.045 * line) * max);
            }
            for (int number = 0; number < columns.series().size(); number++) {
                Columns.Series series = columns.series().get(number);
                Double value = series.values().get(column);
                if (value != null) {
                    double x = column + (number - (columns.series().size() - 1) / 2.0) * step;
                    vertical(chart, named, series.name(), next++, x, 0, Math.max(value, MIN_PART * max),
                            Palette.color(series.name()), BAR_WIDTH);
                    write(chart, String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value), x,
                            value + 0.03 * max);
                }
            }
            Double target = columns.targets().get(column);
            if (target != null) {
                XYSeries mark = chart.addSeries(named.add("target") ? "target" : "target#" + next++,
                        new double[] {column}, new double[] {target});
                mark.setShowInLegend(mark.getName().equals("target"));
                mark.setLineStyle(solid(0f));
                mark.setMarker(SeriesMarkers.DIAMOND);
                mark.setMarkerColor(INK);
            }
        }
        save(List.of(chart), columns.file() + ".png");
    }

    private static XYChart panel(Bars bars, Bars.Panel panel) {
        XYChart chart = chart(Math.max(420, 130 * bars.columns().size()), 480,
                bars.figure().id() + " · " + panel.title(),
                "", "%");
        chart.getStyler().setXAxisMin(-0.6);
        chart.getStyler().setXAxisMax(bars.columns().size() - 0.4);
        chart.getStyler().setXAxisTicksVisible(false); // XChart would choose their places; ours are written below
        double[] axis = axis(panel);
        chart.getStyler().setYAxisMin(axis[0]);
        chart.getStyler().setYAxisMax(axis[1]);
        for (int column = 0; column < bars.columns().size(); column++) {
            write(chart, bars.columns().get(column), column, axis[0] + (axis[1] - axis[0]) * 0.035);
        }
        int next = 0;
        Set<String> named = new HashSet<>();
        List<String> shown = new ArrayList<>();
        for (Bars.Bar bar : panel.bars()) {
            int column = bars.columns().indexOf(bar.column());
            Published published = bar.published();
            if (published != null && !shown.contains(bar.column())) {
                shown.add(bar.column());
                double top = first(published.max(), published.mean(), published.min());
                double bottom = first(published.min(), published.mean(), published.max());
                vertical(chart, named, "published (paper)", next++, column, bottom,
                        Math.max(top, bottom + MIN_PERCENT),
                        PUBLISHED, PUBLISHED_WIDTH);
            }
        }
        long baselines = panel.bars().stream().map(Bars.Bar::baseline).distinct().count();
        for (Bars.Bar bar : panel.bars()) {
            double x = bars.columns().indexOf(bar.column())
                    + (baselines < 2 ? 0 : bar.baseline().equals("Redis") ? 0.18 : -0.18);
            Color color = Palette.color(bar.baseline());
            vertical(chart, named, "measured vs " + bar.baseline(), next++, x, bar.from(),
                    Math.max(bar.to(), bar.from() + MIN_PERCENT), color, BAR_WIDTH);
            double value = bar.spread().mean();
            XYSeries mean = chart.addSeries("mean" + next++, new double[] {x}, new double[] {value});
            mean.setShowInLegend(false);
            mean.setMarker(SeriesMarkers.DIAMOND);
            mean.setMarkerColor(INK);
            write(chart, String.format(Locale.ROOT, "%.1f", value), x, bar.to() + (axis[1] - axis[0]) * 0.04);
        }
        XYSeries zero = chart.addSeries("zero", new double[] {-0.6, bars.columns().size() - 0.4}, new double[] {0, 0});
        zero.setLineColor(INK);
        zero.setLineStyle(solid(1f));
        zero.setMarker(SeriesMarkers.NONE);
        zero.setShowInLegend(false);
        return chart;
    }

    /** Least and greatest value shown: zero, all measured and published values, and space for the text. */
    private static double[] axis(Bars.Panel panel) {
        double min = 0;
        double max = 0;
        for (Bars.Bar bar : panel.bars()) {
            min = Math.min(min, bar.from());
            max = Math.max(max, bar.to());
            Published published = bar.published();
            if (published != null) {
                min = Math.min(min, first(published.min(), published.mean(), published.max()));
                max = Math.max(max, first(published.max(), published.mean(), published.min()));
            }
        }
        double room = Math.max(MIN_SPAN_PERCENT, max - min) * 0.12;
        return new double[] {min - room, max + room};
    }

    private static void write(XYChart chart, String text, double x, double y) {
        chart.addAnnotation(new AnnotationText(text, x, y, false));
    }

    private static double first(@org.jspecify.annotations.Nullable Double... candidates) {
        for (Double candidate : candidates) {
            if (candidate != null) {
                return candidate;
            }
        }
        return 0;
    }

    private static void vertical(XYChart chart, Set<String> named, String name, int number, double x, double bottom,
            double top,
            Color color, float width) {
        XYSeries series = chart.addSeries(name + "#" + number, new double[] {x, x}, new double[] {bottom, top});
        paint(series, color, width);
        series.setShowInLegend(false);
        if (named.add(name)) { // the legend needs a series with a line of its own width
            paint(chart.addSeries(name, new double[] {x, x}, new double[] {bottom, bottom}), color, LEGEND_WIDTH);
        }
    }

    private static void paint(XYSeries series, Color color, float width) {
        series.setLineColor(color);
        series.setLineStyle(new BasicStroke(width, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER));
        series.setMarker(SeriesMarkers.NONE);
    }

    private static BasicStroke solid(float width) {
        return new BasicStroke(width, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND);
    }

    private static BasicStroke dashed() {
        return new BasicStroke(1.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1f, new float[] {5f, 4f}, 0f);
    }

    private static XYChart chart(int width, int height, String title, String x, String y) {
        XYChart chart = new XYChartBuilder().width(width).height(height).title(title).xAxisTitle(x).yAxisTitle(y)
                .build();
        var styler = chart.getStyler();
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
        styler.setPlotGridLinesColor(GRID);
        styler.setPlotGridVerticalLinesVisible(false);
        styler.setChartFontColor(INK);
        styler.setChartTitleBoxVisible(false);
        styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 14));
        styler.setAxisTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        styler.setAxisTickMarksColor(GRID);
        styler.setAnnotationTextFont(new Font(Font.SANS_SERIF, Font.BOLD, 12));
        styler.setAnnotationTextFontColor(INK);
        styler.setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendBackgroundColor(Color.WHITE);
        styler.setLegendPosition(LegendPosition.OutsideS);
        styler.setLegendLayout(LegendLayout.Horizontal);
        styler.setYAxisDecimalPattern(NUMBERS);
        return chart;
    }

    /** The charts side by side in one image. */
    private void save(List<XYChart> charts, String file) throws IOException {
        int width = charts.stream().mapToInt(XYChart::getWidth).sum();
        int height = charts.stream().mapToInt(XYChart::getHeight).max().orElse(1);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        int x = 0;
        for (XYChart chart : charts) {
            graphics.drawImage(BitmapEncoder.getBufferedImage(chart), x, 0, null);
            x += chart.getWidth();
        }
        graphics.dispose();
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(directory.resolve(file)))) {
            ImageIO.write(image, "png", out);
        }
    }
}
