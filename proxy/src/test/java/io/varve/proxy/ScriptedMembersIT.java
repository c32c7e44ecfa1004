package io.varve.proxy;

import java.io.IOException;
import java.util.List;

import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.testing.ScriptedMember;
import io.varve.proxy.testing.TestProxy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the proxy over members that answer as a test chooses. Confined to the test's thread and the members'. */
class ScriptedMembersIT {
    @Test
    void aSubscriptionThatAllMembersRefuse_hasOneReply() throws IOException {
        String error = "-NOPERM " + "x".repeat(200_000) + "\r\n";
        ScriptedMember.Script script = request -> switch (request) {
            case "PSUBSCRIBE news.*" -> error;
            case "PUNSUBSCRIBE news.*" -> "*3\r\n$12\r\npunsubscribe\r\n$6\r\nnews.*\r\n:0\r\n";
            default -> null;
        };
        try (ScriptedMember first = new ScriptedMember(script);
                ScriptedMember second = new ScriptedMember(script);
                TestProxy proxy = TestProxy.at(first.address() + "," + second.address(), List.of(), "--member-kind",
                        "plain", "--client-output-buffer-limit", "1mb");
                BlockingConnection client = proxy.connect()) {
            for (int i = 0; i < 30; i++) {
                assertThat(client.call("PSUBSCRIBE", "news.*").text()).startsWith("NOPERM");
                assertThat(client.call("SET", "key", "value").text()).isEqualTo("OK");
            }
            assertThat(proxy.info("slow_clients_disconnected")).isZero();
        }
    }
}
