package io.varve.server.clients;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.LMPopArgs;
import io.lettuce.core.LMoveArgs;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests popular client libraries against a real server, over both protocols. Confined to the test's thread. */
class ClientsIT {
    private static final String PASSWORD = "secret";
    private static final int MESSAGES = 500;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.with("io-threads 2", "maxmemory 128mb");
    @RegisterExtension
    static final ServerExtension locked = ServerExtension.with("io-threads 2", "maxmemory 128mb",
            "requirepass " + PASSWORD);

    @BeforeEach
    void empty() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.command("FLUSHALL")).isEqualTo("+OK\r\n");
        }
    }

    // --- Lettuce

    private static RedisClient lettuce(ProtocolVersion protocol, int port) {
        RedisClient client = RedisClient.create(RedisURI.builder().withHost("127.0.0.1").withPort(port)
                .withTimeout(Duration.ofSeconds(20)).build());
        client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
        return client;
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettuceWaiting(ProtocolVersion protocol) {
        try (StatefulRedisConnection<String, String> connection = server.connectLettuce(protocol)) {
            RedisCommands<String, String> redis = connection.sync();
            assertThat(redis.set("k", "v", SetArgs.Builder.ex(100))).isEqualTo("OK");
            assertThat(redis.get("k")).isEqualTo("v");
            assertThat(redis.get("none")).isNull();
            assertThat(redis.ttl("k")).isBetween(90L, 100L);
            assertThat(redis.expire("k", 200)).isTrue();
            assertThat(redis.persist("k")).isTrue();
            assertThat(redis.set("k", "w", SetArgs.Builder.nx())).isNull();
            assertThat(redis.incrby("n", 41)).isEqualTo(41);
            assertThat(redis.incrbyfloat("n", 0.5)).isEqualTo(41.5);
            assertThat(redis.mset(Map.of("a", "1", "b", "2"))).isEqualTo("OK");
            assertThat(redis.mget("a", "none", "b")).containsExactly(KeyValue.just("a", "1"), KeyValue.empty("none"),
                    KeyValue.just("b", "2"));
            assertThat(redis.hset("h", Map.of("f", "1", "g", "2"))).isEqualTo(2);
            assertThat(redis.hgetall("h")).isEqualTo(Map.of("f", "1", "g", "2"));
            assertThat(redis.hincrby("h", "f", 6)).isEqualTo(7);
            assertThat(redis.hrandfield("h")).isIn("f", "g");
            assertThat(redis.hscan("h").getMap()).isEqualTo(Map.of("f", "7", "g", "2"));
            assertThatThrownBy(() -> redis.incr("h")).hasMessageStartingWith("WRONGTYPE");
            assertThat(redis.type("h")).isEqualTo("hash");
            assertThat(redis.exists("a", "b", "none")).isEqualTo(2);
            assertThat(redis.del("a", "b")).isEqualTo(2);
            assertThat(redis.info("memory")).contains("used_memory:");
            assertThat(redis.configGet("maxmemory")).containsEntry("maxmemory", "134217728");
            assertThat(redis.clientInfo()).contains("lib-name=Lettuce");
            assertThat(redis.dbsize()).isEqualTo(3);
            assertThat(redis.flushdb()).isEqualTo("OK");
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettuceScans(ProtocolVersion protocol) {
        try (StatefulRedisConnection<String, String> connection = server.connectLettuce(protocol)) {
            RedisCommands<String, String> redis = connection.sync();
            for (int i = 0; i < 2_000; i++) {
                redis.set("key:" + i, "v");
            }
            List<String> found = new ArrayList<>();
            ScanIterator.scan(redis, ScanArgs.Builder.matches("key:1*").limit(100)).forEachRemaining(found::add);
            assertThat(found).doesNotHaveDuplicates()
                    .containsAll(IntStream.range(0, 2_000).mapToObj(i -> "key:" + i).filter(k -> k.startsWith("key:1"))
                            .toList());
            KeyScanCursor<String> first = redis.scan(ScanArgs.Builder.limit(10));
            assertThat(first.isFinished()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettucePipelines(ProtocolVersion protocol) throws Exception {
        try (StatefulRedisConnection<String, String> connection = server.connectLettuce(protocol)) {
            RedisAsyncCommands<String, String> redis = connection.async();
            connection.setAutoFlushCommands(false);
            List<RedisFuture<?>> futures = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                futures.add(redis.set("k" + i, "v" + i));
                futures.add(redis.expire("k" + i, 60));
                futures.add(redis.get("k" + i));
            }
            connection.flushCommands();
            assertThat(LettuceFutures.awaitAll(20, TimeUnit.SECONDS, futures.toArray(RedisFuture[]::new))).isTrue();
            for (int i = 0; i < 1_000; i++) {
                assertThat(futures.get(3 * i + 2).get()).isEqualTo("v" + i);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettuceBlocksForElements(ProtocolVersion protocol) throws Exception {
        try (StatefulRedisConnection<String, String> waiting = server.connectLettuce(protocol);
                StatefulRedisConnection<String, String> moving = server.connectLettuce(protocol);
                StatefulRedisConnection<String, String> pushing = server.connectLettuce(protocol)) {
            RedisCommands<String, String> redis = pushing.sync();
            assertThat(redis.rpush("list", "a", "b", "c")).isEqualTo(3);
            assertThat(redis.lrange("list", 0, -1)).containsExactly("a", "b", "c");
            assertThat(redis.lpos("list", "b")).isEqualTo(1);
            assertThat(redis.lmpop(LMPopArgs.Builder.left().count(2), "none", "list"))
                    .isEqualTo(KeyValue.just("list", List.of("a", "b")));
            assertThat(redis.blpop(1.5, "none", "list")).isEqualTo(KeyValue.just("list", "c"));
            assertThat(redis.blpop(0.01, "list")).isNull();
            var moved = moving.async().blmove("jobs", "doing", LMoveArgs.Builder.leftRight(), 0.0);
            var popped = waiting.async().blmpop(0, LMPopArgs.Builder.right().count(5), "none", "doing");
            for (int i = 0; i < 3; i++) {
                // Whether they wait already or not, each job is done once.
                assertThat(redis.rpush("jobs", "job" + i)).isPositive();
                assertThat(moved.get(20, TimeUnit.SECONDS)).isEqualTo("job" + i);
                assertThat(popped.get(20, TimeUnit.SECONDS))
                        .isEqualTo(KeyValue.just("doing", List.of("job" + i)));
                moved = moving.async().blmove("jobs", "doing", LMoveArgs.Builder.leftRight(), 0.0);
                popped = waiting.async().blmpop(0, LMPopArgs.Builder.right().count(5), "none", "doing");
            }
            assertThat(redis.dbsize()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettuceReactive(ProtocolVersion protocol) {
        try (StatefulRedisConnection<String, String> connection = server.connectLettuce(protocol)) {
            var redis = connection.reactive();
            List<String> read = Flux.range(0, 500).flatMap(i -> redis.set("k" + i, "v" + i).thenReturn(i))
                    .flatMap(i -> redis.get("k" + i)).collectList().block(Duration.ofSeconds(20));
            assertThat(read).hasSize(500).contains("v0", "v499");
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettuceWithAPassword(ProtocolVersion protocol) {
        RedisURI uri = RedisURI.builder().withHost("127.0.0.1").withPort(locked.port())
                .withPassword(PASSWORD.toCharArray()).withDatabase(3).withClientName("me").build();
        try (RedisClient client = RedisClient.create(uri)) {
            client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
            try (StatefulRedisConnection<String, String> connection = client.connect()) {
                assertThat(connection.sync().clientGetname()).isEqualTo("me");
                assertThat(connection.sync().clientInfo()).contains(" db=3 ");
            }
        }
        try (RedisClient client = lettuce(protocol, locked.port())) {
            assertThatThrownBy(() -> {
                try (StatefulRedisConnection<String, String> connection = client.connect()) {
                    connection.sync().get("k");
                }
            }).hasStackTraceContaining("NOAUTH");
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettuceTransactions(ProtocolVersion protocol) {
        try (StatefulRedisConnection<String, String> connection = server.connectLettuce(protocol);
                StatefulRedisConnection<String, String> other = server.connectLettuce(protocol)) {
            RedisCommands<String, String> redis = connection.sync();
            assertThat(redis.multi()).isEqualTo("OK");
            assertThat(redis.set("k", "1")).isNull();
            assertThat(redis.incr("k")).isNull();
            assertThat(redis.hget("k", "f")).isNull();
            TransactionResult result = redis.exec();
            assertThat(result.wasDiscarded()).isFalse();
            assertThat(result).hasSize(3).startsWith("OK", 2L);
            assertThat(result.<Object>get(2)).isInstanceOf(RedisCommandExecutionException.class);
            assertThat(redis.watch("k")).isEqualTo("OK");
            assertThat(other.sync().set("k", "x")).isEqualTo("OK");
            assertThat(redis.multi()).isEqualTo("OK");
            assertThat(redis.set("k", "y")).isNull();
            assertThat(redis.exec().wasDiscarded()).isTrue();
            assertThat(redis.get("k")).isEqualTo("x");
            assertThat(redis.multi()).isEqualTo("OK");
            assertThat(redis.discard()).isEqualTo("OK");
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettuceMessages(ProtocolVersion protocol) throws Exception {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        try (RedisClient client = lettuce(protocol, server.port());
                StatefulRedisConnection<String, String> publisher = client.connect();
                StatefulRedisPubSubConnection<String, String> listener = client.connectPubSub()) {
            listener.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String channel, String message) {
                    heard.add(channel + " " + message);
                }

                @Override
                public void message(String pattern, String channel, String message) {
                    heard.add(pattern + " " + channel + " " + message);
                }

                @Override
                public void smessage(String channel, String message) {
                    heard.add("shard " + channel + " " + message);
                }
            });
            RedisPubSubCommands<String, String> redis = listener.sync();
            redis.subscribe("news", "weather");
            redis.psubscribe("w*");
            redis.ssubscribe("shard");
            // In RESP2 it is answered as if it were a message, an empty one.
            assertThat(redis.ping()).isEqualTo(protocol == ProtocolVersion.RESP2 ? "" : "PONG");
            RedisCommands<String, String> others = publisher.sync();
            assertThat(others.pubsubChannels()).containsExactlyInAnyOrder("news", "weather");
            assertThat(others.pubsubNumsub("news", "none")).isEqualTo(Map.of("news", 1L, "none", 0L));
            assertThat(others.pubsubNumpat()).isOne();
            for (int i = 0; i < MESSAGES; i++) {
                assertThat(others.publish("news", "n" + i)).isOne();
            }
            assertThat(others.publish("weather", "rain")).isEqualTo(2);
            assertThat(others.spublish("shard", "s")).isOne();
            for (int i = 0; i < MESSAGES; i++) {
                assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("news n" + i);
            }
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("weather rain");
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("w* weather rain");
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("shard shard s");
            redis.unsubscribe("news");
            redis.punsubscribe("w*");
            assertThat(others.publish("news", "nobody")).isZero();
            assertThat(others.publish("weather", "sun")).isOne();
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("weather sun");
        }
    }

    // --- Jedis

    static List<RedisProtocol> jedisProtocols() {
        return Arrays.asList(RedisProtocol.RESP2, RedisProtocol.RESP3);
    }

    @ParameterizedTest
    @MethodSource("jedisProtocols")
    void jedis(RedisProtocol protocol) {
        var config = DefaultJedisClientConfig.builder().protocol(protocol).password(PASSWORD).clientName("me")
                .socketTimeoutMillis(20_000).build();
        try (var pooled = redis.clients.jedis.RedisClient.builder()
                .hostAndPort(new HostAndPort("127.0.0.1", locked.port())).clientConfig(config).build()) {
            assertThat(pooled.flushAll()).isEqualTo("OK");
            assertThat(pooled.set("k", "v", SetParams.setParams().px(60_000).nx())).isEqualTo("OK");
            assertThat(pooled.set("k", "v", SetParams.setParams().nx())).isNull();
            assertThat(pooled.pttl("k")).isBetween(30_000L, 60_000L);
            assertThat(pooled.hset("h", Map.of("f", "1", "g", "2"))).isEqualTo(2);
            assertThat(pooled.hgetAll("h")).isEqualTo(Map.of("f", "1", "g", "2"));
            assertThat(pooled.hmget("h", "g", "none", "f")).containsExactly("2", null, "1");
            assertThat(pooled.mset("a", "1", "b", "2")).isEqualTo("OK");
            assertThat(pooled.mget("a", "none", "b")).containsExactly("1", null, "2");
            assertThat(pooled.scan("0", new ScanParams().count(1_000)).getResult()).containsExactlyInAnyOrder("k", "h",
                    "a", "b");
            assertThatThrownBy(() -> pooled.get("h")).hasMessageStartingWith("WRONGTYPE");
            List<Response<Long>> counts = new ArrayList<>();
            try (var pipeline = pooled.pipelined()) {
                for (int i = 0; i < 1_000; i++) {
                    counts.add(pipeline.incr("n"));
                }
                pipeline.sync();
            }
            assertThat(counts.getLast().get()).isEqualTo(1_000);
        }
    }

    private static redis.clients.jedis.RedisClient jedisClient(RedisProtocol protocol) {
        var config = DefaultJedisClientConfig.builder().protocol(protocol).socketTimeoutMillis(20_000).build();
        return redis.clients.jedis.RedisClient.builder().hostAndPort(new HostAndPort("127.0.0.1", server.port()))
                .clientConfig(config).build();
    }

    @ParameterizedTest
    @MethodSource("jedisProtocols")
    void jedisTransactions(RedisProtocol protocol) {
        try (var pooled = jedisClient(protocol); var transaction = pooled.multi()) {
            Response<String> set = transaction.set("k", "1");
            Response<Long> increased = transaction.incr("k");
            Response<String> wrong = transaction.hget("k", "f");
            assertThat(transaction.exec()).hasSize(3);
            assertThat(set.get()).isEqualTo("OK");
            assertThat(increased.get()).isEqualTo(2);
            assertThatThrownBy(wrong::get).hasMessageStartingWith("WRONGTYPE");
        }
        try (var pooled = jedisClient(protocol); var transaction = pooled.transaction(false)) {
            transaction.watch("k");
            assertThat(pooled.set("k", "x")).isEqualTo("OK");
            transaction.multi();
            transaction.set("k", "y");
            assertThat(transaction.exec()).isNull();
            assertThat(pooled.get("k")).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @MethodSource("jedisProtocols")
    void jedisMessages(RedisProtocol protocol) throws Exception {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        JedisPubSub listener = new JedisPubSub() {
            @Override
            public void onMessage(String channel, String message) {
                heard.add(channel + " " + message);
            }

            @Override
            public void onPMessage(String pattern, String channel, String message) {
                heard.add(pattern + " " + channel + " " + message);
            }

            @Override
            public void onSubscribe(String channel, int subscribed) {
                heard.add("subscribed " + channel + " " + subscribed);
            }

            @Override
            public void onPSubscribe(String pattern, int subscribed) {
                heard.add("subscribed " + pattern + " " + subscribed);
            }

            @Override
            public void onUnsubscribe(String channel, int subscribed) {
                heard.add("unsubscribed " + channel + " " + subscribed);
            }

            @Override
            public void onPong(String pattern) {
                heard.add("pong " + pattern);
            }
        };
        try (var pooled = jedisClient(protocol)) {
            Thread listening = Thread.ofPlatform().start(() -> pooled.subscribe(listener, "news"));
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("subscribed news 1");
            listener.psubscribe("w*");
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("subscribed w* 2");
            for (int i = 0; i < MESSAGES; i++) {
                assertThat(pooled.publish("news", "n" + i)).isOne();
            }
            assertThat(pooled.publish("weather", "rain")).isOne();
            for (int i = 0; i < MESSAGES; i++) {
                assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("news n" + i);
            }
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("w* weather rain");
            listener.punsubscribe();
            listener.unsubscribe();
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("unsubscribed news 0");
            listening.join(20_000);
            assertThat(listening.isAlive()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("jedisProtocols")
    void jedisBlocksForElements(RedisProtocol protocol) throws Exception {
        var config = DefaultJedisClientConfig.builder().protocol(protocol).socketTimeoutMillis(20_000)
                .blockingSocketTimeoutMillis(20_000).build();
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try (var pooled = redis.clients.jedis.RedisClient.builder()
                .hostAndPort(new HostAndPort("127.0.0.1", server.port())).clientConfig(config).build()) {
            assertThat(pooled.blpop(0.01, "none")).isNull();
            List<Future<List<String>>> workers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                workers.add(threads.submit(() -> {
                    List<String> jobs = new ArrayList<>();
                    for (String job = ""; !job.equals("end");) {
                        job = pooled.brpop(20.0, "none", "jobs").getValue();
                        jobs.add(job);
                    }
                    return jobs;
                }));
            }
            for (int i = 0; i < 300; i++) {
                assertThat(pooled.lpush("jobs", "job" + i)).isPositive();
            }
            assertThat(pooled.lpush("jobs", "end", "end", "end")).isPositive();
            List<String> done = new ArrayList<>();
            for (Future<List<String>> worker : workers) {
                done.addAll(worker.get(20, TimeUnit.SECONDS));
            }
            done.removeIf("end"::equals);
            assertThat(done).containsExactlyInAnyOrderElementsOf(
                    IntStream.range(0, 300).mapToObj(i -> "job" + i).toList());
            assertThat(pooled.exists("jobs")).isFalse();
        } finally {
            threads.shutdownNow();
        }
    }

    // --- handshakes, as recorded

    /** The commands that clients send at connect, and how each reply begins. */
    static List<List<String>> handshakes() {
        return List.of(
                List.of("HELLO 3", "%", "CLIENT SETINFO lib-name Lettuce", "+OK", "CLIENT SETINFO lib-ver 7.7.0", "+OK",
                        "CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type internal-ip", "-ERR unknown subcommand"),
                List.of("HELLO 3", "%", "CLIENT MAINT_NOTIFICATIONS ON", "-ERR unknown subcommand",
                        "CLIENT SETINFO LIB-NAME redis-py", "+OK", "CLIENT SETINFO LIB-VER 8.0.0", "+OK"),
                List.of("hello 3", "%", "client setinfo LIB-NAME ioredis", "+OK", "client setinfo LIB-VER 5", "+OK",
                        "info", "="),
                List.of("HELLO 3", "%", "SELECT 2", "+OK", "CLIENT SETINFO LIB-NAME go-redis", "+OK"),
                List.of("CONFIG GET save", "*2", "CONFIG GET appendonly", "*2"),
                List.of("ROLE", "*3", "PING", "+PONG"),
                List.of("HMSET user1 field0 a field1 b", "+OK", "HGETALL user1", "*4", "HMGET user1 field1 none", "*2",
                        "DEL user1", ":1"),
                List.of("INFO ALL", "$", "CONFIG GET *", "*", "LATENCY LATEST", "*", "LATENCY HISTOGRAM", "*",
                        "SLOWLOG LEN", ":", "SLOWLOG GET", "*", "CLIENT LIST", "$", "COMMAND", "*", "COMMAND INFO get",
                        "*1", "DBSIZE", ":", "SCAN 0 COUNT 10 TYPE string", "*2", "MEMORY USAGE none", "$-1"),
                List.of("FOO a", "-ERR unknown command 'FOO', with args beginning with: 'a' "));
    }

    @ParameterizedTest
    @MethodSource("handshakes")
    void aRecordedHandshakeIsAnswered(List<String> handshake) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < handshake.size(); i += 2) {
                client.send(RawClient.encode(handshake.get(i).split(" ")));
            }
            for (int i = 0; i < handshake.size(); i += 2) {
                assertThat(client.reply()).as(handshake.get(i)).startsWith(handshake.get(i + 1));
            }
        }
    }

    @Test
    void helloNamesWhatIsWrong() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.command("HELLO", "4")).isEqualTo("-NOPROTO unsupported protocol version\r\n");
            assertThat(client.command("HELLO", "x"))
                    .isEqualTo("-ERR Protocol version is not an integer or out of range\r\n");
            assertThat(client.command("PING")).isEqualTo("+PONG\r\n");
        }
    }
}
