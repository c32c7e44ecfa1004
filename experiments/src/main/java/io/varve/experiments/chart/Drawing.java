package io.varve.experiments.chart;

import java.awt.Color;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Texts and shapes in the order in which they are drawn. Confined to the thread that draws.
 *
 * <p>Each file format is written from it, so all formats of a chart have equal content.
 */
final class Drawing {
    private final String title;
    private final List<Element> elements = new ArrayList<>();
    private double width;
    private double height;

    /** What a drawing consists of. */
    sealed interface Element permits Text, Figure {}

    /** The point of a text that its coordinates name. */
    enum Anchor {
        START, MIDDLE, END
    }

    /**
     * A line of text.
     *
     * @param text the words
     * @param x horizontal position of the anchor
     * @param y vertical position of the baseline, or of the anchor of a vertical text
     * @param anchor which point of the text the position names
     * @param size size of the letters
     * @param bold whether the letters are bold
     * @param color colour of the letters
     * @param vertical whether the text reads from the bottom to the top
     */
    record Text(String text, double x, double y, Anchor anchor, double size, boolean bold, Color color,
            boolean vertical) implements Element {}

    /**
     * An area, a line, or an area with an outline.
     *
     * @param path where it is
     * @param fill colour of the area; null for none
     * @param stroke colour of the line; null for none
     * @param width width of the line
     * @param dash pattern of the line
     */
    record Figure(Path2D path, @Nullable Color fill, @Nullable Color stroke, double width,
            Dash dash) implements Element {}

    Drawing(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    List<Element> elements() {
        return elements;
    }

    double width() {
        return width;
    }

    double height() {
        return height;
    }

    void resize(double newWidth, double newHeight) {
        width = Math.ceil(newWidth);
        height = Math.ceil(newHeight);
    }

    void text(String text, double x, double y, Anchor anchor, double size) {
        text(text, x, y, anchor, size, false, Theme.INK);
    }

    void text(String text, double x, double y, Anchor anchor, double size, boolean bold, Color color) {
        if (!text.isEmpty()) {
            elements.add(new Text(text, x, y, anchor, size, bold, color, false));
        }
    }

    /** A text that reads upwards; its baseline is at {@code x}. */
    void verticalText(String text, double x, double y, Anchor anchor, double size) {
        if (!text.isEmpty()) {
            elements.add(new Text(text, x, y, anchor, size, false, Theme.INK, true));
        }
    }

    void line(double fromX, double fromY, double toX, double toY, Color color, double strokeWidth) {
        Path2D path = new Path2D.Double();
        path.moveTo(fromX, fromY);
        path.lineTo(toX, toY);
        line(path, color, strokeWidth, Dash.SOLID);
    }

    void line(Path2D path, Color color, double strokeWidth, Dash dash) {
        elements.add(new Figure(path, null, color, strokeWidth, dash));
    }

    void rectangle(double x, double y, double rectangleWidth, double rectangleHeight, Color fill,
            @Nullable Color outline) {
        area(new Path2D.Double(new Rectangle2D.Double(x, y, rectangleWidth, rectangleHeight)), fill, outline);
    }

    void area(Path2D path, @Nullable Color fill, @Nullable Color outline) {
        elements.add(new Figure(path, fill, outline, 0.8, Dash.SOLID));
    }
}
