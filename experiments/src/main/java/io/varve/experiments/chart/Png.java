package io.varve.experiments.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.AffineTransform;
import java.awt.image.BufferedImage;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;

import io.varve.experiments.chart.Drawing.Element;
import io.varve.experiments.chart.Drawing.Figure;
import io.varve.experiments.chart.Drawing.Text;

/** Writes a drawing as PNG, without a display. Stateless. */
final class Png {
    /** Pixels of the image for a pixel of the drawing: 192 dpi. */
    private static final int PIXELS = 2;

    static {
        // No cache on disk: it registers a shutdown hook, which fails during Ctrl-C.
        ImageIO.setUseCache(false);
    }

    private Png() {}

    static void write(Drawing drawing, Path file) throws IOException {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            ImageIO.write(image(drawing), "png", out);
        }
    }

    private static BufferedImage image(Drawing drawing) {
        BufferedImage image = new BufferedImage(PIXELS * (int) drawing.width(), PIXELS * (int) drawing.height(),
                BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_FRACTIONALMETRICS, RenderingHints.VALUE_FRACTIONALMETRICS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, image.getWidth(), image.getHeight());
        graphics.scale(PIXELS, PIXELS);
        for (Element element : drawing.elements()) {
            switch (element) {
                case Text text -> draw(graphics, text);
                case Figure figure -> draw(graphics, figure);
            }
        }
        graphics.dispose();
        return image;
    }

    private static void draw(Graphics2D graphics, Text text) {
        AffineTransform before = graphics.getTransform();
        graphics.translate(text.x(), text.y());
        if (text.vertical()) {
            graphics.rotate(-Math.PI / 2);
        }
        double width = TextMetrics.width(text.text(), text.size(), text.bold());
        double start = switch (text.anchor()) {
            case START -> 0;
            case MIDDLE -> -width / 2;
            case END -> -width;
        };
        graphics.setFont(TextMetrics.font(text.size(), text.bold()));
        graphics.setColor(text.color());
        graphics.drawString(text.text(), (float) start, 0f);
        graphics.setTransform(before);
    }

    private static void draw(Graphics2D graphics, Figure figure) {
        if (figure.fill() != null) {
            graphics.setColor(figure.fill());
            graphics.fill(figure.path());
        }
        if (figure.stroke() != null) {
            graphics.setColor(figure.stroke());
            graphics.setStroke(stroke(figure));
            graphics.draw(figure.path());
        }
    }

    private static BasicStroke stroke(Figure figure) {
        float width = (float) figure.width();
        if (figure.dash() == Dash.SOLID) {
            return new BasicStroke(width, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND);
        }
        return new BasicStroke(width, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1f,
                figure.dash().lengths(), 0f);
    }
}
