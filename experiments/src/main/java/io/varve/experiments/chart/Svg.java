package io.varve.experiments.chart;

import java.awt.Color;
import java.awt.geom.PathIterator;
import java.util.Locale;

import io.varve.experiments.chart.Drawing.Anchor;
import io.varve.experiments.chart.Drawing.Element;
import io.varve.experiments.chart.Drawing.Figure;
import io.varve.experiments.chart.Drawing.Text;
import org.jspecify.annotations.Nullable;

/**
 * Writes a drawing as SVG. Confined to the thread that writes.
 *
 * <p>The result has no identifiers, style sheets or links, so that a page may contain several of them. Each text has
 * its length: it takes equal space if the reader's machine has another font.
 */
final class Svg {
    private final StringBuilder out = new StringBuilder();

    private Svg() {}

    static String of(Drawing drawing) {
        return new Svg().write(drawing);
    }

    private String write(Drawing drawing) {
        String width = number(drawing.width());
        String height = number(drawing.height());
        out.append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"").append(width).append("\" height=\"")
                .append(height).append("\" viewBox=\"0 0 ").append(width).append(' ').append(height)
                .append("\" role=\"img\" font-family=\"'").append(TextMetrics.FAMILY)
                .append("', 'DejaVu Sans', Verdana, Arial, sans-serif\">\n<title>").append(escaped(drawing.title()))
                .append("</title>\n<rect width=\"").append(width).append("\" height=\"").append(height)
                .append("\" fill=\"#ffffff\"/>\n");
        for (Element element : drawing.elements()) {
            switch (element) {
                case Text text -> write(text);
                case Figure figure -> write(figure);
            }
        }
        return out.append("</svg>\n").toString();
    }

    private void write(Text text) {
        String x = number(text.x());
        String y = number(text.y());
        out.append("<text x=\"").append(x).append("\" y=\"").append(y).append("\" font-size=\"")
                .append(number(text.size())).append('"');
        if (text.bold()) {
            out.append(" font-weight=\"bold\"");
        }
        if (text.anchor() != Anchor.START) {
            out.append(" text-anchor=\"").append(text.anchor() == Anchor.END ? "end" : "middle").append('"');
        }
        if (text.vertical()) {
            out.append(" transform=\"rotate(-90 ").append(x).append(' ').append(y).append(")\"");
        }
        out.append(" textLength=\"").append(number(TextMetrics.width(text.text(), text.size(), text.bold())))
                .append("\" lengthAdjust=\"spacingAndGlyphs\" fill=\"").append(color(text.color())).append("\">")
                .append(escaped(text.text())).append("</text>\n");
    }

    private void write(Figure figure) {
        out.append("<path d=\"");
        path(figure);
        out.append("\" fill=\"").append(color(figure.fill())).append('"');
        if (figure.stroke() != null) {
            out.append(" stroke=\"").append(color(figure.stroke())).append("\" stroke-width=\"")
                    .append(number(figure.width())).append("\" stroke-linejoin=\"round\"");
            if (figure.dash() != Dash.SOLID) {
                out.append(" stroke-dasharray=\"").append(number(figure.dash().lengths()[0])).append(' ')
                        .append(number(figure.dash().lengths()[1])).append('"');
            }
        }
        out.append("/>\n");
    }

    private void path(Figure figure) {
        double[] at = new double[6];
        for (PathIterator each = figure.path().getPathIterator(null); !each.isDone(); each.next()) {
            int type = each.currentSegment(at);
            int numbers = switch (type) {
                case PathIterator.SEG_MOVETO, PathIterator.SEG_LINETO -> 2;
                case PathIterator.SEG_QUADTO -> 4;
                case PathIterator.SEG_CUBICTO -> 6;
                default -> 0;
            };
            out.append(switch (type) {
                case PathIterator.SEG_MOVETO -> 'M';
                case PathIterator.SEG_LINETO -> 'L';
                case PathIterator.SEG_QUADTO -> 'Q';
                case PathIterator.SEG_CUBICTO -> 'C';
                default -> 'Z';
            });
            for (int i = 0; i < numbers; i++) {
                out.append(i == 0 ? "" : " ").append(number(at[i]));
            }
        }
    }

    private static String color(@Nullable Color color) {
        return color == null ? "none" : String.format(Locale.ROOT, "#%06x", color.getRGB() & 0xffffff);
    }

    private static String number(double value) {
        String text = String.format(Locale.ROOT, "%.2f", value);
        return text.endsWith(".00") ? text.substring(0, text.length() - 3) : text;
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
