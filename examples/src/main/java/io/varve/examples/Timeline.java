package io.varve.examples;

import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The recent posts of people, in a list for each person that keeps the newest, with Lettuce's reactive API.
 * Thread-safe: all subscribers share one connection. It sends nothing before a subscription.
 */
public final class Timeline implements AutoCloseable {
    private final StatefulRedisConnection<String, String> connection;
    private final RedisReactiveCommands<String, String> redis;
    private final int kept;

    /** @param kept number of posts kept for each person */
    public Timeline(RedisClient client, int kept) {
        connection = client.connect();
        redis = connection.reactive();
        this.kept = kept;
    }

    /** Posts a text, and drops the oldest posts over the limit. */
    public Mono<Void> post(String person, String text) {
        return redis.lpush(key(person), text).then(redis.ltrim(key(person), 0, kept - 1L)).then();
    }

    /** The newest posts of one person, in descending order of time. */
    public Flux<String> newest(String person, int count) {
        return redis.lrange(key(person), 0, count - 1L);
    }

    /** The newest posts of several people, person by person in their order; all are requested at once. */
    public Flux<String> newest(List<String> people, int countOfEach) {
        return Flux.fromIterable(people).flatMapSequential(person -> newest(person, countOfEach));
    }

    private static String key(String person) {
        return "timeline:" + person;
    }

    @Override
    public void close() {
        connection.close();
    }
}
