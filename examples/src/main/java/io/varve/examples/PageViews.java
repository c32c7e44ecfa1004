package io.varve.examples;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Counts how often pages are seen, and knows which are seen most, in a sorted set: Lettuce's asynchronous API. Thread-safe: all threads
 * share one connection, and none waits for it.
 */
public final class PageViews implements AutoCloseable {
    private static final String KEY = "page-views";

    private final StatefulRedisConnection<String, String> connection;
    private final RedisAsyncCommands<String, String> redis;

    public PageViews(RedisClient client) {
        connection = client.connect();
        redis = connection.async();
    }

    /**
     * Counts one view of each page. The commands leave one behind the other, without waiting for replies between them.
     *
     * @return done once all are counted
     */
    public CompletionStage<Void> seen(Collection<String> pages) {
        return CompletableFuture.allOf(pages.stream().map(page -> redis.zincrby(KEY, 1, page).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new));
    }

    /** The pages that were seen most, with how often, the first one first. */
    public CompletionStage<List<ScoredValue<String>>> mostSeen(int count) {
        return redis.zrevrangeWithScores(KEY, 0, count - 1L);
    }

    /** How many pages were seen more often than this one, from 0, and null if nobody has seen it. */
    public CompletionStage<@Nullable Long> rank(String page) {
        return redis.zrevrank(KEY, page);
    }

    @Override
    public void close() {
        connection.close();
    }
}
