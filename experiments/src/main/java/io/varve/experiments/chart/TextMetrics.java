package io.varve.experiments.chart;

import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.awt.font.LineMetrics;
import java.util.ArrayList;
import java.util.List;

/** The font of all charts, and the sizes of texts in it. Stateless. */
final class TextMetrics {
    /** The name of the font, as SVG and Java know it. */
    static final String FAMILY = family();
    private static final FontRenderContext CONTEXT = new FontRenderContext(null, true, true);
    private static final double LINE_SPACING = 1.3;

    private TextMetrics() {}

    /** The first font that this machine has; all are sans-serif, the widest first. */
    private static String family() {
        for (String name : List.of("DejaVu Sans", "Verdana", "Liberation Sans", "Arial", "Helvetica")) {
            if (new Font(name, Font.PLAIN, 1).getFamily().equals(name)) {
                return name;
            }
        }
        return Font.SANS_SERIF;
    }

    static Font font(double size, boolean bold) {
        return new Font(FAMILY, bold ? Font.BOLD : Font.PLAIN, 1).deriveFont((float) size);
    }

    static double width(String text, double size, boolean bold) {
        return text.isEmpty() ? 0 : font(size, bold).getStringBounds(text, CONTEXT).getWidth();
    }

    /** The greatest width of some lines in plain letters. */
    static double width(List<String> lines, double size) {
        return lines.stream().mapToDouble(line -> width(line, size, false)).max().orElse(0);
    }

    /** The height of letters above the baseline. */
    static double ascent(double size) {
        return metrics(size).getAscent();
    }

    /** The depth of letters below the baseline. */
    static double descent(double size) {
        return metrics(size).getDescent();
    }

    /** The distance between the baselines of two lines. */
    static double lineHeight(double size) {
        return size * LINE_SPACING;
    }

    private static LineMetrics metrics(double size) {
        return font(size, false).getLineMetrics("Mg", CONTEXT);
    }

    /** Breaks a text into lines at its blanks, and inside of words that are wider than a line. */
    static List<String> wrap(String text, double size, boolean bold, double width) {
        List<String> lines = new ArrayList<>();
        String line = "";
        for (String word : text.strip().split("\\s+", -1)) {
            String longer = line.isEmpty() ? word : line + " " + word;
            if (width(longer, size, bold) <= width) {
                line = longer;
                continue;
            }
            if (!line.isEmpty()) {
                lines.add(line);
            }
            line = word;
            while (line.length() > 1 && width(line, size, bold) > width) {
                int end = line.length() - 1;
                while (end > 1 && width(line.substring(0, end), size, bold) > width) {
                    end--;
                }
                lines.add(line.substring(0, end));
                line = line.substring(end);
            }
        }
        lines.add(line);
        return lines;
    }
}
