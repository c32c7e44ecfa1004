package io.varve.server.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RedisTools;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs redis-cli's tools for clusters against three members. Confined to the test's thread. */
class ClusterToolsIT {
    private static final int KEYS = 300;

    @TempDir
    Path folder;

    @BeforeEach
    void installed() {
        RedisTools.require();
    }

    private static String cli(String input, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("redis-cli"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            return output;
        } finally {
            process.destroyForcibly();
        }
    }

    private static String tool(Members members, String verb, String... options)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("--cluster", verb, Members.HOST + ":" + members.port(0)));
        arguments.addAll(List.of(options));
        return cli("", arguments.toArray(String[]::new));
    }

    private static void fill(Members members) throws IOException, InterruptedException {
        StringBuilder commands = new StringBuilder();
        for (int i = 0; i < KEYS; i++) {
            commands.append("SET key").append(i).append(" value").append(i).append('\n');
        }
        commands.append("RPUSH {b}list a b c\nEXPIRE {b}list 1000\n");
        assertThat(cli(commands.toString(), "-c", "-p", Integer.toString(members.port(2)))).doesNotContain("ERR")
                .contains("Redirected to slot");
    }

    private static void assertComplete(Members members) throws IOException, InterruptedException {
        StringBuilder commands = new StringBuilder();
        for (int i = 0; i < KEYS; i++) {
            commands.append("GET key").append(i).append('\n');
        }
        List<String> values = cli(commands.toString(), "-c", "-p", Integer.toString(members.port(1))).lines()
                .filter(line -> line.startsWith("value")).toList();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            expected.add("value" + i);
        }
        assertThat(values).isEqualTo(expected);
        long keys = 0;
        for (int i = 0; i < members.count(); i++) {
            keys += members.call(i, "DBSIZE").integer();
        }
        assertThat(keys).isEqualTo(KEYS + 1);
    }

    @Test
    void slotsMoveWithTheirKeys() throws IOException, InterruptedException {
        try (Members members = Members.ofVarve(folder, 3, 0)) {
            fill(members);
            assertThat(tool(members, "check")).contains("[OK] All nodes agree about slots configuration.",
                    "[OK] All 16384 slots covered.", "[OK] " + (KEYS + 1) + " keys in 3 masters.");
            String moved = tool(members, "reshard", "--cluster-from", members.id(0), "--cluster-to", members.id(1),
                    "--cluster-slots", "500", "--cluster-yes");
            assertThat(moved).doesNotContain("ERR", "Error");
            assertThat(tool(members, "check")).contains("[OK] All nodes agree about slots configuration.",
                    "[OK] All 16384 slots covered.", "(4961 slots)", "(5961 slots)");
            assertComplete(members);
            assertThat(tool(members, "rebalance")).contains("Rebalancing across 3 nodes");
            assertThat(tool(members, "check")).contains("[OK] All nodes agree about slots configuration.",
                    "[OK] All 16384 slots covered.").doesNotContain("(4961 slots)");
            assertComplete(members);
        }
    }

    /** Two members have keys of a slot that is half moved. */
    @Test
    void fixEndsAHalfDoneMove() throws IOException, InterruptedException {
        try (Members members = Members.ofVarve(folder, 3, 0);
                RawClient from = new RawClient(members.port(0));
                RawClient to = new RawClient(members.port(2))) {
            fill(members);
            from.call("SET", "{b}1", "x");
            assertThat(to.call(members.resolve("CLUSTER SETSLOT 3300 IMPORTING ID0")).text()).isEqualTo("OK");
            assertThat(from.call(members.resolve("CLUSTER SETSLOT 3300 MIGRATING ID2")).text()).isEqualTo("OK");
            assertThat(from.call(members.resolve("MIGRATE 127.0.0.1 PORT2 {b}list 0 5000")).text()).isEqualTo("OK");
            assertThat(tool(members, "check")).contains("The following slots are open: 3300.");
            tool(members, "fix");
            assertThat(tool(members, "check")).contains("[OK] All 16384 slots covered.").doesNotContain("are open");
            assertThat(from.call("DEL", "{b}1").isError() && to.call("DEL", "{b}1").isError()).isFalse();
            assertComplete(members);
        }
    }
}
