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
        assertThat(execute(client, "PING")).isEqualTo("+PONG");
    }

    /** One reply, its line ends turned into blanks. */
    private static String execute(RawClient of, String words) throws IOException {
        return of.command(words.split(" ")).replace("\r\n", " ").strip();
    }

    private void expect(RawClient of, String words, String expected) throws IOException {
        assertThat(execute(of, words)).as(words).isEqualTo(expected);
    }

    /** Also of one that its client has left, in more than one piece of memory. */
    @Test
    void transactionMemoryIsReleasedWhenTheServerCloses() throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "shards 8");
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer closing = server.start(config, cache);
                RawClient committing = new RawClient(closing.port());
                RawClient leaving = new RawClient(closing.port())) {
            expect(committing, "MULTI", "+OK");
            expect(committing, "SET a 1", "+QUEUED");
            expect(committing, "EXEC", "*1 +OK");
            expect(leaving, "MULTI", "+OK");
            expect(leaving, "SET b 1", "+QUEUED");
            expect(leaving, "SET c " + "v".repeat(20_000), "+QUEUED");
        }
        assertThat(cache.stats().chargedBytes()).isZero();
    }

    @Test
    void nothingHappensBeforeExecAndAllOfItThen() throws IOException {
        expect(client, "MULTI", "+OK");
        expect(client, "SET a 1", "+QUEUED");
        expect(client, "INCR a", "+QUEUED");
        expect(client, "NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with:");
        expect(other, "EXISTS a", ":0");
        expect(client, "EXEC", "-EXECABORT Transaction discarded because of previous errors.");
        expect(client, "MULTI", "+OK");
        expect(client, "SET a 1", "+QUEUED");
        expect(client, "HGET a f", "+QUEUED");
        expect(client, "INCR a", "+QUEUED");
        expect(client, "EXEC", "*3 +OK -WRONGTYPE Operation against a key holding the wrong kind of value :2");
        expect(other, "GET a", "$1 2");
        expect(client, "EXEC", "-ERR EXEC without MULTI");
    }

    @Test
    void changesByOtherClientsFailExec() throws IOException {
        String[] changes = {"SET k 2", "DEL k", "PEXPIRE k 1000000", "APPEND k x", "RENAME k z", "FLUSHDB", "FLUSHALL",
                "SWAPDB 0 1", "EXPIRE k -1", "MOVE k 3", "GETDEL k", "RENAME l k", "COPY l k REPLACE",
                "SET j 1 EXAT 1000"};
        for (String change : changes) {
            execute(client, "FLUSHALL");
            execute(client, "MSET k 1 l 1");
            expect(client, "WATCH j k", "+OK");
            execute(other, change);
            expect(client, "MULTI", "+OK");
            expect(client, "SET done 1", "+QUEUED");
            assertThat(execute(client, "EXEC")).as("after %s", change).isEqualTo("*-1");
            expect(client, "EXISTS done", ":0");
            expect(client, "MULTI", "+OK");
            expect(client, "PING", "+QUEUED");
            expect(client, "EXEC", "*1 +PONG");
        }
    }

    @Test
    void commandsWithoutEffectDoNotFailExec() throws IOException {
        String[] innocent = {"SET other 2", "GET k", "TTL k", "DEL nosuch", "SETNX k 5", "SELECT 4", "SET k 9",
                "FLUSHDB", "PERSIST k", "UNLINK gone"};
        expect(client, "SET k 1", "+OK");
        expect(client, "WATCH k gone", "+OK");
        for (String command : innocent) {
            execute(other, command);
        }
        expect(client, "MULTI", "+OK");
        expect(client, "GET k", "+QUEUED");
        expect(client, "EXEC", "*1 $1 1");
    }

    @Test
    void anExpiredWatchedKeyFailsExec() throws IOException {
        expect(client, "SET k 1 PX 20", "+OK");
        expect(client, "WATCH k", "+OK");
        expect(client, "MULTI", "+OK");
        expect(client, "PING", "+QUEUED");
        await().until(() -> execute(other, "EXISTS k").equals(":0"));
        expect(client, "EXEC", "*-1");
    }

    @Test
    void clientListReportsQueuedCommands() throws IOException {
        expect(client, "MULTI", "+OK");
        expect(client, "PING", "+QUEUED");
        assertThat(execute(other, "CLIENT LIST")).contains("flags=x ").contains("multi=1 ").contains("multi=-1 ");
        expect(client, "RESET", "+RESET");
        expect(client, "EXEC", "-ERR EXEC without MULTI");
        assertThat(execute(other, "CLIENT LIST")).doesNotContain("multi=1 ");
    }

    /** Large values keep the runs in which they arrived; many commands and keys make all tables grow. */
    @Test
    void aTransactionMayBeLarge() throws IOException {
        String large = "x".repeat(300_000);
        expect(client, "MULTI", "+OK");
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
        expect(client, "DBSIZE", ":" + (2 * many + 5));
        assertThat(client.call("GET", "large4").text()).isEqualTo(large);
    }

    /** The memory of queued commands that are never executed is released, whatever ends the transaction. */
    @ParameterizedTest
    @ValueSource(strings = {"DISCARD", "RESET", "EXEC", "QUIT", ""})
    void memoryOfQueuedCommandsIsReleased(String end) throws IOException {
        long before = usedBytes();
        for (int round = 0; round < 20; round++) {
            try (RawClient leaving = server.connect()) {
                execute(leaving, "WATCH w");
                if (end.equals("EXEC")) {
                    execute(other, "SET w " + round);
                }
                execute(leaving, "MULTI");
                assertThat(leaving.command("SET", "k", "x".repeat(400_000))).isEqualTo("+QUEUED\r\n");
                assertThat(leaving.command("SET", "k", "x".repeat(50_000))).isEqualTo("+QUEUED\r\n");
                if (!end.isEmpty()) {
                    execute(leaving, end);
                }
            }
        }
        await().untilAsserted(() -> assertThat(usedBytes()).isLessThan(before + (1 << 20)));
        expect(other, "EXISTS k", ":0");
    }

    private long usedBytes() throws IOException {
        String info = other.command("INFO", "memory");
        int at = info.indexOf("used_memory:") + "used_memory:".length();
        return Long.parseLong(info.substring(at, info.indexOf('\r', at)));
    }

    @Test
    void aQueuedCommandWithoutMemoryFailsTheTransaction() throws IOException {
        expect(client, "MULTI", "+OK");
        String reply = "";
        for (int i = 0; i < 200 && !reply.startsWith("-OOM"); i++) {
            reply = client.command("SET", "k" + i, "x".repeat(1_000_000));
        }
        assertThat(reply).startsWith("-OOM");
        assertThat(execute(client, "EXEC")).startsWith("-EXECABORT");
        expect(client, "DBSIZE", ":0");
        assertThat(client.command("SET", "k", "x".repeat(1_000_000))).isEqualTo("+OK\r\n");
    }

    /** Commands that lock shards of their own, all of them, do so in a transaction too. */
    @Test
    void commandsOnAllKeysRunInIt() throws IOException {
        expect(client, "MSET a 1 b 2", "+OK");
        expect(client, "MULTI", "+OK");
        for (String command : List.of("DBSIZE", "SELECT 2", "SET c 3", "SELECT 0", "SWAPDB 0 2", "GET c", "DBSIZE",
                "FLUSHALL", "DBSIZE", "RANDOMKEY", "SCAN 0", "SET d 4", "KEYS *", "INFO", "WAIT 1 100000")) {
            expect(client, command, "+QUEUED");
        }
        String replies = execute(client, "EXEC");
        assertThat(replies).startsWith("*15 :2 +OK +OK +OK +OK $1 3 :1 +OK :0 $-1 *2 $1 0 *0 +OK *1 $1 d $")
                .endsWith(" :0");
    }

    /**
     * More databases than there are numbers for are flushed, while what was flushed before is still being reclaimed.
     */
    @Test
    void manyFlushesInOneTransactionDoNotWait() throws IOException {
        for (int database = 0; database < 16; database++) {
            execute(client, "SELECT " + database);
            for (int i = 0; i < 2000; i++) {
                client.queue("SET", "k" + i, "v");
            }
            client.flush();
            for (int i = 0; i < 2000; i++) {
                client.read();
            }
        }
        expect(client, "FLUSHALL", "+OK");
        expect(client, "MULTI", "+OK");
        for (int i = 0; i < 15; i++) {
            execute(client, "SET k v");
            execute(client, i % 5 == 0 ? "FLUSHALL" : "FLUSHDB");
        }
        assertThat(execute(client, "EXEC")).startsWith("*30 +OK +OK");
        expect(other, "PING", "+PONG");
        expect(client, "DBSIZE", ":0");
    }

    @Test
    void manyKeysMayBeWatched() throws IOException {
        String[] many = new String[20_001];
        many[0] = "WATCH";
        for (int i = 1; i < many.length; i++) {
            many[i] = "key" + i;
        }
        assertThat(client.command(many)).isEqualTo("+OK\r\n");
        expect(client, "MULTI", "+OK");
        expect(client, "PING", "+QUEUED");
        expect(client, "EXEC", "*1 +PONG");
    }

    /** As in Redis, once the key was in one of the two. */
    @Test
    void exchangedTwiceIsChanged() throws IOException {
        expect(other, "SELECT 1", "+OK");
        expect(other, "SET k 1", "+OK");
        expect(client, "WATCH k", "+OK");
        expect(other, "SWAPDB 0 1", "+OK");
        expect(other, "SWAPDB 0 1", "+OK");
        expect(client, "MULTI", "+OK");
        expect(client, "PING", "+QUEUED");
        expect(client, "EXEC", "*-1");
        expect(client, "WATCH nosuch", "+OK");
        expect(other, "SWAPDB 0 1", "+OK");
        expect(client, "MULTI", "+OK");
        expect(client, "PING", "+QUEUED");
        expect(client, "EXEC", "*1 +PONG");
    }

    /** A large value that is copied needs more memory than its arguments show. */
    @Test
    void copiesReclaimMemory() throws IOException {
        try (VarveServer evicting = server.start("io-threads 1", "maxmemory 32mb", "maxmemory-policy allkeys-random");
                RawClient mine = new RawClient(evicting.port())) {
            for (int i = 0; i < 1500; i++) {
                assertThat(mine.command("SET", "k" + i, "x".repeat(30_000))).isEqualTo("+OK\r\n");
            }
            for (int round = 0; round < 5; round++) {
                assertThat(mine.command("SET", "big", "x".repeat(6 << 20))).isEqualTo("+OK\r\n");
                expect(mine, "MULTI", "+OK");
                expect(mine, "PING", "+QUEUED");
                expect(mine, "RENAME big other", "+QUEUED");
                expect(mine, "STRLEN other", "+QUEUED");
                String replies = execute(mine, "EXEC");
                if (!replies.contains("no such key")) {
                    assertThat(replies).isEqualTo("*3 +PONG +OK :" + (6 << 20));
                }
            }
        }
    }

    @Test
    void commandsAreCountedAndTimedWhenTheyRun() throws IOException {
        expect(client, "CONFIG SET slowlog-log-slower-than 0", "+OK");
        expect(client, "CONFIG RESETSTAT", "+OK");
        long before = client.infoLong("total_commands_processed");
        expect(client, "MULTI", "+OK");
        expect(client, "SET k v", "+QUEUED");
        expect(client, "HGET k f", "+QUEUED");
        execute(client, "EXEC");
        // And INFO's.
        assertThat(client.infoLong("total_commands_processed") - before).isEqualTo(5);
        assertThat(client.infoLong("total_error_replies")).isOne();
        String stats = client.command("INFO", "commandstats");
        assertThat(stats).contains("cmdstat_set:calls=1,").contains("cmdstat_exec:calls=1,")
                .containsPattern("cmdstat_hget:calls=1,.*failed_calls=1");
        String slow = execute(client, "SLOWLOG GET 10");
        assertThat(slow).contains("$3 SET $1 k $1 v").doesNotContain("$4 EXEC");
    }

    @Test
    void ofWhatWillNotRunNothingIsKept() throws IOException {
        expect(client, "MULTI", "+OK");
        expect(client, "SET k v", "+QUEUED");
        execute(client, "nosuch");
        expect(client, "SET k v", "+QUEUED");
        assertThat(execute(other, "CLIENT LIST")).contains("multi=0 ");
        assertThat(execute(client, "EXEC")).startsWith("-EXECABORT");
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

    /** Optimistic increments: each that EXEC acknowledges has happened, and no other. */
    @Test
    void noIncrementIsLostUnderWatch() throws Exception {
        int rounds = 400;
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            tasks.add(() -> {
                int done = 0;
                try (RawClient mine = server.connect()) {
                    while (done < rounds) {
                        execute(mine, "WATCH n");
                        String text = mine.call("GET", "n").text();
                        long value = text.startsWith("-1 ") ? 0 : Long.parseLong(text);
                        execute(mine, "MULTI");
                        execute(mine, "SET n " + (value + 1));
                        done += execute(mine, "EXEC").equals("*1 +OK") ? 1 : 0;
                    }
                }
                return done;
            });
        }
        together(tasks);
        expect(client, "GET n", "$" + Integer.toString(CLIENTS * rounds).length() + " " + CLIENTS * rounds);
    }

    /** Money moves between accounts in different shards: a transaction that reads them all finds the sum. */
    @Test
    void aTransactionIsSeenWholeOrNotAtAll() throws Exception {
        for (int i = 0; i < ACCOUNTS; i++) {
            execute(client, "SET account" + i + " " + BALANCE);
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

    /** SWAPDB brings an expired item under a watched name, which is the same as no key, and then removes it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anExpiredKeyThatSwapDbMovesUnderAWatchedNameIsNoChange(boolean watchedHasExpiredToo) throws IOException {
        expect(other, "DEBUG SET-ACTIVE-EXPIRE 0", "+OK");
        expect(other, "SET x v PX 1", "+OK");
        expect(client, "SELECT 1", "+OK");
        if (watchedHasExpiredToo) {
            expect(client, "SET x w PX 1", "+OK");
        }
        long expired = System.currentTimeMillis() + 1;
        await().until(() -> System.currentTimeMillis() > expired);
        expect(client, "WATCH x", "+OK");
        expect(other, "SWAPDB 0 1", "+OK");
        expect(client, "MULTI", "+OK");
        expect(client, "PING", "+QUEUED");
        expect(client, "EXEC", "*1 +PONG");
    }
}
