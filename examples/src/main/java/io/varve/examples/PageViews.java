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
 * Counts page views in a sorted set and ranks the pages, with Lettuce's asynchronous API. Thread-safe: all threads
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
     * Counts one view of each page. The commands are sent one after the other, without a wait for replies between them.
     *
     * @return completes once all are counted
     */
    public CompletionStage<Void> seen(Collection<String> pages) {
        return CompletableFuture.allOf(pages.stream().map(page -> redis.zincrby(KEY, 1, page).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new));
    }

    /** The most viewed pages, with their counts, in descending order. */
    public CompletionStage<List<ScoredValue<String>>> mostSeen(int count) {
        return redis.zrevrangeWithScores(KEY, 0, count - 1L);
    }

    /** Number of pages with more views than this one, from 0; null if it has no views. */
    public CompletionStage<@Nullable Long> rank(String page) {
        return redis.zrevrank(KEY, page);
    }

    @Override
    public void close() {
        connection.close();
    }
}
