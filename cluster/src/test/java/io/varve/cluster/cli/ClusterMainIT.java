package io.varve.cluster.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.varve.cluster.controller.Controller;
import io.varve.cluster.controller.ControllerConfig;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.cluster.testing.FreePorts;
import io.varve.cluster.testing.TestMember;
import io.varve.cluster.testing.TestMembers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The verb {@code cluster} on one controller. Confined to the test's thread. */
@Timeout(60)
final class ClusterMainIT {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private List<ControllerAddress> addresses = List.of();
    private Controller controller;

    @BeforeEach
    void start() throws IOException {
        addresses = FreePorts.controllers(1);
        controller = Controller.start(new ControllerConfig("c1", directory, addresses));
    }

    @AfterEach
    void stop() throws IOException {
        controller.close();
    }

    private int run(String verb, String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        String[] all = new String[arguments.length + 3];
        all[0] = verb;
        all[1] = "--controllers";
        // Users give no IDs of controllers.
        all[2] = addresses.getFirst().address();
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return ClusterMain.execute(new PrintWriter(out, true), new PrintWriter(err, true), all);
    }

    private void succeed(String verb, String... arguments) {
        assertThat(run(verb, arguments)).as(() -> err.toString()).isZero();
        assertThat(err.toString()).isEmpty();
    }

    private void fail(int status, String message, String verb, String... arguments) {
        assertThat(run(verb, arguments)).isEqualTo(status);
        assertThat(err.toString().lines()).singleElement().asString().startsWith("varve: ").contains(message);
    }

    private static String line(List<String> lines, String id) {
        return lines.stream().filter(line -> line.startsWith(id)).findFirst().orElse("");
    }

    @Test
    void cluster_isCreatedChangedAndShown() throws IOException {
        fail(2, "127.0.0.1:7001 has not registered", "create", "--wait", "0", "127.0.0.1:7001");
        try (TestMember first = new TestMember(addresses, TestMembers.primary(1), 5);
                TestMember second = new TestMember(addresses, TestMembers.primary(2), 5);
                TestMember third = new TestMember(addresses, TestMembers.primary(3), 5);
                TestMember fourth = new TestMember(addresses, TestMembers.primary(4), 5)) {
            await().atMost(Duration.ofSeconds(20)).until(() -> first.acceptsWrites() && second.acceptsWrites()
                    && third.acceptsWrites() && fourth.acceptsWrites());
            fail(2, "member 127.0.0.1:7001: expected each member once", "create", "127.0.0.1:7001", "127.0.0.1:7001");
            fail(2, "member 'typo': expected HOST:PORT", "create", "--plain", "127.0.0.1:1", "typo");
            fail(2, "expected none with --plain", "add", "--plain", "--replica-of", "127.0.0.1:7001", "127.0.0.1:1");
            succeed("status");
            assertThat(out.toString()).as("nothing was registered").doesNotContain("127.0.0.1:1 ");
            fail(2, "3 members are no multiple of 2", "create", "--replicas", "1", "127.0.0.1:7001", "127.0.0.1:7002",
                    "127.0.0.1:7003");
            succeed("create", "--replicas", "1", "127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003",
                    "127.0.0.1:7004");
            assertThat(out.toString().lines()).containsExactly("127.0.0.1:7001 has the slots 0-8191",
                    "127.0.0.1:7002 has the slots 8192-16383");
            fail(2, "the cluster has 16384 slots with an owner", "create", "127.0.0.1:7001");
            succeed("add", "--plain", "--weight", "2.5", "127.0.0.1:1");
            fail(1, "a plain server keeps its own replicas", "add", "--replica-of", "127.0.0.1:1", "127.0.0.1:7004");
            fail(1, "has replicas", "remove", "127.0.0.1:7001");
            succeed("remove", "127.0.0.1:7004");
            fail(1, "may have a lease", "remove", "--force", "127.0.0.1:7002");
            await().atMost(Duration.ofSeconds(20)).until(() -> fourth.problems().contains(
                    "the member was removed from the cluster"));
            succeed("status");
            List<String> lines = out.toString().lines().toList();
            assertThat(lines).hasSize(6);
            assertThat(lines.get(0)).startsWith("leader c1, term ").contains("slots 16384 of 16384");
            assertThat(line(lines, first.id())).contains("127.0.0.1:7001", "primary", " 8192 ", " yes ");
            assertThat(line(lines, third.id())).contains("replica", " yes ", first.id());
            assertThat(lines).anySatisfy(line -> assertThat(line).contains("127.0.0.1:1 ", "plain", " 2.5 ", " no "));
        }
    }
}
