package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.memory.Cache;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests MULTI, EXEC and WATCH over sockets: their effects on other clients. The differential test covers their replies.
 */
@Timeout(60)
class TransactionTest {
    private static final int CLIENTS = 4;
    private static final int ACCOUNTS = 16;
    private static final int BALANCE = 1000;

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 2", "maxmemory 64mb", "shards 8");
    private RawClient client;
    private RawClient other;

    @BeforeEach
    void connect() throws IOException {
        client = server.connect();
        other = server.connect();
        assertThat(ask(client, "PING")).isEqualTo("+PONG");
    }

    /** One reply, its line ends turned into blanks. */
    private static String ask(RawClient of, String words) throws IOException {
        return of.command(words.split(" ")).replace("\r\n", " ").strip();
    }

    private void asks(RawClient of, String words, String expected) throws IOException {
        assertThat(ask(of, words)).as(words).isEqualTo(expected);
    }

    /** Also of one that its client has left, in more than one piece of memory. */
    @Test
    void transactionMemoryIsReleasedWhenTheServerCloses() throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "shards 8");
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer closing = server.start(config, cache);
                RawClient committing = new RawClient(closing.port());
                RawClient leaving = new RawClient(closing.port())) {
            asks(committing, "MULTI", "+OK");
            asks(committing, "SET a 1", "+QUEUED");
            asks(committing, "EXEC", "*1 +OK");
            asks(leaving, "MULTI", "+OK");
            asks(leaving, "SET b 1", "+QUEUED");
            asks(leaving, "SET c " + "v".repeat(20_000), "+QUEUED");
        }
        assertThat(cache.stats().chargedBytes()).isZero();
    }

    @Test
    void nothingHappensBeforeExecAndAllOfItThen() throws IOException {
        asks(client, "MULTI", "+OK");
        asks(client, "SET a 1", "+QUEUED");
        asks(client, "INCR a", "+QUEUED");
        asks(client, "XADD", "-ERR unknown command 'XADD', with args beginning with:");
        asks(other, "EXISTS a", ":0");
        asks(client, "EXEC", "-EXECABORT Transaction discarded because of previous errors.");
        asks(client, "MULTI", "+OK");
        asks(client, "SET a 1", "+QUEUED");
        asks(client, "HGET a f", "+QUEUED");
        asks(client, "INCR a", "+QUEUED");
        asks(client, "EXEC", "*3 +OK -WRONGTYPE Operation against a key holding the wrong kind of value :2");
        asks(other, "GET a", "$1 2");
        asks(client, "EXEC", "-ERR EXEC without MULTI");
    }

    @Test
    void changesByOtherClientsFailExec() throws IOException {
        String[] changes = {"SET k 2", "DEL k", "PEXPIRE k 1000000", "APPEND k x", "RENAME k z", "FLUSHDB", "FLUSHALL",
                "SWAPDB 0 1", "EXPIRE k -1", "MOVE k 3", "GETDEL k", "RENAME l k", "COPY l k REPLACE",
                "SET j 1 EXAT 1000"};
        for (String change : changes) {
            ask(client, "FLUSHALL");
            ask(client, "MSET k 1 l 1");
            asks(client, "WATCH j k", "+OK");
            ask(other, change);
            asks(client, "MULTI", "+OK");
            asks(client, "SET done 1", "+QUEUED");
            assertThat(ask(client, "EXEC")).as("after %s", change).isEqualTo("*-1");
            asks(client, "EXISTS done", ":0");
            asks(client, "MULTI", "+OK");
            asks(client, "PING", "+QUEUED");
            asks(client, "EXEC", "*1 +PONG");
        }
    }

    @Test
    void commandsWithoutEffectDoNotFailExec() throws IOException {
        String[] innocent = {"SET other 2", "GET k", "TTL k", "DEL nosuch", "SETNX k 5", "SELECT 4", "SET k 9",
                "FLUSHDB", "PERSIST k", "UNLINK gone"};
        asks(client, "SET k 1", "+OK");
        asks(client, "WATCH k gone", "+OK");
        for (String command : innocent) {
            ask(other, command);
        }
        asks(client, "MULTI", "+OK");
        asks(client, "GET k", "+QUEUED");
        asks(client, "EXEC", "*1 $1 1");
    }

    @Test
    void anExpiredWatchedKeyFailsExec() throws IOException {
        asks(client, "SET k 1 PX 20", "+OK");
        asks(client, "WATCH k", "+OK");
        asks(client, "MULTI", "+OK");
        asks(client, "PING", "+QUEUED");
        await().until(() -> ask(other, "EXISTS k").equals(":0"));
        asks(client, "EXEC", "*-1");
    }

    @Test
    void clientListReportsQueuedCommands() throws IOException {
        asks(client, "MULTI", "+OK");
        asks(client, "PING", "+QUEUED");
        assertThat(ask(other, "CLIENT LIST")).contains("flags=x ").contains("multi=1 ").contains("multi=-1 ");
        asks(client, "RESET", "+RESET");
        asks(client, "EXEC", "-ERR EXEC without MULTI");
        assertThat(ask(other, "CLIENT LIST")).doesNotContain("multi=1 ");
    }

    /** Large values keep the runs in which they arrived; many commands and keys make all tables grow. */
    @Test
    void aTransactionMayBeLarge() throws IOException {
        String large = "x".repeat(300_000);
        asks(client, "MULTI", "+OK");
        for (int i = 0; i < 5; i++) {
            assertThat(client.command("SET", "large" + i, large)).isEqualTo("+QUEUED\r\n");
        }
        int many = 20_000;
        for (int from = 0; from < many; from += 1000) {
            for (int i = from; i < from + 1000; i++) {
                client.queue("MSET", "a" + i, "1", "b" + i, "2");
            }
            client.flush();
            for (int i = 0; i < 1000; i++) {
                assertThat(client.read().text()).isEqualTo("QUEUED");
            }
        }
        RawReply replies = client.call("EXEC");
        assertThat(replies.elements()).hasSize(many + 5).allMatch(reply -> reply.text().equals("OK"));
        asks(client, "DBSIZE", ":" + (2 * many + 5));
        assertThat(client.call("GET", "large4").text()).isEqualTo(large);
    }

    /** What is queued and never executed is given back, whatever ends it. */
    @ParameterizedTest
    @ValueSource(strings = {"DISCARD", "RESET", "EXEC", "QUIT", ""})
    void memoryOfQueuedCommandsIsReleased(String end) throws IOException {
        long before = usedBytes();
        for (int round = 0; round < 20; round++) {
            try (RawClient leaving = server.connect()) {
                ask(leaving, "WATCH w");
                if (end.equals("EXEC")) {
                    ask(other, "SET w " + round);
                }
                ask(leaving, "MULTI");
                assertThat(leaving.command("SET", "k", "x".repeat(400_000))).isEqualTo("+QUEUED\r\n");
                assertThat(leaving.command("SET", "k", "x".repeat(50_000))).isEqualTo("+QUEUED\r\n");
                if (!end.isEmpty()) {
                    ask(leaving, end);
                }
            }
        }
        await().untilAsserted(() -> assertThat(usedBytes()).isLessThan(before + (1 << 20)));
        asks(other, "EXISTS k", ":0");
    }

    private long usedBytes() throws IOException {
        String info = other.command("INFO", "memory");
        int at = info.indexOf("used_memory:") + "used_memory:".length();
        return Long.parseLong(info.substring(at, info.indexOf('\r', at)));
    }

    @Test
    void aQueuedCommandWithoutMemoryFailsTheTransaction() throws IOException {
        asks(client, "MULTI", "+OK");
        String reply = "";
        for (int i = 0; i < 200 && !reply.startsWith("-OOM"); i++) {
            reply = client.command("SET", "k" + i, "x".repeat(1_000_000));
        }
        assertThat(reply).startsWith("-OOM");
        assertThat(ask(client, "EXEC")).startsWith("-EXECABORT");
        asks(client, "DBSIZE", ":0");
        assertThat(client.command("SET", "k", "x".repeat(1_000_000))).isEqualTo("+OK\r\n");
    }

    /** Commands that lock shards of their own, all of them, do so in a transaction too. */
    @Test
    void commandsOnAllKeysRunInIt() throws IOException {
        asks(client, "MSET a 1 b 2", "+OK");
        asks(client, "MULTI", "+OK");
        for (String command : List.of("DBSIZE", "SELECT 2", "SET c 3", "SELECT 0", "SWAPDB 0 2", "GET c", "DBSIZE",
                "FLUSHALL", "DBSIZE", "RANDOMKEY", "SCAN 0", "SET d 4", "KEYS *", "INFO", "WAIT 1 100000")) {
            asks(client, command, "+QUEUED");
        }
        String replies = ask(client, "EXEC");
        assertThat(replies).startsWith("*15 :2 +OK +OK +OK +OK $1 3 :1 +OK :0 $-1 *2 $1 0 *0 +OK *1 $1 d $")
                .endsWith(" :0");
    }

    /**
     * More databases than there are numbers for are flushed, while what was flushed before is still being reclaimed.
     */
    @Test
    void manyFlushesInOneTransactionDoNotWait() throws IOException {
        for (int database = 0; database < 16; database++) {
            ask(client, "SELECT " + database);
            for (int i = 0; i < 2000; i++) {
                client.queue("SET", "k" + i, "v");
            }
            client.flush();
            for (int i = 0; i < 2000; i++) {
                client.read();
            }
        }
        asks(client, "FLUSHALL", "+OK");
        asks(client, "MULTI", "+OK");
        for (int i = 0; i < 15; i++) {
            ask(client, "SET k v");
            ask(client, i % 5 == 0 ? "FLUSHALL" : "FLUSHDB");
        }
        assertThat(ask(client, "EXEC")).startsWith("*30 +OK +OK");
        asks(other, "PING", "+PONG");
        asks(client, "DBSIZE", ":0");
    }

    @Test
    void manyKeysMayBeWatched() throws IOException {
        String[] many = new String[20_001];
        many[0] = "WATCH";
        for (int i = 1; i < many.length; i++) {
            many[i] = "key" + i;
        }
        assertThat(client.command(many)).isEqualTo("+OK\r\n");
        asks(client, "MULTI", "+OK");
        asks(client, "PING", "+QUEUED");
        asks(client, "EXEC", "*1 +PONG");
    }

    /** As in Redis, once the key was in one of the two. */
    @Test
    void exchangedTwiceIsChanged() throws IOException {
        asks(other, "SELECT 1", "+OK");
        asks(other, "SET k 1", "+OK");
        asks(client, "WATCH k", "+OK");
        asks(other, "SWAPDB 0 1", "+OK");
        asks(other, "SWAPDB 0 1", "+OK");
        asks(client, "MULTI", "+OK");
        asks(client, "PING", "+QUEUED");
        asks(client, "EXEC", "*-1");
        asks(client, "WATCH nosuch", "+OK");
        asks(other, "SWAPDB 0 1", "+OK");
        asks(client, "MULTI", "+OK");
        asks(client, "PING", "+QUEUED");
        asks(client, "EXEC", "*1 +PONG");
    }

    /** A large value that is copied needs more room than its arguments say. */
    @Test
    void copiesReclaimMemory() throws IOException {
        try (VarveServer evicting = server.start("io-threads 1", "maxmemory 32mb", "maxmemory-policy allkeys-random");
                RawClient mine = new RawClient(evicting.port())) {
            for (int i = 0; i < 1500; i++) {
                assertThat(mine.command("SET", "k" + i, "x".repeat(30_000))).isEqualTo("+OK\r\n");
            }
            for (int round = 0; round < 5; round++) {
                assertThat(mine.command("SET", "big", "x".repeat(6 << 20))).isEqualTo("+OK\r\n");
                asks(mine, "MULTI", "+OK");
                asks(mine, "PING", "+QUEUED");
                asks(mine, "RENAME big other", "+QUEUED");
                asks(mine, "STRLEN other", "+QUEUED");
                String replies = ask(mine, "EXEC");
                if (!replies.contains("no such key")) {
                    assertThat(replies).isEqualTo("*3 +PONG +OK :" + (6 << 20));
                }
            }
        }
    }

    @Test
    void commandsAreCountedAndTimedWhenTheyRun() throws IOException {
        asks(client, "CONFIG SET slowlog-log-slower-than 0", "+OK");
        asks(client, "CONFIG RESETSTAT", "+OK");
        long before = client.infoLong("total_commands_processed");
        asks(client, "MULTI", "+OK");
        asks(client, "SET k v", "+QUEUED");
        asks(client, "HGET k f", "+QUEUED");
        ask(client, "EXEC");
        // And INFO's.
        assertThat(client.infoLong("total_commands_processed") - before).isEqualTo(5);
        assertThat(client.infoLong("total_error_replies")).isOne();
        String stats = client.command("INFO", "commandstats");
        assertThat(stats).contains("cmdstat_set:calls=1,").contains("cmdstat_exec:calls=1,")
                .containsPattern("cmdstat_hget:calls=1,.*failed_calls=1");
        String slow = ask(client, "SLOWLOG GET 10");
        assertThat(slow).contains("$3 SET $1 k $1 v").doesNotContain("$4 EXEC");
    }

    @Test
    void ofWhatWillNotRunNothingIsKept() throws IOException {
        asks(client, "MULTI", "+OK");
        asks(client, "SET k v", "+QUEUED");
        ask(client, "nosuch");
        asks(client, "SET k v", "+QUEUED");
        assertThat(ask(other, "CLIENT LIST")).contains("multi=0 ");
        assertThat(ask(client, "EXEC")).startsWith("-EXECABORT");
    }

    // --- beside each other

    private <T> List<T> together(List<Callable<T>> tasks) throws Exception {
        List<T> results = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<T>> running = tasks.stream().map(threads::submit).toList();
            for (Future<T> one : running) {
                results.add(one.get());
            }
        }
        return results;
    }

    /** Optimistic increments: each that EXEC tells of has happened, and no other. */
    @Test
    void noIncrementIsLostUnderWatch() throws Exception {
        int rounds = 400;
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            tasks.add(() -> {
                int done = 0;
                try (RawClient mine = server.connect()) {
                    while (done < rounds) {
                        ask(mine, "WATCH n");
                        String text = mine.call("GET", "n").text();
                        long value = text.startsWith("-1 ") ? 0 : Long.parseLong(text);
                        ask(mine, "MULTI");
                        ask(mine, "SET n " + (value + 1));
                        done += ask(mine, "EXEC").equals("*1 +OK") ? 1 : 0;
                    }
                }
                return done;
            });
        }
        together(tasks);
        asks(client, "GET n", "$" + Integer.toString(CLIENTS * rounds).length() + " " + CLIENTS * rounds);
    }

    /** Money moves between accounts in different shards: who reads them all in a transaction finds the sum. */
    @Test
    void aTransactionIsSeenWholeOrNotAtAll() throws Exception {
        for (int i = 0; i < ACCOUNTS; i++) {
            ask(client, "SET account" + i + " " + BALANCE);
        }
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            int seed = c;
            tasks.add(() -> move(new SplittableRandom(seed)));
        }
        for (int c = 0; c < 2; c++) {
            tasks.add(this::sumAgainAndAgain);
        }
        together(tasks);
        assertThat(sum(client)).isEqualTo(ACCOUNTS * BALANCE);
    }

    private int move(SplittableRandom random) throws IOException {
        try (RawClient mine = server.connect()) {
            for (int i = 0; i < 2000; i++) {
                mine.queue("MULTI");
                int amount = random.nextInt(100);
                mine.queue("DECRBY", "account" + random.nextInt(ACCOUNTS), Integer.toString(amount));
                mine.queue("INCRBY", "account" + random.nextInt(ACCOUNTS), Integer.toString(amount));
                mine.queue("EXEC");
                mine.flush();
                for (int reply = 0; reply < 3; reply++) {
                    assertThat(mine.read().isAggregate()).isFalse();
                }
                assertThat(mine.read().elements()).hasSize(2);
            }
        }
        return 0;
    }

    private int sumAgainAndAgain() throws IOException {
        try (RawClient mine = server.connect()) {
            for (int i = 0; i < 1000; i++) {
                assertThat(sum(mine)).isEqualTo(ACCOUNTS * BALANCE);
            }
        }
        return 0;
    }

    private static int sum(RawClient of) throws IOException {
        of.queue("MULTI");
        for (int i = 0; i < ACCOUNTS; i++) {
            of.queue("GET", "account" + i);
        }
        of.queue("EXEC");
        of.flush();
        for (int i = 0; i <= ACCOUNTS; i++) {
            of.read();
        }
        return of.read().elements().stream().mapToInt(balance -> Integer.parseInt(balance.text())).sum();
    }
}
