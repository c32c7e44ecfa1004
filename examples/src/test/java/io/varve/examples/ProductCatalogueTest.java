package io.varve.examples;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.lettuce.core.RedisClient;
import io.varve.server.VarveServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link ProductCatalogue}. Confined to the test's thread. */
class ProductCatalogueTest {
    private final List<String> requested = new ArrayList<>();

    private String source(String id) {
        requested.add(id);
        return "product " + id + ", " + requested.size();
    }

    @Test
    void theSourceIsReadOncePerProduct() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                ProductCatalogue catalogue = new ProductCatalogue(client, Duration.ofHours(1), this::source)) {
            assertThat(catalogue.describe("a")).isEqualTo("product a, 1");
            assertThat(catalogue.describe("a")).isEqualTo("product a, 1");
            assertThat(catalogue.describe(List.of("b", "a", "c")))
                    .isEqualTo(Map.of("b", "product b, 2", "a", "product a, 1", "c", "product c, 3"));
            assertThat(catalogue.describe(List.of("a", "b", "c"))).hasSize(3);
            assertThat(requested).containsExactly("a", "b", "c");
        }
    }

    @Test
    void changedEntryIsReadAgain() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                ProductCatalogue catalogue = new ProductCatalogue(client, Duration.ofHours(1), this::source)) {
            assertThat(catalogue.describe("a")).isEqualTo("product a, 1");
            catalogue.changed("a");
            assertThat(catalogue.describe("a")).isEqualTo("product a, 2");
        }
    }

    @Test
    void aDescriptionIsKeptForAWhile() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                ProductCatalogue catalogue = new ProductCatalogue(client, Duration.ofMillis(1), this::source)) {
            while (requested.size() < 2) {
                assertThat(catalogue.describe("a")).startsWith("product a");
            }
        }
    }
}
