package io.varve.lua;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.lua.oracle.RedisOracle;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Scripts about the language itself, whose outcomes were recorded from Redis 7.0.15. Confined to the test's thread.
 * {@link RecordedScripts} says how the file looks.
 */
class RecordedScriptsTest {
    private final List<RecordedScripts.Script> scripts = RecordedScripts.read("core.txt");

    @Test
    void scripts_haveTheRecordedOutcome() {
        ScriptRunner runner = new ScriptRunner();
        SoftAssertions all = new SoftAssertions();
        for (RecordedScripts.Script script : scripts) {
            all.assertThat(runner.render(script.source())).as(script.source()).isEqualTo(script.outcome());
        }
        all.assertAll();
    }

    /** That the recorded outcomes are true. */
    @Test
    void redis_hasTheRecordedOutcome() throws Exception {
        assertThat(scripts).hasSizeGreaterThan(300);
        try (RedisOracle redis = RedisOracle.start()) {
            for (RecordedScripts.Script script : scripts) {
                Object reply = redis.eval(ScriptRunner.WRAPPER, ScriptRunner.latin1(script.source()));
                assertThat(new String((byte[]) reply, StandardCharsets.ISO_8859_1)).as(script.source())
                        .isEqualTo(script.outcome());
            }
        }
    }
}
