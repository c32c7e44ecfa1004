package io.varve.server.differential.random;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the shrinking of failing scripts. Confined to the test's thread. */
class ScriptShrinkerTest {
    /** Fails at a 7 that comes somewhere behind a 3. */
    private static int failingStep(List<Integer> script) {
        int three = script.indexOf(3);
        for (int i = three + 1; three >= 0 && i < script.size(); i++) {
            if (script.get(i) == 7) {
                return i;
            }
        }
        return ScriptShrinker.NONE;
    }

    @Test
    void neededStepsRemain() throws IOException {
        List<Integer> script = IntStream.range(0, 400).map(i -> i % 10).boxed().toList();
        assertThat(ScriptShrinker.shrink(script, 7, ScriptShrinkerTest::failingStep)).containsExactly(3, 7);
        assertThat(ScriptShrinker.shrink(script, 399, ScriptShrinkerTest::failingStep)).containsExactly(3, 7);
    }

    @Test
    void resultsBeforeAServerHangsRemain() throws IOException {
        int[] runs = {0};
        assertThat(ScriptShrinker.shrink(List.of(1, 3, 5, 7), 3, script -> {
            if (runs[0]++ > 0) {
                throw new SocketTimeoutException("silent");
            }
            return failingStep(script);
        })).containsExactly(1, 3, 5, 7);
    }
}
