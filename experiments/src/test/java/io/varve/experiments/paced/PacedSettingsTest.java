package io.varve.experiments.paced;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.plan.ValueSizes;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the generator's settings as words. Confined to the test's thread. */
final class PacedSettingsTest {
    private static final PacedSettings SETTINGS = new PacedSettings("127.0.0.1", 6379, 50, 20_000, 3, 10, 1, 1000,
            "GET 100", new ValueSizes(16, 16), 10, 10, new ValueSizes(60, 60), Path.of("out"));

    @Test
    void parse_readsWords() {
        assertThat(PacedSettings.parse(SETTINGS.words())).isEqualTo(SETTINGS);
        assertThat(PacedSettings.parseRehearsal(SETTINGS.words())).isEmpty();
    }

    @Test
    void parseRehearsal_isTheSameLoadAtAnotherServer() {
        List<String> words = new ArrayList<>(SETTINGS.words());
        words.addAll(PacedSettings.rehearsalWords(6380, 5));
        assertThat(PacedSettings.parse(words)).isEqualTo(SETTINGS);
        PacedSettings rehearsal = PacedSettings.parseRehearsal(words).orElseThrow();
        assertThat(rehearsal.port()).isEqualTo(6380);
        assertThat(rehearsal.seconds()).isEqualTo(5);
        assertThat(rehearsal.warmupSeconds()).isZero();
        assertThat(rehearsal.rate()).isEqualTo(SETTINGS.rate());
        assertThat(rehearsal.mix()).isEqualTo(SETTINGS.mix());
    }
}
