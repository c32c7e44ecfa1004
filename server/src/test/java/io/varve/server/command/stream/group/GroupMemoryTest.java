package io.varve.server.command.stream.group;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests deliveries and claims in a full cache that evicts nothing. Confined to the test's thread. */
class GroupMemoryTest {
    private static final String MARK = "payload";
    private static final int GROUPS = 400;

    private final CommandHarness server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "16mb")
            .with("shards", "2"));

    @AfterEach
    void close() {
        server.close();
    }

    private static int delivered(String reply) {
        return (reply.length() - reply.replace(MARK, "").length()) / MARK.length();
    }

    private long pending(String stream, String group) {
        String reply = server.run("XPENDING", stream, group);
        return Long.parseLong(reply.substring(reply.indexOf(':') + 1, reply.indexOf("\r\n", 4)));
    }

    private void fill() {
        int fillers = 0;
        while (!server.run("SET", "filler" + fillers, "v".repeat(2000)).startsWith("-OOM")) {
            fillers++;
        }
        while (!server.run("APPEND", "small" + fillers, "v".repeat(100)).startsWith("-OOM")) {
            fillers++;
        }
    }

    @Test
    void anEntryIsDeliveredAndPending_orNeither() {
        for (int i = 1; i <= 3000; i++) {
            server.run("XADD", i % 2 == 0 ? "s" : "t", i + "-1", "f", MARK);
        }
        for (int i = 0; i < GROUPS; i++) {
            server.run("XGROUP", "CREATE", "s", "g" + i, "0");
            server.run("XGROUP", "CREATE", "t", "g" + i, "0");
        }
        fill();
        long refused = 0;
        long partial = 0;
        for (int i = 0; i < GROUPS; i++) {
            String group = "g" + i;
            long fromS = 0;
            long fromT = 0;
            for (int j = 0; j < 3; j++) {
                String one = server.run("XREADGROUP", "GROUP", group, "c" + j, "COUNT", "200", "STREAMS", "s", ">");
                refused += one.startsWith("-OOM") ? 1 : 0;
                fromS += delivered(one);
                String both = server.run("XREADGROUP", "GROUP", group, "c" + j, "COUNT", "300", "STREAMS", "t", "s",
                        ">", ">");
                refused += both.startsWith("-OOM") ? 1 : 0;
                if (both.startsWith("*2")) {
                    String second = both.substring(both.indexOf("$1\r\ns\r\n"));
                    partial += second.endsWith("*0\r\n") ? 1 : 0;
                    fromS += delivered(second);
                    fromT += delivered(both) - delivered(second);
                }
            }
            assertThat(pending("s", group)).as(group).isEqualTo(fromS);
            assertThat(pending("t", group)).as(group).isEqualTo(fromT);
        }
        assertThat(refused).as("refused of all").isPositive();
        assertThat(partial).as("only the first stream").isNotNegative();
    }

    @Test
    void claimsAreAllOrNothing() {
        for (int i = 1; i <= 2000; i++) {
            server.run("XADD", "s", i + "-1", "f", MARK);
        }
        for (int i = 0; i < GROUPS; i++) {
            server.run("XGROUP", "CREATE", "s", "g" + i, "0");
        }
        fill();
        long refused = 0;
        for (int i = 0; i < GROUPS; i++) {
            String[] words = new String[300];
            words[0] = "XCLAIM";
            words[1] = "s";
            words[2] = "g" + i;
            words[3] = "consumer";
            words[4] = "0";
            for (int j = 5; j < words.length - 1; j++) {
                words[j] = (j + 1) + "-1";
            }
            words[words.length - 1] = "FORCE";
            String reply = server.run(words);
            refused += reply.startsWith("-OOM") ? 1 : 0;
            long claimed = delivered(reply);
            assertThat(claimed).isIn(0L, words.length - 6L);
            assertThat(pending("s", "g" + i)).isEqualTo(claimed);
            String consumers = server.run("XINFO", "CONSUMERS", "s", "g" + i);
            assertThat(consumers).startsWith(claimed == 0 ? "*0" : "*1");
        }
        assertThat(refused).isPositive();
        assertThat(server.run("XGROUP", "DESTROY", "s", "g0")).isEqualTo(":1\r\n");
    }
}
