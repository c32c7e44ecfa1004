package io.varve.examples;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisClient;
import io.varve.server.VarveServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests {@link NamedCache}. Confined to the test's thread. */
class NamedCacheTest {
    @Test
    void valuesAreLoadedPutAndEvicted() throws Exception {
        AtomicInteger loads = new AtomicInteger();
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                NamedCache cache = new NamedCache(client, "books", Duration.ofHours(1))) {
            assertThat(cache.get("dune")).isNull();
            assertThat(cache.get("dune", () -> "loaded " + loads.incrementAndGet())).isEqualTo("loaded 1");
            assertThat(cache.get("dune", () -> "loaded " + loads.incrementAndGet())).isEqualTo("loaded 1");
            assertThat(cache.putIfAbsent("dune", "another")).isEqualTo("loaded 1");
            assertThat(cache.putIfAbsent("emma", "first")).isNull();
            cache.put("dune", "put");
            assertThat(cache.get("dune")).isEqualTo("put");
            cache.evict("dune");
            assertThat(cache.get("dune")).isNull();
            assertThatThrownBy(() -> cache.get("dune", () -> {
                throw new IllegalStateException("no such book");
            })).hasMessage("no such book");
            assertThat(cache.get("dune")).isNull();
            assertThat(cache.get("emma")).isEqualTo("first");
        }
    }

    @Test
    void oneCacheIsClearedAndNoOther() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                NamedCache books = new NamedCache(client, "books", Duration.ofHours(1));
                NamedCache people = new NamedCache(client, "people", Duration.ofHours(1))) {
            for (int i = 0; i < 2_000; i++) {
                books.put("b" + i, "v");
            }
            people.put("p", "v");
            books.clear();
            for (int i = 0; i < 2_000; i++) {
                assertThat(books.get("b" + i)).isNull();
            }
            assertThat(people.get("p")).isEqualTo("v");
        }
    }
}
