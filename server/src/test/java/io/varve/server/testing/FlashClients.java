package io.varve.server.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** A server over flash, and clients of it. Confined to the test's thread. */
public abstract class FlashClients {
    @TempDir
    Path directory;

    private final List<RawClient> clients = new ArrayList<>();
    public ServerOverFlash server;
    public RawClient client;
    public RawClient other;

    @BeforeEach
    void start() throws IOException {
        server = new ServerOverFlash(directory);
        client = connect();
        other = connect();
    }

    public RawClient connect() throws IOException {
        RawClient one = server.connect();
        clients.add(one);
        return one;
    }

    @AfterEach
    void stop() throws IOException {
        for (RawClient one : clients) {
            one.close();
        }
        server.close();
    }

    public static void expect(RawClient of, String words, String expected) throws IOException {
        assertThat(of.call(words.split(" ")).text()).as(words).isEqualTo(expected);
    }
}
