package io.varve.examples;

import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What people have posted lately, a list for each of them that keeps the newest: Lettuce's reactive API. Nothing is sent before somebody
 * subscribes. Thread-safe: all subscribers share one connection.
 */
public final class Timeline implements AutoCloseable {
    private final StatefulRedisConnection<String, String> connection;
    private final RedisReactiveCommands<String, String> redis;
    private final int kept;

    /** @param kept how many posts of one person are kept */
    public Timeline(RedisClient client, int kept) {
        connection = client.connect();
        redis = connection.reactive();
        this.kept = kept;
    }

    /** Posts a text, and lets what is too old go. */
    public Mono<Void> post(String person, String text) {
        return redis.lpush(key(person), text).then(redis.ltrim(key(person), 0, kept - 1L)).then();
    }

    /** The newest posts of one person, the newest first. */
    public Flux<String> newest(String person, int count) {
        return redis.lrange(key(person), 0, count - 1L);
    }

    /** The newest posts of several people, person by person in their order; all are asked for at once. */
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
