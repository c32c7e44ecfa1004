package io.varve.server.process;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the listening addresses. Confined to the test's thread. */
class BindTest {
    /** Kept for documents: no machine has it. */
    private static final String NOBODYS = "192.0.2.77";

    private static VarveServer start(String bind) throws IOException {
        ServerConfig config = ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb").with("bind", bind);
        return VarveServer.start(config, StubCache.create(config.cacheConfig()));
    }

    @Test
    void severalAddressesAreListenedOnAndSomeMayBeMissing() throws IOException {
        // Linux has all of 127.0.0.0/8, others the first of them.
        boolean linux = System.getProperty("os.name").equals("Linux");
        String second = linux ? "127.0.0.2" : "-127.0.0.2";
        try (VarveServer server = start("127.0.0.1 " + second + " -" + NOBODYS)) {
            for (String address : linux ? List.of("127.0.0.1", "127.0.0.2") : List.of("127.0.0.1")) {
                try (Socket socket = new Socket(address, server.port())) {
                    socket.getOutputStream().write("QUIT\r\n".getBytes(StandardCharsets.US_ASCII));
                    assertThat(socket.getInputStream().readAllBytes()).asString().isEqualTo("+OK\r\n");
                }
            }
        }
    }

    @Test
    void anAddressThatHasToBeThereAndIsNotEndsTheStart() {
        assertThatThrownBy(() -> start("127.0.0.1 " + NOBODYS)).isInstanceOf(IOException.class)
                .hasMessageStartingWith("Could not listen on " + NOBODYS);
        assertThatThrownBy(() -> start("-" + NOBODYS)).isInstanceOf(IOException.class)
                .hasMessageStartingWith("Could not listen on any of -" + NOBODYS);
    }
}
