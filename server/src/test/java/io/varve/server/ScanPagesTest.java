package io.varve.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.ServerOverFlash;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the size of SCAN's pages: a page ends when it has COUNT keys or all remaining ones, over any number of shards.
 * Confined to the test's thread.
 */
class ScanPagesTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int DEFAULT_COUNT = 10;

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 64, 1024})
    void scan_keysInManyShards_fillsPages(int shards) throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "shards " + shards);
        try (VarveServer varve = servers.start(config); RawClient client = new RawClient(varve.port())) {
            for (int keys : new int[] {0, 1, 3, 9, 10, 20, 35, 200}) {
                for (int database : new int[] {0, 3}) {
                    client.call("SELECT", Integer.toString(database));
                    client.call("FLUSHALL");
                    write(client, keys);
                    assertThatPagesAreFull(client, keys, DEFAULT_COUNT, "SCAN", "%s");
                    assertThatPagesAreFull(client, keys, 7, "SCAN", "%s", "COUNT", "7");
                    assertThatPagesAreFull(client, keys, 1000, "SCAN", "%s", "COUNT", "1000");
                }
            }
        }
    }

    @Test
    void scan_overFlash_fillsPages(@TempDir Path directory) throws IOException {
        try (ServerOverFlash varve = new ServerOverFlash(directory); RawClient client = varve.connect()) {
            for (int keys : new int[] {0, 3, 10, 60}) {
                client.call("FLUSHALL");
                write(client, keys);
                for (int onFlash = 0; onFlash <= keys; onFlash += Math.max(1, keys / 2)) {
                    varve.drop(IntStream.range(0, onFlash).mapToObj(i -> "key" + i).toArray(String[]::new));
                    Set<String> met = new HashSet<>();
                    List<Integer> pages = pages(client, met, "SCAN", "%s");
                    assertThat(met).hasSize(keys);
                    assertThat(pages.subList(0, pages.size() - 1)).allMatch(page -> page >= DEFAULT_COUNT);
                    if (keys <= DEFAULT_COUNT) {
                        assertThat(pages).hasSize(1);
                    }
                }
            }
        }
    }

    @Test
    void scan_withFilters_countsKeysThatItHidesAsRedisDoes() throws Exception {
        try (ReferenceRedis redis = ReferenceRedis.start();
                VarveServer varve = servers.start("maxmemory 64mb", "shards 16")) {
            for (String[] scan : new String[][] {{"SCAN", "0"}, {"SCAN", "0", "MATCH", "key2"},
                    {"SCAN", "0", "MATCH", "none*"}, {"SCAN", "0", "TYPE", "hash"}, {"SCAN", "0", "TYPE", "string"},
                    {"SCAN", "0", "TYPE", "nosuchtype"}}) {
                List<RawReply> answers = new ArrayList<>();
                for (int port : new int[] {redis.port(), varve.port()}) {
                    try (RawClient client = new RawClient(port)) {
                        client.call("FLUSHALL");
                        write(client, 3);
                        answers.add(client.call(scan));
                    }
                }
                RawReply expected = answers.get(0);
                RawReply actual = answers.get(1);
                assertThat(actual.elements().get(0)).as(String.join(" ", scan)).isEqualTo(expected.elements().get(0));
                assertThat(actual.elements().get(1).elements()).as(String.join(" ", scan))
                        .containsExactlyInAnyOrderElementsOf(expected.elements().get(1).elements());
            }
        }
    }

    @Test
    void scan_ofManyKeysThatDoNotMatch_answersEmptyPages() throws IOException {
        try (VarveServer varve = servers.start("maxmemory 64mb", "shards 4");
                RawClient client = new RawClient(varve.port())) {
            write(client, 5000);
            Set<String> met = new HashSet<>();
            List<Integer> pages = pages(client, met, "SCAN", "%s", "MATCH", "key4999");
            assertThat(met).containsExactly("key4999");
            assertThat(pages).as("a page ends after COUNT keys, whether they match or not").hasSizeGreaterThan(100)
                    .contains(0);
        }
    }

    private static void write(RawClient client, int keys) throws IOException {
        for (int i = 0; i < keys; i++) {
            client.queue("SET", "key" + i, "v");
        }
        client.flush();
        for (int i = 0; i < keys; i++) {
            assertThat(client.read().text()).isEqualTo("OK");
        }
    }

    private static void assertThatPagesAreFull(RawClient client, int keys, int count, String... scan)
            throws IOException {
        Set<String> met = new HashSet<>();
        List<Integer> pages = pages(client, met, scan);
        assertThat(met).hasSize(keys);
        assertThat(pages.stream().mapToInt(page -> page).sum()).as("each key is met once").isEqualTo(keys);
        assertThat(pages.subList(0, pages.size() - 1)).as("%s keys, COUNT %s", keys, count)
                .allMatch(page -> page >= count);
        assertThat(keys == 0 || pages.getLast() > 0).as("the last page has keys").isTrue();
    }

    /** @return how many keys each page had */
    private static List<Integer> pages(RawClient client, Set<String> met, String... scan) throws IOException {
        List<Integer> pages = new ArrayList<>();
        String cursor = "0";
        do {
            String[] words = scan.clone();
            words[1] = cursor;
            List<RawReply> reply = client.call(words).elements();
            cursor = reply.get(0).text();
            reply.get(1).elements().forEach(key -> met.add(key.text()));
            pages.add(reply.get(1).elements().size());
        } while (!cursor.equals("0"));
        return pages;
    }
}
