package io.varve.server.clients;

import java.util.List;

import io.lettuce.core.GeoArgs;
import io.lettuce.core.GeoCoordinates;
import io.lettuce.core.GeoSearch;
import io.lettuce.core.GeoWithin;
import io.lettuce.core.Range;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.ZAggregateArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.GeoCoordinate;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.args.GeoUnit;
import redis.clients.jedis.args.SortedSetOption;
import redis.clients.jedis.params.ZAddParams;
import redis.clients.jedis.params.ZParams;
import redis.clients.jedis.resps.Tuple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests sorted sets and geo commands with popular client libraries, over both protocols. Confined to the test's thread.
 */
class SortedSetClientsIT {
    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 2", "maxmemory 64mb");

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void lettuce(ProtocolVersion protocol) {
        StatefulRedisConnection<String, String> connection = server.connectLettuce(protocol);
        sortedSets(connection.sync(), protocol);
        places(connection.sync());
    }

    private static void sortedSets(RedisCommands<String, String> redis, ProtocolVersion protocol) {
        assertThat(redis.zadd("z", 1.5, "a", Double.POSITIVE_INFINITY, "b", 0.1, "c")).isEqualTo(3);
        assertThat(redis.zscore("z", "c")).isEqualTo(0.1);
        assertThat(redis.zincrby("z", 0.2, "c")).isEqualTo(0.1 + 0.2);
        assertThat(redis.zrangeWithScores("z", 0, -1)).containsExactly(ScoredValue.just(0.1 + 0.2, "c"),
                ScoredValue.just(1.5, "a"), ScoredValue.just(Double.POSITIVE_INFINITY, "b"));
        assertThat(redis.zrevrangebyscore("z", Range.create(1, 2))).containsExactly("a");
        assertThat(redis.zrank("z", "b")).isEqualTo(2);
        if (protocol == ProtocolVersion.RESP3) {
            // In RESP2 the client takes the score, which is text there, for the rank.
            assertThat(redis.zrankWithScore("z", "a").getValue()).isEqualTo(1);
        }
        assertThat(redis.zadd("y", 10, "a")).isOne();
        assertThat(redis.zunionWithScores(ZAggregateArgs.Builder.max(), "z", "y"))
                .contains(ScoredValue.just(10, "a"));
        assertThat(redis.zinterstore("x", "z", "y")).isOne();
        assertThat(redis.zscan("x").getValues()).containsExactly(ScoredValue.just(11.5, "a"));
        assertThat(redis.zpopmin("z")).isEqualTo(ScoredValue.just(0.1 + 0.2, "c"));
        assertThat(redis.zpopmax("z", 5)).hasSize(2);
        assertThat(redis.zpopmin("z").hasValue()).isFalse();
        assertThat(redis.zrandmemberWithScores("y", -2)).containsExactly(ScoredValue.just(10, "a"),
                ScoredValue.just(10, "a"));
    }

    private static void places(RedisCommands<String, String> redis) {
        assertThat(redis.geoadd("g", 13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania")).isEqualTo(2);
        assertThat(redis.geodist("g", "Palermo", "Catania", GeoArgs.Unit.km)).isEqualTo(166.2742);
        GeoCoordinates palermo = redis.geopos("g", "Palermo").getFirst();
        assertThat(palermo.getX().doubleValue()).isCloseTo(13.361389, within(1e-5));
        List<GeoWithin<String>> found = redis.geosearch("g", GeoSearch.fromCoordinates(15, 37),
                GeoSearch.byRadius(200, GeoArgs.Unit.km), GeoArgs.Builder.full().asc());
        assertThat(found).extracting(GeoWithin::getMember).containsExactly("Catania", "Palermo");
        assertThat(found.getFirst().getDistance()).isEqualTo(56.4413);
    }

    @ParameterizedTest
    @EnumSource(value = RedisProtocol.class, names = {"RESP2", "RESP3"})
    void jedis(RedisProtocol protocol) {
        try (var client = redis.clients.jedis.RedisClient.builder()
                .hostAndPort(new HostAndPort("127.0.0.1", server.port()))
                .clientConfig(DefaultJedisClientConfig.builder().protocol(protocol).build()).build()) {
            assertThat(client.zadd("z", 1, "a")).isOne();
            assertThat(client.zadd("z", 5, "a", ZAddParams.zAddParams().gt().ch())).isOne();
            assertThat(client.zaddIncr("z", 0.5, "a", ZAddParams.zAddParams())).isEqualTo(5.5);
            assertThat(client.zadd("z", 7, "b")).isOne();
            assertThat(client.zrangeWithScores("z", 0, -1)).containsExactly(new Tuple("a", 5.5), new Tuple("b", 7.0));
            assertThat(client.zmscore("z", "a", "none")).containsExactly(5.5, null);
            assertThat(client.zdiffWithScores("z", "none")).hasSize(2);
            assertThat(client.zunionWithScores(new ZParams().weights(2), "z")).contains(new Tuple("b", 14.0));
            assertThat(client.zmpop(SortedSetOption.MAX, "none", "z").getValue()).containsExactly(new Tuple("b", 7.0));
            assertThat(client.zpopmin("z", 3)).containsExactly(new Tuple("a", 5.5));
            assertThat(client.zpopmin("z")).isNull();
            assertThat(client.geoadd("g", 15, 37, "here")).isOne();
            assertThat(client.geosearch("g", new GeoCoordinate(15, 37), 10, 10, GeoUnit.KM)).hasSize(1);
            assertThat(client.geohash("g", "here")).containsExactly("sqddmrdst70");
        }
    }
}
