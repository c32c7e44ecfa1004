package io.varve.proxy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.testing.RedisMember;
import io.varve.proxy.testing.TestProxy;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the proxy over three plain servers with real clients. Confined to the test's thread. */
class ProxyIT {
    private static TestProxy proxy;

    @BeforeAll
    static void start() throws IOException {
        proxy = TestProxy.overServers(3, "--member-reply-timeout-ms", "60000");
    }

    @AfterAll
    static void stop() {
        proxy.close();
    }

    @BeforeEach
    void empty() throws IOException {
        proxy.call("FLUSHALL");
    }

    private static Jedis jedis() {
        return new Jedis("127.0.0.1", proxy.port(), 20_000);
    }

    @Test
    void keys_areSpreadOverAllMembers_andCountedTogether() throws IOException {
        try (Jedis jedis = jedis()) {
            for (int i = 0; i < 300; i++) {
                jedis.set("key" + i, "value" + i);
            }
            assertThat(jedis.dbSize()).isEqualTo(300);
            for (RedisMember member : proxy.members()) {
                assertThat(member.call("DBSIZE").integer()).isBetween(50L, 150L);
            }
            assertThat(jedis.keys("key1?")).hasSize(10);
            assertThat(jedis.randomKey()).startsWith("key");
            jedis.flushAll();
            assertThat(jedis.dbSize()).isZero();
            assertThat(jedis.randomKey()).isNull();
        }
    }

    @Test
    void multiKeyCommands_areSplit_andTheRepliesKeepTheOrderOfTheKeys() {
        try (Jedis jedis = jedis()) {
            jedis.mset("a", "1", "b", "2", "c", "3", "d", "4", "a", "5");
            assertThat(jedis.mget("d", "none", "c", "b", "a", "d")).containsExactly("4", null, "3", "2", "5", "4");
            assertThat(jedis.exists("a", "a", "b", "none")).isEqualTo(3);
            assertThat(jedis.touch("a", "b", "none")).isEqualTo(2);
            assertThat(jedis.unlink("a", "none")).isEqualTo(1);
            assertThat(jedis.del("a", "b", "c", "d")).isEqualTo(3);
        }
    }

    @Test
    void splitReplies_withLongValues_areWhole() {
        String value = "x".repeat(200_000);
        try (Jedis jedis = jedis()) {
            jedis.mset("a", value + "a", "b", value + "b", "c", value + "c");
            assertThat(jedis.mget("c", "a", "b")).containsExactly(value + "c", value + "a", value + "b");
            String large = "y".repeat(20_000_000);
            jedis.set("large", large);
            assertThat(jedis.get("large")).isEqualTo(large);
        }
    }

    @Test
    void pipelinedReplies_keepTheirOrder() {
        try (Jedis jedis = jedis()) {
            Pipeline pipeline = jedis.pipelined();
            List<Response<String>> replies = new java.util.ArrayList<>();
            for (int i = 0; i < 5000; i++) {
                pipeline.set("k" + i, Integer.toString(i));
                replies.add(pipeline.get("k" + i));
            }
            pipeline.sync();
            for (int i = 0; i < replies.size(); i++) {
                assertThat(replies.get(i).get()).isEqualTo(Integer.toString(i));
            }
        }
    }

    @Test
    void scan_visitsTheKeysOfAllMembersOnce() throws IOException {
        Set<String> seen = new HashSet<>();
        try (BlockingConnection client = proxy.connect()) {
            for (int i = 0; i < 200; i++) {
                client.call("SET", "s" + i, "v");
            }
            String cursor = "0";
            do {
                List<Reply> page = client.call("SCAN", cursor, "COUNT", "7", "MATCH", "s*").elements();
                cursor = page.getFirst().textOrEmpty();
                page.get(1).elements().forEach(name -> seen.add(name.textOrEmpty()));
            } while (!cursor.equals("0"));
            assertThat(client.call("SCAN", "x").text()).isEqualTo("ERR invalid cursor");
        }
        assertThat(seen).hasSize(200);
    }

    @Test
    void transactions_runInOneSlot() {
        try (Jedis jedis = jedis(); Jedis other = jedis()) {
            Transaction transaction = jedis.multi();
            Response<String> set = transaction.set("{t}a", "1");
            Response<Long> incremented = transaction.incr("{t}a");
            transaction.exec();
            assertThat(set.get()).isEqualTo("OK");
            assertThat(incremented.get()).isEqualTo(2);

            jedis.watch("{t}a");
            assertThat(jedis.get("{t}a")).isEqualTo("2");
            other.set("{t}a", "changed");
            Transaction failing = jedis.multi();
            failing.set("{t}a", "lost");
            assertThat(failing.exec()).isNull();
            assertThat(jedis.get("{t}a")).isEqualTo("changed");

            jedis.watch("{t}a");
            Transaction succeeding = jedis.multi();
            succeeding.set("{t}a", "won");
            assertThat(succeeding.exec()).containsExactly("OK");
            assertThat(other.get("{t}a")).isEqualTo("won");
        }
    }

    @Test
    void transactions_inSeveralSlots_areRefused() throws IOException {
        try (BlockingConnection client = proxy.connect()) {
            client.call("MULTI");
            assertThat(client.call("SET", "a", "1").text()).isEqualTo("QUEUED");
            assertThat(client.call("SET", "b", "1").text()).startsWith("CROSSSLOT");
            assertThat(client.call("EXEC").text()).startsWith("EXECABORT");
            assertThat(client.call("GET", "a").text()).isNull();
            client.call("MULTI");
            assertThat(client.call("DBSIZE").text()).contains("in a transaction");
            assertThat(client.call("DISCARD").text()).isEqualTo("OK");
            assertThat(client.call("EXEC").text()).isEqualTo("ERR EXEC without MULTI");
            client.call("MULTI");
            assertThat(client.call("EXEC").elements()).isEmpty();
            assertThat(client.call("SINTER", "a", "b").text()).startsWith("CROSSSLOT");
        }
    }

    @Test
    void aTransaction_doesNotRun_ifTheMemberRefusesMulti() throws Exception {
        RedisMember member = RedisMember.start();
        member.call("ACL", "SETUSER", "proxy", "on", ">secret", "~*", "+@read", "+@write", "+@connection", "+ping");
        try (TestProxy guarded = TestProxy.over(List.of(member), "--member-kind", "plain", "--member-user", "proxy",
                "--member-password", "secret"); BlockingConnection client = guarded.connect()) {
            assertThat(client.call("SET", "k", "1").text()).isEqualTo("OK");
            for (int i = 0; i < 2; i++) {
                assertThat(client.call("MULTI").text()).isEqualTo("OK");
                assertThat(client.call("INCR", "k").text()).isEqualTo("QUEUED");
                assertThat(client.call("EXEC").text()).startsWith("EXECABORT").contains("NOPERM");
            }
            assertThat(client.call("GET", "k").text()).isEqualTo("1");
        }
    }

    @Test
    void aTransactionAfterWatch_doesNotRun_ifTheMemberRefusesMulti() throws Exception {
        RedisMember member = RedisMember.start();
        member.call("ACL", "SETUSER", "proxy", "on", ">secret", "~*", "+@all", "-multi");
        try (TestProxy guarded = TestProxy.over(List.of(member), "--member-kind", "plain", "--member-user", "proxy",
                "--member-password", "secret"); BlockingConnection client = guarded.connect()) {
            assertThat(client.call("WATCH", "k").text()).isEqualTo("OK");
            client.call("MULTI");
            client.call("INCR", "k");
            assertThat(client.call("EXEC").text()).startsWith("EXECABORT").contains("NOPERM");
            assertThat(client.call("GET", "k").text()).isNull();
        }
    }

    @Test
    void blockingCommands_delayNoOtherClient() throws Exception {
        try (BlockingConnection waiting = proxy.connect(); BlockingConnection other = proxy.connect()) {
            waiting.send("BLPOP", "list", "0");
            waiting.send("GET", "after");
            awaitBlockedClient();
            for (int i = 0; i < 100; i++) {
                assertThat(other.call("SET", "key" + i, "v").text()).isEqualTo("OK");
            }
            assertThat(other.call("RPUSH", "list", "element").integer()).isEqualTo(1);
            assertThat(waiting.read().elements()).extracting(Reply::text).containsExactly("list", "element");
            assertThat(waiting.read().text()).isNull();
            assertThat(waiting.call("BLPOP", "list", "0.01").text()).isNull();
        }
    }

    @Test
    void aBlockedClientThatGoes_takesNoElement() throws Exception {
        try (BlockingConnection other = proxy.connect()) {
            try (BlockingConnection waiting = proxy.connect()) {
                waiting.send("BLPOP", "queue", "0");
                awaitBlockedClient();
            }
            await().atMost(20, TimeUnit.SECONDS).until(() -> blockedClients() == 0);
            other.call("RPUSH", "queue", "element");
            assertThat(other.call("LLEN", "queue").integer()).isEqualTo(1);
        }
    }

    @Test
    void aBlockedClientThatGoes_takesNoElement_afterWatch() throws Exception {
        try (BlockingConnection other = proxy.connect()) {
            try (BlockingConnection waiting = proxy.connect()) {
                waiting.call("WATCH", "queue");
                waiting.send("BLPOP", "queue", "0");
                awaitBlockedClient();
            }
            await().atMost(20, TimeUnit.SECONDS).until(() -> blockedClients() == 0);
            other.call("RPUSH", "queue", "element");
            assertThat(other.call("LLEN", "queue").integer()).isEqualTo(1);
        }
    }

    private static void awaitBlockedClient() {
        await().atMost(20, TimeUnit.SECONDS).until(() -> blockedClients() == 1);
    }

    private static long blockedClients() throws IOException {
        long blocked = 0;
        for (RedisMember member : proxy.members()) {
            String text = member.call("INFO", "clients").textOrEmpty();
            int at = text.indexOf("blocked_clients:") + "blocked_clients:".length();
            blocked += Long.parseLong(text.substring(at, text.indexOf('\r', at)));
        }
        return blocked;
    }

    @Test
    void subscribers_receiveMessagesOfChannelsAndPatterns() throws Exception {
        try (BlockingConnection listener = proxy.connect(); BlockingConnection publisher = proxy.connect()) {
            listener.send("SUBSCRIBE", "a", "b", "c");
            assertThat(texts(listener.read())).containsExactly("subscribe", "a", "1");
            assertThat(texts(listener.read())).containsExactly("subscribe", "b", "2");
            assertThat(texts(listener.read())).containsExactly("subscribe", "c", "3");
            assertThat(texts(listener.call("PSUBSCRIBE", "news.*"))).containsExactly("psubscribe", "news.*", "4");
            for (String channel : List.of("a", "b", "c")) {
                assertThat(publisher.call("PUBLISH", channel, "to " + channel).integer()).isEqualTo(1);
                assertThat(texts(listener.read())).containsExactly("message", channel, "to " + channel);
            }
            for (String channel : List.of("news.1", "news.2", "news.3", "news.4")) {
                assertThat(publisher.call("PUBLISH", channel, "text").integer()).isEqualTo(1);
                assertThat(texts(listener.read())).containsExactly("pmessage", "news.*", channel, "text");
            }
            assertThat(listener.call("GET", "a").text()).startsWith("ERR Can't execute 'get'");
            assertThat(texts(listener.call("PING"))).containsExactly("pong", "");
            assertThat(texts(listener.call("UNSUBSCRIBE", "a"))).containsExactly("unsubscribe", "a", "3");
            assertThat(publisher.call("PUBLISH", "a", "unheard").integer()).isZero();
            assertThat(texts(listener.call("SSUBSCRIBE", "shard"))).containsExactly("ssubscribe", "shard", "1");
            assertThat(publisher.call("SPUBLISH", "shard", "m").integer()).isEqualTo(1);
            assertThat(texts(listener.read())).containsExactly("smessage", "shard", "m");
        }
    }

    @Test
    void aRefusedSubscription_leavesNoState() throws Exception {
        List<RedisMember> members = List.of(RedisMember.start(), RedisMember.start());
        members.getFirst().call("ACL", "SETUSER", "proxy", "on", ">secret", "+@all", "~*", "resetchannels");
        members.getLast().call("ACL", "SETUSER", "proxy", "on", ">secret", "+@all", "~*", "resetchannels");
        try (TestProxy guarded = TestProxy.over(members, "--member-kind", "plain", "--member-user", "proxy",
                "--member-password", "secret");
                BlockingConnection client = guarded.connect()) {
            assertThat(client.call("PSUBSCRIBE", "news.*").text()).startsWith("NOPERM");
            assertThat(client.call("GET", "none").text()).isNull();
            members.getLast().call("ACL", "SETUSER", "proxy", "allchannels");
            for (int i = 0; i < 10; i++) {
                assertThat(client.call("PSUBSCRIBE", "news.*").text()).startsWith("NOPERM");
            }
            await().atMost(20, TimeUnit.SECONDS).until(() -> members.getLast().call("PUBSUB", "NUMPAT").integer() == 0);
            members.getFirst().call("ACL", "SETUSER", "proxy", "allchannels");
            assertThat(texts(client.call("PSUBSCRIBE", "news.*"))).containsExactly("psubscribe", "news.*", "1");
        }
    }

    private static List<String> texts(Reply reply) {
        return reply.elements().stream().map(Reply::textOrEmpty).toList();
    }

    @Test
    void lettuce_worksInResp3_withMessages() throws Exception {
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", proxy.port()));
        try (StatefulRedisConnection<String, String> connection = client.connect();
                StatefulRedisPubSubConnection<String, String> listener = client.connectPubSub()) {
            connection.sync().hset("hash", "field", "value");
            assertThat(connection.sync().hgetall("hash")).containsEntry("field", "value");
            assertThat(connection.sync().zadd("zset", 1.5, "member")).isEqualTo(1);
            assertThat(connection.sync().zscore("zset", "member")).isEqualTo(1.5);
            assertThat(connection.sync().get("none")).isNull();
            LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
            listener.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String channel, String message) {
                    messages.add(channel + "=" + message);
                }
            });
            listener.sync().subscribe("lettuce");
            connection.sync().publish("lettuce", "hello");
            assertThat(messages.poll(20, TimeUnit.SECONDS)).isEqualTo("lettuce=hello");
        } finally {
            client.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    @Test
    void redisCli_runsItsCommands() throws Exception {
        Process cli = new ProcessBuilder("redis-cli", "-p", Integer.toString(proxy.port())).redirectErrorStream(true)
                .start();
        cli.getOutputStream().write("SET a 1\nMGET a b\nSELECT 1\nSELECT 0\nCONFIG GET x\n"
                .getBytes(StandardCharsets.UTF_8));
        cli.getOutputStream().close();
        String output = new String(cli.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(output).contains("OK\n1\n\n").contains("ERR SELECT is not allowed in cluster mode")
                .contains("ERR The proxy does not serve 'config|get'");
    }

    @Test
    void passwords_areRequiredOfClients_andGivenToMembers() throws IOException {
        try (TestProxy guarded = TestProxy.over(
                List.of(RedisMember.start("--requirepass", "inner")), "--requirepass", "outer", "--member-password",
                "inner", "--member-kind", "plain"); BlockingConnection client = guarded.connect()) {
            assertThat(client.call("GET", "a").text()).isEqualTo("NOAUTH Authentication required.");
            assertThat(client.call("AUTH", "wrong").text()).startsWith("WRONGPASS");
            assertThat(client.call("HELLO", "3", "AUTH", "default", "outer").kind()).isEqualTo('%');
            assertThat(client.call("SET", "a", "1").text()).isEqualTo("OK");
            assertThat(client.call("GET", "none").kind()).isEqualTo('_');
            assertThat(client.call("RESET").text()).isEqualTo("RESET");
            assertThat(client.call("GET", "a").text()).isEqualTo("NOAUTH Authentication required.");
        }
    }

    @Test
    void identicalReadsInFlight_shareOneAnswer() throws Exception {
        proxy.call("SET", "hot", "value");
        RedisMember owner = owner("hot");
        long before = proxy.info("merged_reads");
        try (BlockingConnection first = proxy.connect();
                BlockingConnection second = proxy.connect();
                BlockingConnection third = proxy.connect();
                BlockingConnection fourth = proxy.connect()) {
            owner.freeze();
            for (BlockingConnection client : List.of(first, second, third, fourth)) {
                client.send("GET", "hot");
                client.send("GET", "hot");
            }
            // With two event loops at least six of the eight reads join one of the others.
            await().atMost(20, TimeUnit.SECONDS).until(() -> proxy.info("merged_reads") >= before + 6);
            owner.thaw();
            for (BlockingConnection client : List.of(first, second, third, fourth)) {
                assertThat(client.read().text()).isEqualTo("value");
                assertThat(client.read().text()).isEqualTo("value");
            }
        } finally {
            owner.thaw();
        }
    }

    @Test
    void aReadAfterAPipelinedWrite_seesTheWrite_whileAnOlderReadIsInFlight() throws Exception {
        proxy.call("SET", "own", "old");
        RedisMember owner = owner("own");
        try (BlockingConnection reader = proxy.connect(); BlockingConnection writer = proxy.connect()) {
            owner.freeze();
            long before = proxy.info("total_commands_processed");
            reader.send("GET", "own");
            await().atMost(20, TimeUnit.SECONDS).until(() -> proxy.info("total_commands_processed") > before + 1);
            writer.send("SET", "own", "new");
            writer.send("GET", "own");
            owner.thaw();
            assertThat(writer.read().text()).isEqualTo("OK");
            assertThat(writer.read().text()).isEqualTo("new");
            assertThat(reader.read().text()).isIn("old", "new");
        } finally {
            owner.thaw();
        }
    }

    private static RedisMember owner(String key) throws IOException {
        for (RedisMember member : proxy.members()) {
            if (member.call("EXISTS", key).integer() == 1) {
                return member;
            }
        }
        throw new AssertionError("no member has " + key);
    }
}
