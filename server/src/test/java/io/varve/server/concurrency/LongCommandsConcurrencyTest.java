package io.varve.server.concurrency;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs a long command on one event loop, while clients of another use keys of its shard. Confined to the test's thread.
 *
 * <p>The values that they read show that they got replies meanwhile: the command is between two that write.
 */
@Timeout(60)
class LongCommandsConcurrencyTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int MAX_ROUNDS = 20;
    /** More than could come between two commands of one batch, were the shard locked for all of the second. */
    private static final int ANSWERS_MEANWHILE = 20;

    private static VarveServer server() throws IOException {
        return servers.start("maxmemory 64mb", "io-threads 2", "shards 1");
    }

    /** Two short strings, and a large one, which lies in a run of its own. */
    @ParameterizedTest
    @CsvSource({"11000, 11000", "130000, 950", "950, 130000"})
    void lcsReleasesItsShardWhileItRuns(int first, int second) throws Exception {
        try (VarveServer server = server();
                RawClient slow = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            // A change may arrive between the SET and the LCS: then the LCS compares the changed strings, and the round
            // shows nothing.
            long common = 0;
            for (int round = 0; common == 0 && round < MAX_ROUNDS; round++) {
                common = changedDuringLcs(first, second, slow, other);
            }
            assertThat(common).isEqualTo(Math.min(first, second) - (first == second ? 1 : 0));
        }
    }

    /** Runs LCS in one client while another changes both strings. @return what LCS replied */
    private static long changedDuringLcs(int first, int second, RawClient slow, RawClient other) throws IOException {
        slow.call("DEL", "begun", "ended");
        slow.call("MSET", "a", "ab".repeat(first / 2), "b", "ba".repeat(second / 2));
        slow.queue("SET", "begun", "1");
        slow.queue("LCS", "a", "b", "LEN");
        slow.queue("SET", "ended", "1");
        slow.flush();
        int meanwhile = 0;
        boolean changed = false;
        while (true) {
            List<RawReply> seen = other.call("MGET", "begun", "ended").elements();
            if (!seen.get(1).isNull()) {
                break;
            }
            if (!seen.get(0).isNull()) {
                meanwhile++;
                if (!changed) {
                    // The keys that it works on stay unchanged.
                    assertThat(other.call("SETRANGE", "a", "0", "x".repeat(first)).integer()).isEqualTo(first);
                    assertThat(other.call("DEL", "b").integer()).isOne();
                    changed = true;
                }
            }
        }
        assertThat(slow.read().text()).isEqualTo("OK");
        long common = slow.read().integer();
        assertThat(slow.read().text()).isEqualTo("OK");
        if (common > 0) {
            assertThat(meanwhile).isGreaterThan(ANSWERS_MEANWHILE);
        }
        return common;
    }

    /** No other client sees a part of it. */
    @Test
    void aTransactionKeepsItsShards() throws Exception {
        try (VarveServer server = server();
                RawClient slow = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            slow.call("MSET", "a", "ab".repeat(2000), "b", "ba".repeat(2000));
            for (String[] command : new String[][] {{"MULTI"}, {"SET", "begun", "1"}, {"LCS", "a", "b", "LEN"},
                    {"SET", "ended", "1"}, {"EXEC"}}) {
                slow.queue(command);
            }
            slow.flush();
            List<RawReply> seen;
            do {
                seen = other.call("MGET", "begun", "ended").elements();
                assertThat(seen.get(0).isNull()).isEqualTo(seen.get(1).isNull());
            } while (seen.get(1).isNull());
            for (int i = 0; i < 4; i++) {
                assertThat(slow.read().isError()).isFalse();
            }
            assertThat(slow.read().elements().get(1).integer()).isEqualTo(3999);
        }
    }

    /** On its event loop it delays only commands that need that shard: they run afterwards, in their order. */
    @Test
    void aCommandParksOnALongHeldShard() throws Exception {
        try (VarveServer server = servers.start("maxmemory 64mb", "io-threads 2", "shards 8");
                RawClient slow = new RawClient(server.port());
                RawClient waiting = new RawClient(server.port());
                RawClient beside = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            assertThat(beside.call("PING").text()).isEqualTo("PONG");
            boolean isOvertaken = true;
            while (isOvertaken) {
                isOvertaken = !wantedMeanwhile(slow, waiting, other);
            }
        }
    }

    /** @return false if the other was there before the transaction: then nothing was shown */
    private static boolean wantedMeanwhile(RawClient slow, RawClient waiting, RawClient other) throws Exception {
        slow.call("MSET", "{h}a", "ab".repeat(5500), "{h}b", "ba".repeat(5500));
        slow.call("MULTI");
        slow.call("LCS", "{h}a", "{h}b", "LEN");
        slow.call("LCS", "{h}a", "{h}b", "LEN");
        slow.call("SET", "{h}a", "new");
        slow.queue("EXEC");
        slow.flush();
        CompletableFuture<RawReply> ended = reading(slow);
        waiting.queue("APPEND", "{h}a", "er");
        waiting.queue("GET", "{h}a");
        waiting.queue("MULTI");
        waiting.queue("GET", "{h}a");
        waiting.queue("EXEC");
        waiting.flush();
        int meanwhile = 0;
        while (!ended.isDone()) {
            assertThat(other.call("PING").text()).isEqualTo("PONG");
            meanwhile++;
        }
        long appended = waiting.read().integer();
        RawReply got = waiting.read();
        assertThat(waiting.read().text()).isEqualTo("OK");
        assertThat(waiting.read().text()).isEqualTo("QUEUED");
        RawReply gotByExec = waiting.read().elements().getFirst();
        if (appended > "newer".length()) {
            return false;
        }
        assertThat(meanwhile).isGreaterThan(ANSWERS_MEANWHILE);
        assertThat(ended.get().elements().get(1).integer()).isEqualTo(10999);
        assertThat(appended).isEqualTo("newer".length());
        assertThat(got.text()).isEqualTo("newer");
        assertThat(gotByExec.text()).isEqualTo("newer");
        return true;
    }

    /** A waiting command runs between two long commands that follow each other immediately. */
    @Test
    void aCommandThatWaitsForAShardRunsNext() throws Exception {
        int transactions = 30;
        try (VarveServer server = server();
                RawClient slow = new RawClient(server.port());
                RawClient waiting = new RawClient(server.port())) {
            slow.call("MSET", "a", "ab".repeat(1500), "b", "ba".repeat(1500));
            for (int i = 0; i < transactions; i++) {
                slow.queue("MULTI");
                slow.queue("INCR", "n");
                slow.queue("LCS", "a", "b", "LEN");
                slow.queue("EXEC");
            }
            slow.flush();
            for (int seen = 0; seen == 0;) {
                RawReply n = waiting.call("GET", "n");
                seen = n.isNull() ? 0 : Integer.parseInt(n.text());
                assertThat(seen).isLessThan(transactions);
            }
            for (int i = 0; i < 4 * transactions; i++) {
                assertThat(slow.read().isError()).isFalse();
            }
        }
    }

    private static CompletableFuture<RawReply> reading(RawClient client) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return client.read();
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        });
    }
}
