package io.varve.server.command.server;

import io.varve.server.command.CommandHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands on a server without persistence. Confined to the test's thread. */
class ServerCommandsTest {
    private final CommandHarness server = new CommandHarness();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void backgroundSaveKnowsOneOption() {
        assertThat(server.run("BGSAVE foo")).isEqualTo("-ERR syntax error\r\n");
        assertThat(server.run("BGSAVE SCHEDULE SCHEDULE")).isEqualTo("-ERR syntax error\r\n");
        assertThat(server.run("SAVE foo")).isEqualTo("-ERR wrong number of arguments for 'save' command\r\n");
    }

    @Test
    void functionFlushKnowsOneOption() {
        assertThat(server.run("FUNCTION FLUSH") + server.run("FUNCTION FLUSH async")).isEqualTo("+OK\r\n+OK\r\n");
        assertThat(server.run("FUNCTION FLUSH foo"))
                .isEqualTo("-ERR FUNCTION FLUSH only supports SYNC|ASYNC option\r\n");
        assertThat(server.run("FUNCTION Flush SYNC x")).isEqualTo(
                "-ERR unknown subcommand or wrong number of arguments for 'Flush'. Try FUNCTION HELP.\r\n");
    }
}
