package io.varve.experiments.report;

import java.awt.Color;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import io.varve.experiments.result.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that colours of one chart differ, in greyscale too. Confined to the test's thread. */
final class PaletteColorTest {
    /** Least difference in lightness, of 100 from black to white. */
    private static final double MIN_DIFFERENCE = 7;
    /** The lightest colour is visible on white. */
    private static final double MAX_LIGHTNESS = 84;

    private static double linear(int channel) {
        double value = channel / 255.0;
        return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    }

    /** The relative luminance of a colour, from 0 to 1. */
    private static double luminance(String html) {
        Color color = Color.decode(html);
        return 0.2126 * linear(color.getRed()) + 0.7152 * linear(color.getGreen()) + 0.0722 * linear(color.getBlue());
    }

    /** Perceived lightness of a relative luminance (CIE L*), whose equal differences look equal. */
    private static double lightness(String html) {
        double luminance = luminance(html);
        return luminance > 0.008856 ? 116 * Math.cbrt(luminance) - 16 : 903.3 * luminance;
    }

    private static void assertDistinct(Collection<String> colors) {
        List<String> all = new ArrayList<>(colors);
        for (int i = 0; i < all.size(); i++) {
            for (int j = i + 1; j < all.size(); j++) {
                assertThat(Math.abs(lightness(all.get(i)) - lightness(all.get(j)))).as(all.get(i) + " " + all.get(j))
                        .isGreaterThan(MIN_DIFFERENCE);
            }
        }
    }

    @Test
    void nineColorsDifferInLightness() {
        assertThat(Palette.COLORS).hasSize(9).doesNotHaveDuplicates();
        assertDistinct(Palette.COLORS);
        assertThat(Palette.COLORS).allSatisfy(color -> assertThat(lightness(color)).isLessThan(MAX_LIGHTNESS));
        assertThat(luminance("#ffffff")).isEqualTo(1);
    }

    @Test
    void seriesOfEachKnownGroupDifferInLightness() {
        for (Map<String, String> group : Palette.KNOWN) {
            // Scaled buckets come in two sets of six: each has the colours of the paper's buckets.
            Collection<String> colors = group.size() > Palette.COLORS.size()
                    ? new LinkedHashSet<>(group.values())
                    : group.values();
            assertDistinct(colors);
            assertThat(Palette.COLORS).containsAll(colors);
        }
    }

    @Test
    void aNameHasOneColorInAllCharts() {
        Map<String, String> colors = new HashMap<>();
        for (Map<String, String> group : Palette.KNOWN) {
            group.forEach((name, color) -> assertThat(colors.merge(name, color, (first, _) -> first)).as(name)
                    .isEqualTo(color));
        }
        assertThat(colors.get("wheel")).isEqualTo(colors.get(DisplayName.of("wheel")));
    }

    @Test
    void unknownNamesHaveColorsThatKnownOnesLeave() {
        List<String> names = new ArrayList<>(List.of("Redis", "four-loops", "two-loops", "eight-loops", "one-loop",
                "Varve", "zgc", "g1", "shenandoah"));
        assertDistinct(Palette.distinct(names).values());
        assertThat(Palette.distinct(names)).containsEntry("Redis", Palette.html("Redis"))
                .containsEntry("Varve", Palette.html("Varve"));
        names.addAll(IntStream.range(0, 10).mapToObj(i -> "more " + i).toList());
        Set<String> all = Palette.distinct(names).keySet();
        assertThat(all).containsExactlyInAnyOrderElementsOf(names);
    }

    @Test
    void theWheelIsShownAsVarve() {
        assertThat(List.of("wheel", "wheel-100", "Redis", "wheels").stream().map(DisplayName::of))
                .containsExactly("Varve", "Varve-100", "Redis", "wheels");
    }
}
