package io.varve.experiments.simulate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.varve.experiments.simulate.PatternKeys.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the generated requests. Confined to the test's thread. */
final class PatternKeysTest {
    private static final int KEYS = 1000;
    private static final int REQUESTS = 20_000;

    private static List<Long> keys(Pattern pattern) throws Exception {
        List<Long> keys = new ArrayList<>();
        try (KeyStream stream = new PatternKeys(pattern, KEYS, REQUESTS).open()) {
            while (stream.next()) {
                keys.add(stream.key());
            }
        }
        return keys;
    }

    private static Set<Long> allKeys() {
        Set<Long> all = new HashSet<>();
        for (int number = 0; number < KEYS; number++) {
            all.add(YcsbKeys.keyOf(number));
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource(Pattern.class)
    void requestsAreEqualInEachRun(Pattern pattern) throws Exception {
        List<Long> keys = keys(pattern);
        assertThat(keys).hasSize(REQUESTS).isEqualTo(keys(pattern));
        assertThat(allKeys()).containsAll(keys);
    }

    @Test
    void aLoopReadsItsKeysInTheirOrder() throws Exception {
        List<Long> looped = keys(Pattern.LOOPING).stream()
                .filter(key -> numberOf(key) < KEYS / 2).toList();
        assertThat(looped).hasSizeBetween(REQUESTS / 4, REQUESTS / 2);
        for (int i = 0; i < looped.size(); i++) {
            assertThat(looped.get(i)).isEqualTo(YcsbKeys.keyOf(i % (KEYS / 2)));
        }
    }

    @Test
    void popularityMovesToOtherKeys() throws Exception {
        List<Long> keys = keys(Pattern.SHIFTING);
        long first = YcsbKeys.keyOf(0);
        long inTheBeginning = keys.subList(0, KEYS / 4).stream().filter(key -> key == first).count();
        long later = keys.subList(REQUESTS - KEYS / 4, REQUESTS).stream().filter(key -> key == first).count();
        assertThat(inTheBeginning).isGreaterThan(10).isGreaterThan(4 * later);
    }

    private static int numberOf(long key) {
        for (int number = 0; number < KEYS; number++) {
            if (YcsbKeys.keyOf(number) == key) {
                return number;
            }
        }
        throw new IllegalArgumentException("not a key: " + key);
    }

    @Test
    void invalidPatterns_areRefused() {
        assertThatThrownBy(() -> Pattern.of("random")).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("looping, shifting");
        assertThatThrownBy(() -> new PatternKeys(Pattern.LOOPING, 99, 1)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("100 keys");
    }
}
