package io.varve.experiments.chart;

/** The pattern of a line. */
public enum Dash {
    SOLID(0, 0), DASHED(7, 4), DOTTED(2, 3);

    private final float stroke;
    private final float gap;

    Dash(float stroke, float gap) {
        this.stroke = stroke;
        this.gap = gap;
    }

    /** Lengths of a stroke and of a gap; 0 for a solid line. */
    float[] lengths() {
        return new float[] {stroke, gap};
    }
}
