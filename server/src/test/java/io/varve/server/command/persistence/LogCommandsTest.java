package io.varve.server.command.persistence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.VarveServer;
import io.varve.server.command.hash.RandomHashCommands;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.persistence.LogManifest;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import io.varve.testing.Polling;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Servers with a log that start and end: random commands of all families, while time passes, and the data of before
 * after each restart. Confined to the test's thread.
 *
 * <p>{@code -Dvarve.log.restarts=N} sets the number of restarts, {@code -Dvarve.log.seed=N} repeats a run.
 */
@Timeout(600)
class LogCommandsTest {
    private static final int RESTARTS = TestBudget.ofInt("varve.log.restarts", 25, 400);
    private static final int COMMANDS = 150;
    /** A log of more than a megabyte is loaded by several threads. */
    private static final String LARGE = "x".repeat(1100 << 10);

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private VarveServer start(Ticker ticker, String... settings) throws IOException {
        String[] all = new String[settings.length + 5];
        System.arraycopy(settings, 0, all, 5, settings.length);
        all[0] = "maxmemory 64mb";
        all[1] = "dir " + directory;
        all[2] = "enable-debug-command yes";
        all[3] = "appendonly yes";
        all[4] = "shards 4";
        ServerConfig config = ServerExtension.config(all);
        return VarveServer.start(config, Cache.open(config.cacheConfig().withTicker(new ReplayClock(ticker))));
    }

    private static String digest(RawClient client) throws IOException {
        // A rewrite excludes the scan of the digest.
        RawReply digest = client.call("DEBUG", "DIGEST");
        while (digest.isError()) {
            digest = client.call("DEBUG", "DIGEST");
        }
        return digest.text();
    }

    @Test
    void dataOfRandomCommands_isThereAfterEachRestart() throws IOException {
        long seed = TestBudget.seed("varve.log.seed");
        SplittableRandom random = new SplittableRandom(seed);
        SettableTicker ticker = new SettableTicker();
        String digest = "0000000000000000000000000000000000000000";
        for (int i = 0; i < RESTARTS; i++) {
            String how = "seed " + seed + ", restart " + i;
            String sync = List.of("always", "everysec", "no").get(random.nextInt(3));
            try (VarveServer server = start(ticker, "appendfsync " + sync);
                    RawClient client = new RawClient(server.port())) {
                assertThat(digest(client)).as(how).isEqualTo(digest);
                PackedLimits.vary(server.port(), i);
                if (random.nextBoolean()) {
                    client.command("SET", "large", LARGE);
                }
                for (int j = random.nextInt(6); j >= 0; j--) {
                    run(client, random);
                    ticker.pass(random.nextInt(2_000));
                    if (random.nextInt(8) == 0) {
                        client.command("BGREWRITEAOF");
                    }
                }
                digest = digest(client);
            }
        }
    }

    private static void run(RawClient client, SplittableRandom random) throws IOException {
        client.queue("HELLO", "3");
        for (ScriptStep step : new RandomCommands(random.nextLong(), true).script(COMMANDS)) {
            client.queue(step.arguments().toArray(String[]::new));
        }
        client.queue("DISCARD");
        client.queue("RESET");
        client.drain();
    }

    /** Each value shows in which order the commands have run. */
    @Test
    void severalThreadsThatLoad_keepTheOrderOfCommandsWithSeveralKeys() throws IOException {
        long seed = TestBudget.seed("varve.log.seed");
        SplittableRandom random = new SplittableRandom(seed);
        SettableTicker ticker = new SettableTicker();
        String digest;
        try (VarveServer server = start(ticker, "appendfsync no"); RawClient client = new RawClient(server.port())) {
            client.command("SET", "large", LARGE);
            client.command("SET", "copied", "0");
            for (int i = 0; i < 40; i++) {
                int distance = 1 << random.nextInt(11);
                int commands = 2_000;
                for (int j = 0; j < commands; j++) {
                    if (random.nextInt(distance) == 0) {
                        queueOther(client, random, j);
                    } else {
                        client.queue("APPEND", "key" + random.nextInt(20), Integer.toString(j % 10));
                    }
                }
                client.drain();
                ticker.pass(random.nextInt(300));
            }
            digest = digest(client);
        }
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).as("seed %s", seed).isEqualTo(digest);
        }
    }

    /** A command with several keys or none, or a transaction. */
    private static void queueOther(RawClient client, SplittableRandom random, int number) throws IOException {
        String key = "key" + random.nextInt(20);
        String other = "key" + random.nextInt(20);
        switch (random.nextInt(8)) {
            case 0 -> client.queue("RENAME", key, other);
            case 1 -> client.queue("COPY", key, other, "REPLACE");
            case 2 -> client.queue("MSET", key, "m" + number, other, "m" + number);
            case 3 -> client.queue("SELECT", Integer.toString(random.nextInt(3)));
            case 4 -> client.queue("SWAPDB", "0", "1");
            case 5 -> client.queue("SET", key, "expiring", "PX", Integer.toString(1 + random.nextInt(500)));
            case 6 -> client.queue("BITOP", "XOR", key, key, other);
            default -> {
                client.queue("MULTI");
                client.queue("APPEND", key, "first");
                client.queue("SELECT", Integer.toString(random.nextInt(3)));
                client.queue("APPEND", other, "second");
                client.queue("EXEC");
            }
        }
    }

    @Test
    void commandsWhoseEffectDependsOnChanceOrTimeOrOthers_areRecordedByTheirEffect() throws IOException {
        SettableTicker ticker = new SettableTicker();
        String digest;
        try (VarveServer server = start(ticker);
                RawClient client = new RawClient(server.port());
                RawClient blocked = new RawClient(server.port())) {
            for (int i = 0; i < 300; i++) {
                client.command("SADD", "set", "member" + i);
                client.command("SADD", "numbers", Integer.toString(i));
                client.command("SADD", "small", Integer.toString(i % 7));
            }
            client.command("SPOP", "set", "100");
            client.command("SPOP", "numbers", "7");
            client.command("SPOP", "small");
            client.command("SPOP", "small", "100");
            client.command("SET", "float", "10.5", "EX", "1000");
            client.command("INCRBYFLOAT", "float", "0.1");
            client.command("SETEX", "short", "1", "gone soon");
            client.command("SET", "past", "1", "PXAT", "1000");
            client.command("GETEX", "float", "PX", "500000");
            client.command("HSET", "hash", "f", "1", "g", "2");
            client.command("HPEXPIRE", "hash", "100", "FIELDS", "1", "f");
            blocked.queue("BLMOVE", "source", "target", "LEFT", "RIGHT", "0");
            blocked.flush();
            while (client.infoLong("blocked_clients") == 0) {
                Polling.pause();
            }
            client.command("RPUSH", "source", "1", "2");
            assertThat(blocked.read().text()).isEqualTo("1");
            ticker.pass(1_500);
            // The key and the field do not exist for these.
            client.command("INCR", "short");
            client.command("HINCRBY", "hash", "f", "5");
            client.command("MULTI");
            client.command("SELECT", "3");
            client.command("SET", "other", "1");
            client.command("FLUSHDB");
            client.command("SET", "left", "1", "PX", "100000");
            client.command("EXEC");
            client.command("SWAPDB", "3", "5");
            digest = digest(client);
        }
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
            assertThat(client.call("GET", "short").text()).isEqualTo("1");
            assertThat(client.call("HGET", "hash", "f").text()).isEqualTo("5");
            assertThat(client.call("LRANGE", "target", "0", "-1").elements().getFirst().text()).isEqualTo("1");
            client.command("SELECT", "5");
            assertThat(client.call("DBSIZE").integer()).isEqualTo(1);
            assertThat(client.call("PTTL", "left").integer()).isEqualTo(100_000);
        }
    }

    @Test
    void timesOfFields_areThereAfterARestart() throws IOException {
        SettableTicker ticker = new SettableTicker();
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.log.seed"));
        String digest;
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            client.command("CONFIG", "SET", "packed-max-entries", "20");
            List<List<String>> commands = new RandomHashCommands(random.nextLong(), 40, ticker.wallMillis())
                    .commands(3_000);
            for (List<String> words : commands) {
                client.call(words.toArray(String[]::new));
                ticker.pass(random.nextInt(3));
            }
            client.command("DISCARD");
            digest = digest(client);
        }
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
        }
    }

    @Test
    void debugLoadaof_loadsTheLogAgain() throws IOException {
        SettableTicker ticker = new SettableTicker();
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.log.seed"));
        String digest;
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < 3; i++) {
                run(client, random);
                client.command("SELECT", "0");
                client.command("SET", "times", Integer.toString(i), "PX", "100000");
                client.command("DEBUG", "POPULATE", "10", "unlogged");
                client.command("DEL", "unlogged:0", "unlogged:1");
                digest = digest(client);
                ticker.pass(1000);
                assertThat(client.command("DEBUG", "LOADAOF")).isEqualTo("+OK\r\n");
                assertThat(client.call("PTTL", "times").integer()).isEqualTo(99_000);
                // The log does not have what DEBUG POPULATE has created.
                assertThat(client.call("EXISTS", "unlogged:2").integer()).isZero();
                client.command("DEBUG", "POPULATE", "10", "unlogged");
                client.command("DEL", "unlogged:0", "unlogged:1");
                assertThat(digest(client)).isEqualTo(digest);
            }
            client.command("DEL", "unlogged:2");
            client.command("FLUSHALL");
            client.command("SET", "last", "1");
            digest = digest(client);
        }
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
        }
    }

    @Test
    void rewriteReplacesTheFiles() throws IOException {
        SettableTicker ticker = new SettableTicker();
        String digest;
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < 20_000; i++) {
                client.queue("SET", "key", "value" + i);
            }
            client.flush();
            for (int i = 0; i < 20_000; i++) {
                client.read();
            }
            // The writer thread may still have bytes to write when the replies are there: appendfsync is not always.
            while (client.infoLong("aof_current_size") < 600_000) {
                Polling.pause();
            }
            assertThat(client.command("BGREWRITEAOF")).startsWith("+Background append only file rewriting");
            while (client.infoLong("aof_rewrite_in_progress") == 1 || client.infoLong("aof_rewrites") < 2) {
                Polling.pause();
            }
            assertThat(client.infoLong("aof_current_size")).isLessThan(10_000);
            client.command("SET", "after", "1");
            digest = digest(client);
        }
        try (var files = Files.list(directory.resolve("appendonlydir"))) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrder(
                    "appendonly.aof.manifest", "appendonly.aof.2.base.rdb", "appendonly.aof.2.incr.aof", "varve.lock");
        }
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
        }
    }

    @Test
    void incrementsWithoutCommands_areReplacedByTheNextStart() throws IOException {
        SettableTicker ticker = new SettableTicker();
        startAndStop(ticker);
        for (int i = 2; i <= 4; i++) {
            startAndStop(ticker);
            assertThat(logFiles()).as("start %s", i).containsExactlyInAnyOrder("appendonly.aof.1.base.rdb",
                    "appendonly.aof." + i + ".incr.aof");
        }
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            client.command("SET", "key", "1");
        }
        // The torn end of a file of which nothing else is left.
        startAndStop(ticker);
        Files.writeString(directory.resolve("appendonlydir").resolve("appendonly.aof.6.incr.aof"), "#B:torn",
                StandardOpenOption.APPEND);
        startAndStop(ticker);
        assertThat(logFiles()).containsExactlyInAnyOrder("appendonly.aof.1.base.rdb", "appendonly.aof.5.incr.aof",
                "appendonly.aof.7.incr.aof");
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("GET", "key").text()).isEqualTo("1");
        }
    }

    private void startAndStop(Ticker ticker) throws IOException {
        start(ticker).close();
    }

    /** The files in the directory, all of which the manifest lists. */
    private List<String> logFiles() throws IOException {
        Path log = directory.resolve("appendonlydir");
        try (var files = Files.list(log)) {
            List<String> names = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".rdb") || name.endsWith(".aof")).toList();
            assertThat(LogManifest.read(log.resolve("appendonly.aof.manifest")).names())
                    .containsExactlyInAnyOrderElementsOf(names);
            return names;
        }
    }

    @Test
    void logIsTurnedOnAndOffWhileClientsWrite() throws IOException {
        SettableTicker ticker = new SettableTicker();
        String digest;
        try (VarveServer server = start(ticker, "appendonly no"); RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 1_000, "value");
            assertThat(client.command("CONFIG", "SET", "appendonly", "yes")).isEqualTo("+OK\r\n");
            client.command("SET", "logged", "1");
            while (client.infoLong("aof_rewrites") == 0) {
                Polling.pause();
            }
            digest = digest(client);
            assertThat(client.command("CONFIG", "SET", "appendonly", "no")).isEqualTo("+OK\r\n");
            client.command("SET", "not logged", "1");
            assertThat(client.infoLong("aof_enabled")).isZero();
        }
        try (VarveServer server = start(ticker); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
        }
    }
}
