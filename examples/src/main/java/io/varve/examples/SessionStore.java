package io.varve.examples;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

/**
 * The sessions of a web application, as Spring Session stores them: a session ends after a time without use, and the
 * application then receives an event with its attributes. Thread-safe. It uses Lettuce, with keyspace notifications.
 *
 * <pre>
 *  session:ID        hash    the attributes; lives GRACE longer than the session,
 *                            so that they can still be read when it has ended
 *  session:ID:alive  string  lives as long as the session; that it expires is the event
 * </pre>
 *
 * <p>Any number of stores may share the sessions: one of them receives each event, the one that deletes the attributes.
 * Messages are not stored for absent subscribers: a session that ends while no store runs causes no event.
 */
public final class SessionStore implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(SessionStore.class.getName());
    private static final String PREFIX = "session:";
    private static final String ALIVE = ":alive";
    private static final String EXPIRED = "__keyevent@0__:expired";
    private static final Duration GRACE = Duration.ofMinutes(5);

    private final StatefulRedisConnection<String, String> connection;
    private final StatefulRedisPubSubConnection<String, String> events;
    private final RedisCommands<String, String> redis;
    private final Duration idle;
    private final BiConsumer<String, Map<String, String>> ended;

    /**
     * @param idle a session ends after this time without use
     * @param ended receives the id and the attributes of ended sessions, on a thread of the client's: it must not block
     */
    public SessionStore(RedisClient client, Duration idle, BiConsumer<String, Map<String, String>> ended) {
        connection = client.connect();
        events = client.connectPubSub();
        redis = connection.sync();
        this.idle = idle;
        this.ended = ended;
        // Adds to the settings of other clients: E is for __keyevent@…, x for expired.
        String name = "notify-keyspace-events";
        redis.configSet(name, redis.configGet(name).getOrDefault(name, "") + "Ex");
        events.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String channel, String key) {
                if (key.startsWith(PREFIX) && key.endsWith(ALIVE)) {
                    hasExpired(key.substring(PREFIX.length(), key.length() - ALIVE.length()));
                }
            }
        });
        events.sync().subscribe(EXPIRED);
    }

    /**
     * Begins a session.
     *
     * @param attributes at least one
     * @return its id
     */
    public String begin(Map<String, String> attributes) {
        String id = UUID.randomUUID().toString();
        redis.hset(PREFIX + id, attributes);
        redis.pexpire(PREFIX + id, idle.plus(GRACE));
        redis.set(PREFIX + id + ALIVE, "", SetArgs.Builder.px(idle));
        return id;
    }

    /** The attributes of a session; this counts as a use. Empty if it has ended. */
    public Optional<Map<String, String>> use(String id) {
        // The attributes first: they must not expire before the session does.
        redis.pexpire(PREFIX + id, idle.plus(GRACE));
        return redis.pexpire(PREFIX + id + ALIVE, idle) ? Optional.of(redis.hgetall(PREFIX + id)) : Optional.empty();
    }

    /** Sets an attribute of a session; this counts as a use. @return whether it had not ended */
    public boolean set(String id, String attribute, String value) {
        if (use(id).isEmpty()) {
            return false;
        }
        redis.hset(PREFIX + id, attribute, value);
        // If the session ended in between, a hash of this attribute alone would remain: it gets a TTL, too.
        return use(id).isPresent();
    }

    /** Ends a session without an event. */
    public void end(String id) {
        redis.del(PREFIX + id + ALIVE, PREFIX + id);
    }

    /** Runs on the client's own thread, which also receives replies: nothing here may wait for one. */
    private void hasExpired(String id) {
        RedisAsyncCommands<String, String> async = connection.async();
        CompletionStage<Map<String, String>> attributes = async.hgetall(PREFIX + id);
        CompletionStage<Long> deleted = async.del(PREFIX + id);
        attributes.thenAcceptBoth(deleted, (last, count) -> {
            if (count == 1) {
                ended.accept(id, last);
            }
        }).whenComplete((_, failed) -> {
            if (failed != null) {
                LOG.log(System.Logger.Level.WARNING, "The listener for the end of session " + id + " failed", failed);
            }
        });
    }

    @Override
    public void close() {
        events.close();
        connection.close();
    }
}
