package io.varve.examples;

import java.time.Duration;
import java.util.List;

import io.lettuce.core.RedisClient;
import io.varve.server.VarveServer;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link Timeline}. Confined to the test's thread. */
class TimelineTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void theNewestPostsAreKept() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                Timeline timeline = new Timeline(client, 5)) {
            Flux.range(0, 100).concatMap(i -> timeline.post("ann", "post " + i)).then(timeline.post("bob", "hello"))
                    .block(PATIENCE);
            assertThat(timeline.newest("ann", 2).collectList().block(PATIENCE)).containsExactly("post 99", "post 98");
            assertThat(timeline.newest("ann", 100).count().block(PATIENCE)).isEqualTo(5);
            assertThat(timeline.newest(List.of("bob", "nobody", "ann"), 1).collectList().block(PATIENCE))
                    .containsExactly("hello", "post 99");
        }
    }

    @Test
    void nothingIsSentWithoutASubscriber() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                Timeline timeline = new Timeline(client, 5)) {
            var post = timeline.post("ann", "later");
            assertThat(timeline.newest("ann", 5).collectList().block(PATIENCE)).isEmpty();
            post.block(PATIENCE);
            assertThat(timeline.newest("ann", 5).collectList().block(PATIENCE)).containsExactly("later");
        }
    }
}
