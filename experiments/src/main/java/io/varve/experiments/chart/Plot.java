package io.varve.experiments.chart;

import java.util.List;

import io.varve.experiments.chart.Drawing.Anchor;

/**
 * The rectangle of a chart in which values are drawn, with its vertical axis. Immutable.
 *
 * @param left left edge
 * @param top top edge
 * @param width width
 * @param height height
 * @param y the vertical axis
 */
record Plot(double left, double top, double width, double height, Scale y) {
    private static final double LABEL_GAP = 7;
    private static final double TITLE_GAP = 6;
    /** Distance from the middle of a line of letters to its baseline, as a share of their size. */
    private static final double MIDDLE = 0.36;

    double right() {
        return left + width;
    }

    double bottom() {
        return top + height;
    }

    double y(double value) {
        return bottom() - height * y.fraction(value);
    }

    /** The width that a vertical axis takes beside the rectangle. */
    static double axisWidth(Scale scale, String title, double height) {
        int lines = title.isEmpty() ? 0 : axisTitle(title, height).size();
        return lines * TextMetrics.lineHeight(Theme.AXIS_TITLE) + TITLE_GAP + scale.widestLabel() + LABEL_GAP;
    }

    private static List<String> axisTitle(String title, double height) {
        return TextMetrics.wrap(title, Theme.AXIS_TITLE, false, height);
    }

    /** Draws grid, numbers and title of the vertical axis. */
    void drawAxis(Drawing drawing, String title) {
        for (double tick : y.ticks()) {
            drawing.line(left, y(tick), right(), y(tick), Theme.GRID, 1);
            drawing.text(y.label(tick), left - LABEL_GAP, y(tick) + Theme.TICK * MIDDLE, Anchor.END, Theme.TICK);
        }
        List<String> lines = axisTitle(title, height);
        double x = left - LABEL_GAP - y.widestLabel() - TITLE_GAP - TextMetrics.descent(Theme.AXIS_TITLE)
                - (lines.size() - 1) * TextMetrics.lineHeight(Theme.AXIS_TITLE);
        for (String line : lines) {
            drawing.verticalText(line, x, top + height / 2, Anchor.MIDDLE, Theme.AXIS_TITLE);
            x += TextMetrics.lineHeight(Theme.AXIS_TITLE);
        }
    }

    /** Draws the line at zero, or the lower edge if the axis has no zero. */
    void drawBase(Drawing drawing) {
        double base = y.logarithmic() || y.min() > 0 ? bottom() : y(0);
        drawing.line(left, base, right(), base, Theme.INK, 1);
    }
}
