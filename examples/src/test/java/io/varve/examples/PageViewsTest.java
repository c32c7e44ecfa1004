package io.varve.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScoredValue;
import io.varve.server.VarveServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link PageViews}. Confined to the test's thread. */
class PageViewsTest {
    @Test
    void viewsAreCountedAndRanked() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                PageViews views = new PageViews(client)) {
            List<CompletableFuture<Void>> counted = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                counted.add(views.seen(List.of("home", "page:" + i % 10, "page:" + i % 2)).toCompletableFuture());
            }
            CompletableFuture.allOf(counted.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
            assertThat(views.mostSeen(3).toCompletableFuture().get(20, TimeUnit.SECONDS)).containsExactly(
                    ScoredValue.just(1_000, "home"), ScoredValue.just(600, "page:1"), ScoredValue.just(600, "page:0"));
            assertThat(views.rank("home").toCompletableFuture().get(20, TimeUnit.SECONDS)).isZero();
            assertThat(views.rank("nobody's").toCompletableFuture().get(20, TimeUnit.SECONDS)).isNull();
        }
    }
}
