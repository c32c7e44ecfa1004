package io.varve.server.following;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.shard.ShardSet;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import io.varve.server.testing.TestCertificates;
import io.varve.testing.Polling;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Varve follows Varve: what clients of both see. Confined to the test's thread. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FollowerTest {
    private static final String READ_ONLY = "-READONLY You can't write against a read only replica.\r\n";
    private static final String OK = "+OK\r\n";

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private VarveServer primaryServer;
    private VarveServer replicaServer;
    private RawClient primary;
    private RawClient replica;

    @BeforeEach
    void start() throws IOException {
        primaryServer = servers.start(config("primary"));
        replicaServer = servers.start(config("replica"));
        primary = servers.connect(primaryServer);
        replica = servers.connect(replicaServer);
    }

    private ServerConfig config(String name, String... settings) throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "shards 4", "enable-debug-command yes", "dir "
                + Files.createDirectories(directory.resolve(name)));
        for (String setting : settings) {
            String[] words = setting.split(" ", 2);
            config = config.with(words[0], words[1]);
        }
        return config.validate();
    }

    private void follow() throws IOException {
        follow(replica, primaryServer);
    }

    private static void follow(RawClient follower, VarveServer followed) throws IOException {
        assertThat(follower.command("REPLICAOF", "127.0.0.1", Integer.toString(followed.port()))).isEqualTo(OK);
        awaitUp(follower);
    }

    private static void awaitUp(RawClient follower) throws IOException {
        while (!follower.info("master_link_status").equals("up")) {
            Polling.pause();
        }
    }

    /** All changes of the primary are here. */
    private void await() throws IOException {
        await(primary);
    }

    private static void await(RawClient from) throws IOException {
        assertThat(from.command("SET", "fence", "1")).isEqualTo(OK);
        assertThat(from.command("WAIT", "1", "0")).isEqualTo(":1\r\n");
    }

    private static String digest(RawClient client) throws IOException {
        return client.call("DEBUG", "DIGEST").text();
    }

    @Test
    void aReplica_hasThePrimarysDataInPlaceOfItsOwn_andTakesNoWrites() throws IOException {
        primary.command("SET", "key", "value");
        replica.command("SET", "own", "value");
        follow();
        assertThat(replica.call("GET", "key").text()).isEqualTo("value");
        assertThat(replica.command("EXISTS", "own")).isEqualTo(":0\r\n");
        assertThat(replica.command("SET", "key", "1")).isEqualTo(READ_ONLY);
        assertThat(replica.command("FLUSHALL")).isEqualTo(READ_ONLY);
        replica.command("MULTI");
        assertThat(replica.command("DEL", "key")).isEqualTo(READ_ONLY);
        assertThat(replica.command("EXEC")).startsWith("-EXECABORT");
        assertThat(replica.command("WAIT", "0", "1")).startsWith("-ERR WAIT cannot be used with replica instances.");
        assertThat(primary.command("APPEND", "key", "1")).isEqualTo(":6\r\n");
        await();
        assertThat(replica.call("GET", "key").text()).isEqualTo("value1");
        assertThat(replica.call("ROLE").elements().stream().limit(4).map(Object::toString).toList().toString())
                .contains("slave", "127.0.0.1", Integer.toString(primaryServer.port()), "connected");
        assertThat(replica.call("CONFIG", "GET", "replicaof").elements().getLast().text())
                .isEqualTo("127.0.0.1 " + primaryServer.port());
    }

    /** It is gone for clients, but only the primary removes it. */
    @Test
    void expiredKey_isRemovedByThePrimary() throws IOException {
        primary.command("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        follow();
        primary.command("SET", "key", "value", "PX", "1");
        primary.command("HSET", "hash", "field", "value");
        primary.command("PEXPIRE", "hash", "1");
        await();
        while (!replica.command("EXISTS", "key", "hash").equals(":0\r\n")) {
            Polling.pause();
        }
        assertThat(replica.command("GET", "key")).isEqualTo("$-1\r\n");
        assertThat(replica.call("HGETALL", "hash").elements()).isEmpty();
        assertThat(replica.command("DBSIZE")).isEqualTo(":3\r\n");
        assertThat(primary.command("EXISTS", "key", "hash")).isEqualTo(":0\r\n");
        await();
        assertThat(replica.command("DBSIZE")).isEqualTo(":1\r\n");
    }

    /** The replica's clock is ahead, or its commands come late. */
    @Test
    void keyThatHasNotExpiredForThePrimary_existsForItsCommands() throws IOException {
        SettableTicker ticker = new SettableTicker();
        SettableTicker ahead = new SettableTicker();
        ahead.pass(1_000_000);
        VarveServer first = start("first", ticker);
        VarveServer second = start("second", ahead);
        RawClient from = servers.connect(first);
        RawClient to = servers.connect(second);
        follow(to, first);
        from.command("SET", "text", "1", "PX", "1000");
        from.command("INCR", "text");
        from.command("PERSIST", "text");
        from.command("RPUSH", "list", "a");
        from.command("PEXPIRE", "list", "1000");
        from.command("RPUSH", "list", "b");
        from.command("COPY", "list", "copy");
        from.command("PERSIST", "copy");
        from.command("HSET", "hash", "a", "1", "b", "1");
        from.command("HPEXPIRE", "hash", "1000", "FIELDS", "1", "a");
        from.command("HINCRBY", "hash", "a", "1");
        from.command("HPERSIST", "hash", "FIELDS", "1", "a");
        from.command("GETEX", "text", "PX", "500");
        from.command("SETEX", "short", "1", "value");
        await(from);
        assertThat(to.command("GET", "text")).isEqualTo("$-1\r\n");
        assertThat(to.command("EXISTS", "list", "short")).isEqualTo(":0\r\n");
        assertThat(to.call("LRANGE", "copy", "0", "-1").elements()).hasSize(2);
        assertThat(to.call("HGET", "hash", "a").text()).isEqualTo("2");
        assertThat(to.command("REPLICAOF", "NO", "ONE")).isEqualTo(OK);
        assertThat(to.command("DEL", "text", "list", "short")).isEqualTo(":0\r\n");
    }

    /** A field that has expired for the primary is new for its commands, whatever it is for the replica. */
    @Test
    void expiredFields_areRemovedFromTheReplicaBeforeTheNextChange() throws IOException {
        SettableTicker ticker = new SettableTicker();
        VarveServer first = start("first", ticker);
        VarveServer second = start("second", new SettableTicker());
        RawClient from = servers.connect(first);
        RawClient to = servers.connect(second);
        from.command("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        follow(to, first);
        for (int fields : new int[] {3, 2000}) {
            String key = "hash" + fields;
            for (int i = 0; i < fields; i++) {
                from.command("HSET", key, "field" + i, "5");
            }
            from.command("HPEXPIRE", key, "1000", "FIELDS", "2", "field0", "field1");
            ticker.pass(2000);
            assertThat(from.command("HSETNX", key, "field0", "1")).isEqualTo(":1\r\n");
            assertThat(from.command("HINCRBY", key, "field1", "1")).isEqualTo(":1\r\n");
            assertThat(from.call("HPEXPIREAT", key, "1", "FIELDS", "2", "field2", "absent").elements()).hasSize(2);
            assertThat(from.command("HSETNX", key, "field2", "1")).isEqualTo(":1\r\n");
            await(from);
            assertThat(to.call("HMGET", key, "field0", "field1", "field2").toString())
                    .isEqualTo(from.call("HMGET", key, "field0", "field1", "field2").toString());
            assertThat(to.command("HLEN", key)).isEqualTo(":" + fields + "\r\n");
        }
        assertThat(digest(to)).isEqualTo(digest(from));
    }

    /** The cycle removes a field long before the next change of its hash. */
    @Test
    void fieldsThatTheCycleHasRemoved_areRemovedFromTheReplica() throws IOException {
        follow();
        for (int fields : new int[] {3, 2000}) {
            String key = "hash" + fields;
            for (int i = 0; i < fields; i++) {
                primary.command("HSET", key, "field" + i, "5");
            }
            RawClient events = servers.connect(primaryServer);
            primary.command("CONFIG", "SET", "notify-keyspace-events", "Eh");
            events.command("SUBSCRIBE", "__keyevent@0__:hexpired");
            primary.command("HPEXPIRE", key, "1", "FIELDS", "2", "field0", "field1");
            assertThat(events.read().toString()).contains(key);
            assertThat(primary.command("HSETNX", key, "field0", "1")).isEqualTo(":1\r\n");
            assertThat(primary.command("HINCRBY", key, "field1", "1")).isEqualTo(":1\r\n");
            await();
            assertThat(digest(replica)).isEqualTo(digest(primary));
            assertThat(replica.call("HGET", key, "field0").text()).isEqualTo("1");
        }
    }

    @Test
    void aPrimaryThatComesBackFromItsSnapshot_hasTheRightDatabases() throws IOException {
        VarveServer oldServer = servers.start(config("old"));
        RawClient old = servers.connect(oldServer);
        follow(replica, oldServer);
        old.command("SELECT", "5");
        old.command("SET", "first", "1");
        assertThat(old.command("SAVE")).isEqualTo(OK);
        old.command("SET", "second", "1");
        await(old);
        oldServer.close();
        assertThat(replica.command("REPLICAOF", "NO", "ONE")).isEqualTo(OK);
        VarveServer again = servers.start(config("old", "replicaof 127.0.0.1 " + replicaServer.port()));
        RawClient returned = servers.connect(again);
        awaitUp(returned);
        await(replica);
        assertThat(digest(returned)).isEqualTo(digest(replica));
    }

    /** It would keep its estimate in the value. */
    @Test
    void estimatesOfAReplica_changeNothing() throws IOException {
        follow();
        primary.command("PFADD", "log", "a", "b");
        await();
        assertThat(replica.command("PFCOUNT", "log")).isEqualTo(":2\r\n");
        primary.command("PFADD", "log", "c");
        await();
        assertThat(replica.command("PFCOUNT", "log")).isEqualTo(":3\r\n");
        assertThat(primary.infoLong("sync_full")).isOne();
    }

    /** The primary's machine does not answer. */
    @Test
    void connecting_canBeGivenUp() throws IOException {
        try (ServerSocket full = new ServerSocket(0, 1)) {
            List<Socket> queued = new ArrayList<>();
            try {
                for (int i = 0; i < 2; i++) {
                    queued.add(new Socket(InetAddress.getLoopbackAddress(), full.getLocalPort()));
                }
                replica.command("REPLICAOF", "127.0.0.1", Integer.toString(full.getLocalPort()));
                while (!replica.call("ROLE").elements().get(3).text().equals("connecting")) {
                    Polling.pause();
                }
                assertThat(replica.command("REPLICAOF", "NO", "ONE")).isEqualTo(OK);
                assertThat(replica.command("SET", "key", "1")).isEqualTo(OK);
            } finally {
                for (Socket each : queued) {
                    each.close();
                }
            }
        }
    }

    @Test
    void messages_reachSubscribersAtTheReplica() throws IOException {
        follow();
        RawClient subscriber = servers.connect(replicaServer);
        subscriber.command("SUBSCRIBE", "channel");
        primary.command("PUBLISH", "channel", "message");
        assertThat(subscriber.read().toString()).contains("message").contains("channel");
    }

    private VarveServer start(String name, SettableTicker ticker) throws IOException {
        ServerConfig config = config(name);
        return servers.start(config, Cache.open(config.cacheConfig().withTicker(new ReplayClock(ticker))));
    }

    @Test
    void afterReplicaOfNoOne_theServerIsAPrimaryWithTheData() throws IOException {
        primary.command("SET", "key", "value", "PX", "1");
        primary.command("SET", "kept", "1");
        follow();
        String id = replica.info("master_replid");
        assertThat(replica.command("REPLICAOF", "NO", "ONE")).isEqualTo(OK);
        assertThat(replica.command("INCR", "kept")).isEqualTo(":2\r\n");
        assertThat(replica.info("role")).isEqualTo("master");
        assertThat(replica.info("master_replid2")).isEqualTo(id);
        assertThat(replica.info("master_replid")).isNotEqualTo(id);
        assertThat(replica.infoLong("second_repl_offset")).isPositive();
        while (replica.command("DBSIZE").equals(":2\r\n")) {
            Polling.pause();
        }
        assertThat(replica.call("CONFIG", "GET", "replicaof").elements().getLast().text()).isEmpty();
    }

    /** Both had the same history up to the change of the primary. */
    @Test
    void anotherReplica_continuesAtTheNewPrimary_andSoDoesTheOldOne() throws IOException {
        VarveServer otherServer = servers.start(config("other"));
        RawClient other = servers.connect(otherServer);
        follow();
        follow(other, primaryServer);
        primary.command("SET", "key", "1");
        assertThat(primary.command("WAIT", "2", "0")).isEqualTo(":2\r\n");
        assertThat(replica.command("REPLICAOF", "NO", "ONE")).isEqualTo(OK);
        assertThat(replica.command("INCR", "key")).isEqualTo(":2\r\n");
        follow(other, replicaServer);
        follow(primary, replicaServer);
        replica.command("SET", "fence", "1");
        assertThat(replica.command("WAIT", "2", "0")).isEqualTo(":2\r\n");
        for (RawClient each : List.of(other, primary)) {
            assertThat(digest(each)).isEqualTo(digest(replica));
            assertThat(each.command("INCR", "key")).isEqualTo(READ_ONLY);
        }
        assertThat(replica.infoLong("sync_full")).isZero();
        assertThat(replica.infoLong("sync_partial_ok")).isEqualTo(2);
    }

    @Test
    void failover_handsTheRoleOver_withoutTheLossOfAWrite() throws IOException {
        follow();
        assertThat(primary.command("FAILOVER", "TO", "127.0.0.1", "1"))
                .startsWith("-ERR FAILOVER target HOST and PORT");
        assertThat(primary.command("FAILOVER")).isEqualTo(OK);
        long acknowledged = 0;
        String reply = primary.command("INCR", "counter");
        while (reply.startsWith(":")) {
            acknowledged = Long.parseLong(reply.substring(1).strip());
            reply = primary.command("INCR", "counter");
        }
        assertThat(reply).isEqualTo(READ_ONLY);
        awaitUp(primary);
        assertThat(replica.command("INCR", "counter")).isEqualTo(":" + (acknowledged + 1) + "\r\n");
        assertThat(replica.infoLong("sync_full")).isZero();
        await(replica);
        assertThat(primary.call("GET", "counter").text()).isEqualTo(Long.toString(acknowledged + 1));
        assertThat(primary.info("master_failover_state")).isEqualTo("no-failover");
        assertThat(replica.command("FAILOVER", "ABORT")).isEqualTo("-ERR No failover in progress.\r\n");
    }

    @Test
    void transactionsOfEachSize_areApplied() throws IOException {
        follow();
        for (int commands : new int[] {2, 200, 3000}) {
            primary.queue("MULTI");
            for (int i = 0; i < commands; i++) {
                primary.queue("RPUSH", "list" + commands, "x".repeat(500) + i);
            }
            primary.queue("EXEC");
            primary.flush();
            for (int i = 0; i < commands + 2; i++) {
                primary.read();
            }
        }
        primary.command("SET", "large", "x".repeat(3 << 20));
        await();
        assertThat(digest(replica)).isEqualTo(digest(primary));
        assertThat(replica.command("LLEN", "list3000")).isEqualTo(":3000\r\n");
        assertThat(replica.infoLong("master_refused_commands")).isZero();
    }

    @Test
    void theLogOfAReplica_hasItsData() throws IOException {
        primary.command("SET", "before", "1");
        follow();
        assertThat(replica.command("CONFIG", "SET", "appendonly", "yes")).isEqualTo(OK);
        while (replica.infoLong("aof_rewrite_in_progress") == 1 || replica.infoLong("aof_rewrites") < 1) {
            Polling.pause();
        }
        transactionsOfEachSize_areLogged();
        String digest = digest(primary);
        replicaServer.close();
        VarveServer again = servers.start(config("replica", "appendonly yes"));
        RawClient client = servers.connect(again);
        assertThat(digest(client)).isEqualTo(digest);
        assertThat(client.info("role")).isEqualTo("master");
    }

    private void transactionsOfEachSize_areLogged() throws IOException {
        primary.command("SELECT", "3");
        primary.queue("MULTI");
        for (int i = 0; i < 3000; i++) {
            primary.queue("RPUSH", "list", "x".repeat(500) + i);
        }
        primary.queue("EXEC");
        primary.flush();
        for (int i = 0; i < 3002; i++) {
            primary.read();
        }
        primary.command("MULTI");
        primary.command("SET", "a", "1");
        primary.command("INCR", "a");
        primary.command("EXEC");
        await();
        assertThat(primary.call("WAITAOF", "0", "1", "0").elements().getLast().integer()).isOne();
    }

    @Test
    void replicaThatHasSavedASnapshot_continuesAfterARestart() throws IOException {
        primary.command("SELECT", "5");
        primary.command("SET", "before", "1", "PX", "1000000");
        VarveServer saving = servers.start(config("saving", "save 3600 1", "replicaof 127.0.0.1 "
                + primaryServer.port()));
        RawClient client = servers.connect(saving);
        awaitUp(client);
        primary.command("SET", "expired", "1", "PX", "1");
        for (int i = 0; i < 100; i++) {
            primary.command("SET", "prolonged" + i, "1", "PX", "500");
        }
        await();
        saving.close();
        primary.command("INCR", "before");
        for (int i = 0; i < 100; i++) {
            primary.command("PERSIST", "prolonged" + i);
        }
        primary.command("SET", "clock", "1", "PX", "600");
        while (primary.command("EXISTS", "clock").equals(":1\r\n")) {
            Polling.pause();
        }
        VarveServer again = servers.start(config("saving", "save 3600 1", "replicaof 127.0.0.1 "
                + primaryServer.port()));
        client = servers.connect(again);
        awaitUp(client);
        await();
        assertThat(digest(client)).isEqualTo(digest(primary));
        assertThat(primary.infoLong("sync_full")).isOne();
        assertThat(primary.infoLong("sync_partial_ok")).isOne();
    }

    /** Replicas of another history could confirm it later, or nobody ever. */
    @Test
    void waitsOfAPrimaryThatBecomesAReplica_end() throws IOException {
        RawClient second = servers.connect(primaryServer);
        RawClient admin = servers.connect(primaryServer);
        for (RawClient waiting : List.of(primary, second)) {
            waiting.command("SET", "key", "value");
        }
        primary.queue("WAIT", "5", "0");
        primary.flush();
        second.queue("WAITAOF", "0", "5", "0");
        second.flush();
        while (admin.infoLong("blocked_clients") < 2) {
            Polling.pause();
        }
        assertThat(admin.command("REPLICAOF", "127.0.0.1", Integer.toString(replicaServer.port()))).isEqualTo(OK);
        for (RawClient waiting : List.of(primary, second)) {
            assertThat(waiting.read().text()).startsWith("UNBLOCKED ");
        }
    }

    private static boolean isWaiting(String thread, String method) {
        return Thread.getAllStackTraces().entrySet().stream().anyMatch(entry -> entry.getKey().getName().equals(thread)
                && List.of(entry.getValue()).stream().anyMatch(frame -> frame.getMethodName().equals(method)));
    }

    /** It may have been let through before writes were held: the replica has not received it yet. */
    @Test
    void failover_waitsForAWriteThatRuns() throws IOException {
        ServerConfig config = config("held");
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer held = VarveServer.start(config, cache); RawClient client = new RawClient(held.port())) {
            follow(replica, held);
            CacheSession session = cache.newSession();
            ShardSet shard = new ShardSet(cache.shardCount());
            shard.add(0);
            session.lock(shard);
            try {
                assertThat(client.command("FAILOVER")).isEqualTo(OK);
                while (!isWaiting("varve-failover", "awaitOlderCommands")) {
                    Polling.pause();
                }
                assertThat(replica.info("role")).isEqualTo("slave");
            } finally {
                session.unlock(shard);
            }
            while (!client.info("role").equals("slave")) {
                Polling.pause();
            }
        }
    }

    @Test
    void passwordAndUser_areSent_andAWrongPasswordIsReported() throws IOException {
        primary.command("ACL", "SETUSER", "follower", "on", ">secret", "+psync", "+replconf", "+ping");
        primary.command("CONFIG", "SET", "requirepass", "other");
        replica.command("REPLICAOF", "127.0.0.1", Integer.toString(primaryServer.port()));
        while (!replica.info("master_link_failure").contains("requires a password")) {
            Polling.pause();
        }
        replica.command("CONFIG", "SET", "masterauth", "wrong", "masteruser", "follower");
        while (!replica.info("master_link_failure").contains("does not accept masterauth")) {
            Polling.pause();
        }
        replica.command("CONFIG", "SET", "masterauth", "secret");
        awaitUp(replica);
    }

    @Test
    void overTls() throws IOException, GeneralSecurityException, InterruptedException {
        TestCertificates certificates = TestCertificates.in(Files.createDirectories(directory.resolve("tls")));
        String[] tls = {"tls-cert-file " + certificates.certificate("server"),
                "tls-key-file " + certificates.key("server"), "tls-ca-cert-file " + certificates.certificate("ca"),
                "tls-replication yes"};
        String[] withPort = List.of(tls[0], tls[1], tls[2], tls[3], "tls-port " + freePort(), "port " + freePort())
                .toArray(String[]::new);
        VarveServer first = servers.start(config("first", withPort));
        RawClient from = servers.connect(first);
        from.command("SET", "key", "value");
        VarveServer second = servers.start(config("second", List.of(tls[0], tls[1], tls[2], tls[3],
                "tls-port " + freePort(), "port " + freePort(), "replicaof 127.0.0.1 " + first.tlsPort())
                .toArray(String[]::new)));
        RawClient to = servers.connect(second);
        awaitUp(to);
        assertThat(to.call("GET", "key").text()).isEqualTo("value");
        await(from);
        assertThat(digest(to)).isEqualTo(digest(from));
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    @Test
    void staleData_isServedUnlessTheSettingsSayNo() throws IOException {
        primary.command("SET", "key", "value");
        follow();
        primaryServer.close();
        while (!replica.info("master_link_status").equals("down")) {
            Polling.pause();
        }
        assertThat(replica.call("GET", "key").text()).isEqualTo("value");
        replica.command("MULTI");
        replica.command("GET", "key");
        RawClient admin = servers.connect(replicaServer);
        admin.command("CONFIG", "SET", "replica-serve-stale-data", "no");
        assertThat(replica.command("EXEC")).startsWith("-EXECABORT").contains("MASTERDOWN");
        assertThat(replica.command("GET", "key")).startsWith("-MASTERDOWN Link with MASTER is down");
        assertThat(replica.command("PING")).startsWith("-MASTERDOWN");
        assertThat(replica.command("REPLICAOF", "NO", "ONE")).isEqualTo(OK);
        assertThat(replica.call("GET", "key").text()).isEqualTo("value");
    }

    @Test
    void clientsThatWaitForKeys_areUnblocked() throws IOException {
        RawClient waiting = servers.connect(replicaServer);
        waiting.queue("BLPOP", "list", "0");
        waiting.flush();
        while (replica.infoLong("blocked_clients") == 0) {
            Polling.pause();
        }
        replica.command("REPLICAOF", "127.0.0.1", Integer.toString(primaryServer.port()));
        assertThat(waiting.reply()).startsWith("-UNBLOCKED force unblocked from blocking operation");
        awaitUp(replica);
        primary.command("RPUSH", "list", "a");
        await();
        assertThat(replica.command("LLEN", "list")).isEqualTo(":1\r\n");
    }

    @Test
    void aServerThatIsNoRedis_isReported_andTheDataKept() throws IOException {
        replica.command("SET", "key", "value");
        try (ServerSocket listening = new ServerSocket(0)) {
            replica.command("REPLICAOF", "127.0.0.1", Integer.toString(listening.getLocalPort()));
            for (String answer : List.of("HTTP/1.1 400\r\n", "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+WHAT\r\n",
                    "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+FULLRESYNC id x\r\n",
                    "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+FULLRESYNC id 1\r\nno snapshot\r\n",
                    "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+FULLRESYNC id 1\r\n$100\r\nREDIS")) {
                try (Socket accepted = listening.accept()) {
                    accepted.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                    accepted.shutdownOutput();
                    accepted.getInputStream().readAllBytes();
                }
            }
            assertThat(replica.info("master_link_failure")).isNotEmpty();
            assertThat(replica.call("GET", "key").text()).isEqualTo("value");
        }
    }
}
