package io.varve.server.command.set;

import io.varve.server.command.CommandHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Set commands update access recency. Confined to the test's thread. */
class SetAccessTest {
    private final CommandHarness server = new CommandHarness();

    @AfterEach
    void close() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"SADD s 1", "SADD s x", "SREM s 9", "SCARD s", "SISMEMBER s 1", "SMISMEMBER s 1 2",
            "SMEMBERS s", "SRANDMEMBER s", "SPOP s", "SMOVE s t 1", "SMOVE t s 9", "SINTER t s", "SUNIONSTORE d t s",
            "SINTERCARD 1 s", "SSCAN s 0"})
    void useRenewsTheAccessClock(String command) {
        server.run("SADD s 1 2 3");
        server.run("SADD t 1 9");
        server.sleep(30_000);
        assertThat(server.run(command)).as(command).doesNotStartWith("-");
        assertThat(server.run("OBJECT IDLETIME s")).isEqualTo(":0\r\n");
    }
}
