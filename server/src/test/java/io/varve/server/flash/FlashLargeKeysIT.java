package io.varve.server.flash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests scans over both tiers with long keys, in a server process with a small heap. Confined to the test's thread. */
class FlashLargeKeysIT {
    private static final int MB = 1 << 20;
    private static final int LONG = 120 * MB;
    /** The longest that falls. */
    private static final int FALLING = 16 << 10;
    private static final int KEYS = 3000;
    private static final String HEAP = "OOM the heap budget for arguments and keys of requests is used up: send fewer of them"
            + " in one request";

    @TempDir
    Path directory;

    private ServerProcess start(String maxMemory) throws IOException {
        return ServerProcess.start("--maxmemory", maxMemory, "--maxmemory-policy", "allkeys-lru", "--shards", "4",
                "--flash-dir", directory.toString(), "--flash-max-items", "100000");
    }

    private static RawClient setLong(RawClient client) throws IOException {
        client.send("*3\r\n$3\r\nSET\r\n$" + LONG + "\r\n");
        byte[] piece = new byte[MB];
        Arrays.fill(piece, (byte) 'k');
        for (int left = LONG; left > 0; left -= MB) {
            client.send(piece);
        }
        return client.send("\r\n$1\r\nv\r\n");
    }

    private static void readLong(RawClient client) throws IOException {
        String head = "$" + LONG + "\r\n";
        assertThat(client.read(head.length())).isEqualTo(head);
        for (int left = LONG; left > 0; left -= MB) {
            assertThat(new String(client.readBytes(MB), StandardCharsets.ISO_8859_1)).matches("k+");
        }
        assertThat(client.read(2)).isEqualTo("\r\n");
    }

    /** It is replied from memory: the heap has no room for a copy. */
    @Test
    void aKeyThatIsTooLongForFlashIsMetAllTheSame() throws IOException {
        try (ServerProcess server = start("512mb"); RawClient client = new RawClient(server.port())) {
            assertThat(setLong(client).reply()).isEqualTo("+OK\r\n");
            client.queue("RANDOMKEY");
            client.flush();
            readLong(client);
            client.queue("KEYS", "k*");
            client.flush();
            assertThat(client.read(4)).isEqualTo("*1\r\n");
            readLong(client);
            client.queue("SCAN", "0", "COUNT", "1000");
            client.flush();
            assertThat(client.read(4)).isEqualTo("*2\r\n");
            assertThat(client.reply()).as("cursor").startsWith("$");
            assertThat(client.read(4)).isEqualTo("*1\r\n");
            readLong(client);
            assertThat(client.call("SET", "other", "v").text()).isEqualTo("OK");
            assertThat(client.call("KEYS", "o*").elements()).extracting(RawReply::text).containsExactly("other");
            assertThat(client.call("DBSIZE").integer()).isEqualTo(2);
        }
    }

    /** All of them together are several times what the heap could hold, and what a call answers is bounded. */
    @Test
    void longKeysOfBothTiersAreGatheredInParts() throws IOException {
        try (ServerProcess server = start("16mb"); RawClient client = new RawClient(server.port())) {
            String tail = "x".repeat(FALLING - 10);
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.call("SET", i + ":" + tail, "v").text()).isEqualTo("OK");
            }
            Set<String> met = new HashSet<>();
            String cursor = "0";
            do {
                RawReply page = client.call("SCAN", cursor, "COUNT", "100000");
                cursor = page.elements().getFirst().text();
                assertThat(page.elements().getLast().elements()).hasSizeLessThan(KEYS / 4);
                page.elements().getLast().elements()
                        .forEach(key -> met.add(key.text().substring(0, key.text().indexOf(':'))));
            } while (!cursor.equals("0"));
            assertThat(met).hasSizeGreaterThan(2000);
            // Replies take room of memory's, so what falls meanwhile may find none on flash. What is there still was
            // there all the time.
            for (int i = 0; i < KEYS; i++) {
                if (!met.contains(Integer.toString(i))) {
                    assertThat(client.call("EXISTS", i + ":" + tail).integer()).as("key %s was not met", i).isZero();
                }
            }
            assertThat(client.call("KEYS", "*").text()).isEqualTo(HEAP);
            assertThat(client.call("KEYS", "7:*").elements()).hasSizeBetween(0, 1);
            assertThat(client.call("RANDOMKEY").text()).hasSizeGreaterThan(FALLING - 10);
        }
    }
}
