package io.varve.experiments.chart;

import java.awt.Color;
import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.chart.ColumnChart.Panel;
import io.varve.experiments.chart.ColumnChart.Series;
import io.varve.experiments.chart.ColumnChart.Value;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests axes, numbers, and what a chart says about its values. Confined to the test's thread. */
final class ChartContentTest {
    private static List<String> texts(Drawing drawing) {
        return drawing.elements().stream().filter(Drawing.Text.class::isInstance)
                .map(element -> ((Drawing.Text) element).text()).toList();
    }

    private static Drawing figure(Value value, @Nullable Published published) {
        List<@Nullable Value> values = new ArrayList<>(List.of(value));
        List<@Nullable Double> targets = new ArrayList<>();
        targets.add(null);
        List<@Nullable Published> all = new ArrayList<>();
        all.add(published);
        return new ColumnChart("Figure 4: overall", List.of(new Panel("", "reduction, %", List.of("60 s"),
                List.of(new Series("measured vs Redis", Color.RED, false, values)), targets, all)), "range").draw();
    }

    private static List<String> figure(@Nullable Published published) {
        return texts(figure(new Value(30, Double.NaN, Double.NaN), published));
    }

    @Test
    void publishedValues_areShownAsWhatTheyAre() {
        assertThat(figure(new Published(-3.7, null, 53.7))).contains("published range").doesNotContain("published mean",
                "published minimum", "published maximum");
        assertThat(figure(new Published(null, 40.0, 54.0))).contains("published mean", "published maximum")
                .doesNotContain("published range", "published minimum");
        assertThat(figure(new Published(-4.0, null, null))).contains("published minimum")
                .doesNotContain("published range", "published maximum", "published mean");
        assertThat(figure(new Published(1.0, 2.0, 3.0))).contains("published range", "published mean");
        assertThat(figure((Published) null)).noneMatch(text -> text.startsWith("published"));
    }

    @Test
    void repetitions_haveWhiskersThatTheLegendExplains() {
        assertThat(texts(figure(new Value(30, 20, 35), null))).contains("range", "30.0");
        assertThat(figure((Published) null)).doesNotContain("range");
    }

    @Test
    void linearAxes_startBelowZeroOnlyForNegativeValues() {
        assertThat(Scale.linear(58, 60, 5, false).min()).isZero();
        assertThat(Scale.linear(0, 0, 5, false)).extracting(Scale::min, Scale::max).containsExactly(0.0, 1.0);
        assertThat(Scale.linear(-3, 60, 6, false).ticks()).startsWith(-20.0, 0.0).endsWith(60.0);
        assertThat(Scale.linear(-7, -3, 4, false).max()).isZero();
        assertThat(Scale.linear(0, 205, 10, true)).extracting(Scale::min, Scale::max).containsExactly(0.0, 205.0);
        assertThat(Scale.linear(Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 5, false).max()).isEqualTo(1);
    }

    @Test
    void logarithmicAxes_endAtRoundValues() {
        assertThat(Scale.logarithmic(3, 700)).extracting(Scale::min, Scale::max).containsExactly(2.0, 1000.0);
        assertThat(Scale.logarithmic(1, 1e6).ticks()).containsExactly(1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6);
        assertThat(Scale.logarithmic(1, 1e30).ticks()).hasSizeLessThan(13);
        assertThat(Scale.logarithmic(1, 100).fraction(10)).isEqualTo(0.5);
    }

    @Test
    void numbers_haveTheDigitsThatTheirChartNeeds() {
        assertThat(Numbers.value(1234.4, 5000)).isEqualTo("1,234");
        assertThat(Numbers.value(0.5, 5000)).isEqualTo("0.5");
        assertThat(Numbers.value(9, 60)).isEqualTo("9.0");
        assertThat(Numbers.value(0, 60)).isEqualTo("0");
        assertThat(Numbers.value(2_345_678, 3e6)).isEqualTo("2.35 M");
        assertThat(Numbers.tick(0.25, 0.25)).isEqualTo("0.25");
        assertThat(Numbers.tick(-20, 20)).isEqualTo("-20");
        assertThat(Numbers.tick(2e9, 1e9)).isEqualTo("2 G");
        assertThat(Numbers.tick(3e18, 1e18)).isEqualTo("3e18");
        assertThat(Numbers.tick(2e-5, 1e-5)).isEqualTo("2e-5");
        assertThat(Numbers.tick(1.5e-10, 5e-11)).isEqualTo("1.5e-10");
        assertThat(Numbers.tick(0, 1e-5)).isEqualTo("0");
    }
}
