package io.varve.server.command.server;

import java.nio.charset.StandardCharsets;

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

    /** Tools read the version behind the last words. */
    @Test
    void lolwut_drawsAndEndsWithTheVersion() {
        String drawn = text("LOLWUT");
        assertThat(drawn).startsWith("$").contains("░", "█").endsWith(" Redis ver. 7.4.1\n\r\n");
        assertThat(drawn.lines().filter(line -> line.matches("[░▒▓█]{66}"))).hasSize(16);
        assertThat(text("LOLWUT VERSION 5 40 8").lines().filter(line -> line.matches("[░▒▓█]{40}"))).hasSize(8);
        assertThat(text("lolwut version 6 -5 100000").lines().filter(line -> line.matches("[░▒▓█]"))).hasSize(200);
        assertThat(server.run("LOLWUT VERSION")).endsWith(" Redis ver. 7.4.1\n\r\n");
        server.run("HELLO 3");
        assertThat(text("LOLWUT")).startsWith("=").contains("txt:");
        String notAnInteger = "-ERR value is not an integer or out of range\r\n";
        assertThat(server.run("LOLWUT VERSION x")).isEqualTo(notAnInteger);
        assertThat(server.run("LOLWUT VERSION 5 x")).isEqualTo(notAnInteger);
        assertThat(server.run("LOLWUT 10 y")).isEqualTo(notAnInteger);
    }

    private String text(String command) {
        return new String(server.run(command).getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
