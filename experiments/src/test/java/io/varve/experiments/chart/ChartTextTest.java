package io.varve.experiments.chart;

import java.awt.geom.AffineTransform;
import java.awt.geom.Rectangle2D;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes the fixed charts to {@code target/charts-test}, and compares the boxes of their texts. Confined to the test's
 * thread. {@code it/charts/charts.sh} compares the boxes of these files in Chromium.
 */
final class ChartTextTest {
    private static final Path DIRECTORY = Path.of("target", "charts-test");
    /** Part of a pixel by which boxes may overlap, for rounded coordinates. */
    private static final double TOLERANCE = 0.5;

    private record Box(String text, Rectangle2D at) {}

    static Stream<String> names() {
        return FixedCharts.all().keySet().stream();
    }

    private static Drawing drawing(String name) {
        return Objects.requireNonNull(FixedCharts.all().get(name));
    }

    private static Document parsed(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    private static List<Element> texts(Document document) {
        NodeList nodes = document.getElementsByTagName("text");
        List<Element> texts = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            texts.add((Element) nodes.item(i));
        }
        return texts;
    }

    /** The box of a text, from the attributes that a reader of the file sees. */
    private static Box box(Element text) {
        double x = Double.parseDouble(text.getAttribute("x"));
        double y = Double.parseDouble(text.getAttribute("y"));
        double size = Double.parseDouble(text.getAttribute("font-size"));
        double width = TextMetrics.width(text.getTextContent(), size, text.getAttribute("font-weight").equals("bold"));
        double left = switch (text.getAttribute("text-anchor")) {
            case "end" -> x - width;
            case "middle" -> x - width / 2;
            default -> x;
        };
        Rectangle2D box = new Rectangle2D.Double(left, y - TextMetrics.ascent(size), width,
                TextMetrics.ascent(size) + TextMetrics.descent(size));
        if (text.hasAttribute("transform")) {
            assertThat(text.getAttribute("transform")).startsWith("rotate(-90 ");
            box = AffineTransform.getRotateInstance(-Math.PI / 2, x, y).createTransformedShape(box).getBounds2D();
        }
        return new Box(text.getTextContent(), box);
    }

    private static boolean overlap(Rectangle2D one, Rectangle2D other) {
        Rectangle2D common = one.createIntersection(other);
        return common.getWidth() > TOLERANCE && common.getHeight() > TOLERANCE;
    }

    @ParameterizedTest
    @MethodSource("names")
    void texts_neitherOverlapNorLeaveTheImage(String name) throws Exception {
        Document document = parsed(Svg.of(drawing(name)));
        Element root = document.getDocumentElement();
        Rectangle2D image = new Rectangle2D.Double(0, 0, Double.parseDouble(root.getAttribute("width")),
                Double.parseDouble(root.getAttribute("height")));
        List<Box> boxes = texts(document).stream().map(ChartTextTest::box).toList();
        assertThat(boxes).hasSizeGreaterThan(4);
        List<String> problems = new ArrayList<>();
        for (int i = 0; i < boxes.size(); i++) {
            if (!image.contains(boxes.get(i).at())) {
                problems.add(boxes.get(i) + " leaves the image " + image);
            }
            for (int j = i + 1; j < boxes.size(); j++) {
                if (overlap(boxes.get(i).at(), boxes.get(j).at())) {
                    problems.add(boxes.get(i) + " overlaps " + boxes.get(j));
                }
            }
        }
        assertThat(problems).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("names")
    void files_haveEqualContent(String name) throws Exception {
        ChartFile chart = ChartFile.write(drawing(name), Files.createDirectories(DIRECTORY), name);
        assertThat(ChartFile.in(DIRECTORY)).contains(chart);
        Drawing drawing = drawing(name);
        assertThat(texts(parsed(chart.svgText()))).extracting(Element::getTextContent)
                .containsExactlyElementsOf(drawing.elements().stream().filter(Drawing.Text.class::isInstance)
                        .map(element -> ((Drawing.Text) element).text()).toList());
        assertThat(Objects.requireNonNull(ImageIO.read(chart.png().toFile())).getWidth())
                .isEqualTo(2 * (int) drawing.width());
        assertThat(chart.svgText()).doesNotContain(" id=", "href", "<style", " class=");
    }

    @ParameterizedTest
    @MethodSource("names")
    void words_areNotCut(String name) throws IOException {
        Drawing drawing = drawing(name);
        String words = String.join("", drawing.elements().stream().filter(Drawing.Text.class::isInstance)
                .map(element -> ((Drawing.Text) element).text()).toList()).replace(" ", "");
        assertThat(words).startsWith(drawing.title().replace(" ", ""));
    }
}
