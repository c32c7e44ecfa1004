package io.varve.examples;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;

/**
 * A cache-aside cache of product descriptions from a slow source, with Lettuce's synchronous API. Thread-safe: all
 * threads share one connection.
 */
public final class ProductCatalogue implements AutoCloseable {
    private final StatefulRedisConnection<String, String> connection;
    private final RedisCommands<String, String> redis;
    private final Duration timeToLive;
    private final UnaryOperator<String> source;

    /**
     * @param timeToLive how long a description may be served after it was read from the source
     * @param source from a product's id to its description
     */
    public ProductCatalogue(RedisClient client, Duration timeToLive, UnaryOperator<String> source) {
        connection = client.connect();
        redis = connection.sync();
        this.timeToLive = timeToLive;
        this.source = source;
    }

    /** The description of one product. */
    public String describe(String id) {
        String kept = redis.get(key(id));
        return kept != null ? kept : read(id);
    }

    /** The descriptions of many products, which are read with one command. */
    public Map<String, String> describe(List<String> ids) {
        Map<String, String> descriptions = new LinkedHashMap<>();
        List<KeyValue<String, String>> kept = redis
                .mget(ids.stream().map(ProductCatalogue::key).toArray(String[]::new));
        for (int i = 0; i < ids.size(); i++) {
            @Nullable
            String description = kept.get(i).getValueOrElse(null);
            descriptions.put(ids.get(i), description != null ? description : read(ids.get(i)));
        }
        return descriptions;
    }

    /**
     * Called once the source has another description. A concurrent reader of the old one may still write it back; the
     * time to live ends that.
     */
    public void changed(String id) {
        redis.del(key(id));
    }

    private String read(String id) {
        String description = source.apply(id);
        redis.set(key(id), description, SetArgs.Builder.px(timeToLive));
        return description;
    }

    private static String key(String id) {
        return "product:" + id;
    }

    @Override
    public void close() {
        connection.close();
    }
}
