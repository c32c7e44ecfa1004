package io.varve.experiments.chart;

import io.varve.experiments.chart.Drawing.Anchor;

/** The title of a chart, in as many lines as it needs. Stateless. */
final class Title {
    private Title() {}

    /** Draws it and returns the position below it. */
    static double draw(Drawing drawing, double width) {
        double y = Theme.MARGIN + TextMetrics.ascent(Theme.TITLE);
        for (String line : TextMetrics.wrap(drawing.title(), Theme.TITLE, true, width - 2 * Theme.MARGIN)) {
            drawing.text(line, Theme.MARGIN, y, Anchor.START, Theme.TITLE, true, Theme.INK);
            y += TextMetrics.lineHeight(Theme.TITLE);
        }
        return y - TextMetrics.lineHeight(Theme.TITLE) + TextMetrics.descent(Theme.TITLE);
    }
}
