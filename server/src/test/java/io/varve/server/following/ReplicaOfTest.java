package io.varve.server.following;

import java.io.IOException;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The arguments of REPLICAOF. Confined to the test's thread. */
@Timeout(60)
class ReplicaOfTest {
    private static final String OK = "+OK\r\n";

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("maxmemory 64mb", "shards 4");

    private RawClient client;

    @BeforeEach
    void connect() throws IOException {
        client = server.connect();
    }

    /** Redis accepts it, too: its suite makes replicas that way whose primary is down. */
    @Test
    void portZero_isAPrimaryThatIsDown() throws IOException {
        assertThat(client.command("REPLICAOF", "localhost", "0")).isEqualTo(OK);
        assertThat(client.info("master_port")).isEqualTo("0");
        assertThat(client.info("master_link_status")).isEqualTo("down");
        assertThat(client.command("SET", "key", "value")).startsWith("-READONLY");
        assertThat(client.command("REPLICAOF", "NO", "ONE")).isEqualTo(OK);
        assertThat(client.command("SET", "key", "value")).isEqualTo(OK);
    }

    /** CONFIG REWRITE could not write it to a file. */
    @ParameterizedTest
    @ValueSource(strings = {"", "local host", "host\n"})
    void aNameThatIsNoWord_isRefused(String host) throws IOException {
        assertThat(client.command("REPLICAOF", host, "1")).isEqualTo("-ERR Invalid master host\r\n");
        assertThat(client.info("role")).isEqualTo("master");
        assertThat(client.command("SET", "key", "value")).isEqualTo(OK);
    }
}
