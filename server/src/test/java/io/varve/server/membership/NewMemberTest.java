package io.varve.server.membership;

import java.io.IOException;
import java.nio.file.Path;

import io.varve.server.VarveServer;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests servers that shall become members for the first time. Confined to the test's thread. */
class NewMemberTest {
    @TempDir
    Path folder;

    private ServerConfig config(String... settings) {
        return ServerExtension.config(settings).with("dir", folder.toString());
    }

    private ServerConfig memberConfig() {
        return config("cluster-enabled yes", "cluster-controllers 127.0.0.1:1", "shutdown-timeout 0");
    }

    @Test
    void serverWithKeys_isRefused_andKeepsThem() throws IOException {
        try (VarveServer server = VarveServer.start(config()); RawClient client = new RawClient(server.port())) {
            client.command("SET", "key", "value");
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            assertThatThrownBy(() -> VarveServer.start(memberConfig()).close()).isInstanceOf(ConfigException.class)
                    .hasMessageContaining("has 1 keys of a server outside the cluster");
        }
        try (VarveServer server = VarveServer.start(config()); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("GET", "key").text()).isEqualTo("value");
        }
    }

    @Test
    void serverWithoutKeys_waitsForControllers() throws IOException {
        try (VarveServer server = VarveServer.start(memberConfig()); RawClient client = new RawClient(server.port())) {
            assertThat(client.command("GET", "key")).startsWith("-CLUSTERDOWN");
        }
    }
}
