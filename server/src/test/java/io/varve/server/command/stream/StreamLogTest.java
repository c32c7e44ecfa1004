package io.varve.server.command.stream;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log has generated IDs and the effect of approximate trims, so that blocks of another size give the same stream.
 * Confined to the test's thread.
 */
class StreamLogTest {
    private static final int ENTRIES = 100;

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private VarveServer start(int blockEntries) throws IOException {
        return VarveServer.start(ServerExtension.config("maxmemory 64mb", "dir " + directory, "appendonly yes",
                "stream-node-max-entries " + blockEntries));
    }

    @Test
    void streamsAreTheSameAfterARestart() throws IOException {
        List<String> before;
        try (VarveServer server = start(7); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < ENTRIES; i++) {
                client.command("XADD", "s", "*", "f", "v" + i);
                client.command("XADD", "t", "MAXLEN", "~", "20", "5-*", "f", "v" + i);
                client.command("XADD", "u", "NOMKSTREAM", "MINID", "~", i / 2 + "-0", i + "-0", "f", "v" + i);
                client.command("XADD", "u", "MAXLEN", "=", "50", ENTRIES + i + "-0", "f", "v" + i);
            }
            client.command("XTRIM", "s", "MAXLEN", "~", "45");
            client.command("XDEL", "t", "5-90", "5-91");
            client.command("XSETID", "u", "1000-0", "ENTRIESADDED", "5000");
            before = contents(client);
        }
        assertThat(log()).contains("XADD\r\n$1\r\nt\r\n$6\r\nMAXLEN\r\n$1\r\n=\r\n$2\r\n")
                .contains("XTRIM\r\n$1\r\ns\r\n$6\r\nMAXLEN\r\n$1\r\n=\r\n").doesNotContain("\r\n~\r\n")
                .doesNotContain("\r\n*\r\n").doesNotContain("\r\n5-*\r\n");
        try (VarveServer server = start(ENTRIES); RawClient client = new RawClient(server.port())) {
            assertThat(contents(client)).isEqualTo(before);
        }
    }

    @Test
    void aStreamThatAnApproximateTrimHasEmptied_isEmptyAfterARestart() throws IOException {
        try (VarveServer server = start(7); RawClient client = new RawClient(server.port())) {
            for (int i = 1; i <= ENTRIES; i++) {
                client.command("XADD", "s", i + "-0", "f", "v" + i);
                client.command("XADD", "t", i + "-0", "f", "v" + i);
            }
            assertThat(client.call("XTRIM", "s", "MINID", "~", "5000", "LIMIT", "0").integer()).isEqualTo(ENTRIES);
            assertThat(client.call("XTRIM", "t", "MAXLEN", "~", "0", "LIMIT", "0").integer()).isEqualTo(ENTRIES);
        }
        try (VarveServer server = start(ENTRIES); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("XLEN", "s").integer()).isZero();
            assertThat(client.call("XLEN", "t").integer()).isZero();
        }
    }

    /** Entries, and of one stream the IDs and counts, which follow the sizes of the radix tree. */
    private static List<String> contents(RawClient client) throws IOException {
        return List.of(client.call("XRANGE", "s", "-", "+").toString(), client.call("XRANGE", "t", "-", "+").toString(),
                client.call("XRANGE", "u", "-", "+").toString(),
                client.call("XINFO", "STREAM", "u").elements().subList(6, 14).toString());
    }

    private String log() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                all.append(Files.readString(file, ISO_8859_1));
            }
        }
        return all.toString();
    }
}
