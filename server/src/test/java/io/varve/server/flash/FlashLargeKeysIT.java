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
    private static final byte[] PIECE = "k".repeat(MB).getBytes(StandardCharsets.US_ASCII);
    private static final int LONG = 120 * MB;
    /** The longest key that is demoted. */
    private static final int FALLING = 16 << 10;
    private static final int KEYS = 3000;
    private static final int PIPELINE = 50;
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
        for (int left = LONG; left > 0; left -= MB) {
            client.send(PIECE);
        }
        return client.send("\r\n$1\r\nv\r\n");
    }

    private static void readLong(RawClient client) throws IOException {
        String head = "$" + LONG + "\r\n";
        assertThat(client.read(head.length())).isEqualTo(head);
        for (int left = LONG; left > 0; left -= MB) {
            assertThat(Arrays.equals(client.readBytes(MB), PIECE)).isTrue();
        }
        assertThat(client.read(2)).isEqualTo("\r\n");
    }

    /** The reply comes from memory: the heap has no space for a copy. */
    @Test
    void aKeyTooLongForFlashIsVisited() throws IOException {
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

    /** All keys together are several times as large as the heap, and one reply of SCAN is bounded. */
    @Test
    void longKeysOfBothTiersAreGatheredInParts() throws IOException {
        try (ServerProcess server = start("16mb"); RawClient client = new RawClient(server.port())) {
            String tail = "x".repeat(FALLING - 10);
            for (int i = 0; i < KEYS; i += PIPELINE) {
                for (int j = i; j < i + PIPELINE; j++) {
                    client.queue("SET", j + ":" + tail, "v");
                }
                client.flush();
                for (int j = 0; j < PIPELINE; j++) {
                    assertThat(client.reply()).isEqualTo("+OK\r\n");
                }
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
            assertThat(met).hasSizeGreaterThan(KEYS * 2 / 3);
            // Replies use memory, so an item demoted meanwhile may find no space on flash. A key that is still there
            // was there throughout.
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
