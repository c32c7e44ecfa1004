package io.varve.lua.lib;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;

import io.varve.lua.Scripts;
import io.varve.lua.oracle.RedisOracle;
import io.varve.testing.TestBudget;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Scripts that use the libraries, and what Redis 7.0.15 returns for them. */
class RecordedScriptsTest {
    private static final int BATCH = 50;

    private record Recorded(String script, String result) {}

    @Test
    void scripts_returnWhatRedisReturns() throws IOException {
        Scripts scripts = new Scripts();
        SoftAssertions all = new SoftAssertions();
        for (Recorded each : recorded()) {
            all.assertThat(escape(scripts.run(each.script))).as(each.script).isEqualTo(each.result);
        }
        all.assertAll();
    }

    /** That the recorded results are true. */
    @Test
    void redis_returnsWhatIsRecorded() throws Exception {
        List<Recorded> recorded = recorded();
        byte[][] scripts = recorded.stream().map(each -> each.script.getBytes(StandardCharsets.ISO_8859_1))
                .toArray(byte[][]::new);
        try (RedisOracle redis = RedisOracle.start()) {
            List<?> results = (List<?>) redis.eval(Scripts.SHOW, scripts);
            assertThat(results).isNotNull().hasSameSizeAs(recorded);
            for (int i = 0; i < scripts.length; i++) {
                String result = new String((byte[]) results.get(i), StandardCharsets.ISO_8859_1);
                assertThat(escape(result)).as(recorded.get(i).script).isEqualTo(recorded.get(i).result);
            }
        }
    }

    @Test
    void randomScripts_returnWhatRedisReturns() throws Exception {
        Random random = new Random(TestBudget.seed("varve.lua.seed"));
        int rounds = TestBudget.ofInt("varve.lua.scripts", 100, 20_000);
        LibraryScripts generator = new LibraryScripts(random);
        Scripts scripts = new Scripts();
        try (RedisOracle redis = RedisOracle.start()) {
            for (int round = 0; round < rounds; round++) {
                byte[][] batch = new byte[BATCH][];
                for (int i = 0; i < BATCH; i++) {
                    batch[i] = generator.script().getBytes(StandardCharsets.ISO_8859_1);
                }
                List<?> expected = (List<?>) redis.eval(Scripts.SHOW, batch);
                for (int i = 0; i < BATCH; i++) {
                    String script = new String(batch[i], StandardCharsets.ISO_8859_1);
                    String wanted = new String((byte[]) expected.get(i), StandardCharsets.ISO_8859_1);
                    assertThat(escape(scripts.run(script))).as(script).isEqualTo(escape(wanted));
                }
            }
        }
    }

    private static List<Recorded> recorded() throws IOException {
        List<Recorded> recorded = new ArrayList<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(RecordedScriptsTest.class.getResourceAsStream("library-scripts.txt")),
                StandardCharsets.ISO_8859_1))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                int tab = line.indexOf('\t');
                if (tab > 0) {
                    recorded.add(new Recorded(line.substring(0, tab), line.substring(tab + 1)));
                }
            }
        }
        return recorded;
    }

    private static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= ' ' && c <= '~' && c != '\\') {
                escaped.append(c);
            } else {
                escaped.append(String.format("\\x%02x", (int) c));
            }
        }
        return escaped.toString();
    }
}
