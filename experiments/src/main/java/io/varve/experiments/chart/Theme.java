package io.varve.experiments.chart;

import java.awt.Color;

/** Colours and sizes of all charts, in pixels of a screen with 96 dpi. Stateless. */
final class Theme {
    static final Color INK = new Color(0x1f2328);
    static final Color SOFT = new Color(0x59636e);
    static final Color GRID = new Color(0xe4e7eb);
    static final Color PUBLISHED = new Color(0xf3ead2);
    /** Width of a chart: at this width its texts have 8 points across a page of a paper. */
    static final double WIDTH = 760;
    static final double PLOT_HEIGHT = 340;
    static final double MARGIN = 14;
    static final double TITLE = 15;
    static final double AXIS_TITLE = 12;
    static final double TICK = 11.5;
    static final double LEGEND = 12;
    static final double VALUE = 10.5;
    /** Free space between two texts. */
    static final double GAP = 8;

    private Theme() {}
}
