package io.varve.server.clients;

import io.varve.server.testing.RedisTools;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The rule for missing tools. Confined to the test's thread. */
class RedisToolsTest {
    @Test
    void aMissingToolIsAFailureWhereToolsAreRequired() {
        assertThatThrownBy(() -> RedisTools.require("redis-cli"::equals, true)).isInstanceOf(AssertionError.class)
                .hasMessageContaining("VARVE_REQUIRE_REDIS_TOOLS=1, but not on the PATH: redis-benchmark; install");
        assertThatCode(() -> RedisTools.require(_ -> true, true)).doesNotThrowAnyException();
    }

    @Test
    void aMissingToolSkipsTestsOutsideTheGate() {
        assertThatThrownBy(() -> RedisTools.require(_ -> false, false)).isInstanceOf(TestAbortedException.class)
                .hasMessageContaining("redis-cli, redis-benchmark");
        assertThatCode(() -> RedisTools.require(_ -> true, false)).doesNotThrowAnyException();
    }
}
