package io.varve.server.concurrency;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.server.Tiers;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.BlockedClients;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests which commands read without a lock, and that a key that changes in the meantime is read under its lock.
 * Confined to the test's thread.
 */
@Timeout(60)
class OptimisticReadsTest extends BlockedClients {
    private static final List<String> FILL = List.of("SET s 12", "RPUSH l a b", "HSET h f 1", "SADD t m", "SADD i 1",
            "ZADD z 1 m");
    private static final List<String> READS = List.of("GET s", "STRLEN s", "EXISTS s", "TYPE s", "TTL s", "PTTL s",
            "EXPIRETIME s", "PEXPIRETIME s", "GETBIT s 1", "BITCOUNT s", "BITPOS s 1", "LLEN l", "LRANGE l 0 -1",
            "LINDEX l 0", "HGET h f", "HMGET h f g", "HLEN h", "HEXISTS h f", "HSTRLEN h f", "HGETALL h", "HKEYS h",
            "HVALS h", "SCARD t", "SISMEMBER i 1", "SMISMEMBER t m n", "SMEMBERS t", "ZCARD z", "ZCOUNT z 0 1",
            "ZLEXCOUNT z - +", "ZSCORE z m", "ZMSCORE z m n", "ZRANK z m", "ZREVRANK z m");

    /** The optimistic reads that were confirmed, of all sessions. */
    private final AtomicInteger confirmed = new AtomicInteger();
    /** Runs once, after the next optimistic read has begun. */
    private final AtomicReference<Runnable> interruption = new AtomicReference<>(() -> {});

    @BeforeEach
    void startObserved() throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "shards 8", "io-threads 2");
        Tiers tiers = Tiers.open(config);
        restart(servers.start(config, new Tiers(observed(tiers.cache()), tiers.flash())));
    }

    private Cache observed(Cache cache) {
        return (Cache) Proxy.newProxyInstance(Cache.class.getClassLoader(), new Class<?>[] {Cache.class},
                (proxy, method, arguments) -> {
                    Object result = invoke(cache, method, arguments);
                    return method.getName().equals("newSession") ? observed((CacheSession) result) : result;
                });
    }

    private CacheSession observed(CacheSession session) {
        return (CacheSession) Proxy.newProxyInstance(CacheSession.class.getClassLoader(),
                new Class<?>[] {CacheSession.class}, (proxy, method, arguments) -> {
                    Object result = invoke(session, method, arguments);
                    if (method.getName().equals("confirmOptimisticRead") && result.equals(true)) {
                        confirmed.incrementAndGet();
                    }
                    if (method.getName().equals("beginOptimisticRead")) {
                        interruption.getAndSet(() -> {}).run();
                    }
                    return result;
                });
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    @Test
    void everyCommandWithTheTrait_readsSmallItemsWithoutALock() throws IOException {
        for (String fill : FILL) {
            admin.command(fill.split(" "));
        }
        for (String read : READS) {
            readsWithoutALock(read);
            readsWithoutALock(read.replaceFirst(" \\w+", " none"));
        }
    }

    /** Repeats the read if maintenance has the lock at that moment. */
    private void readsWithoutALock(String read) {
        int before = confirmed.get();
        await(read).atMost(20, TimeUnit.SECONDS).until(() -> {
            assertThat(execute(admin, read)).as(read).doesNotStartWith("-");
            return confirmed.get() - before == 1;
        });
    }

    @Test
    void theListOfReads_isComplete() {
        Set<String> named = new TreeSet<>();
        READS.forEach(read -> named.add(read.substring(0, read.indexOf(' ')).toLowerCase(java.util.Locale.ROOT)));
        Set<String> withTrait = new TreeSet<>();
        try (CommandHarness harness = new CommandHarness()) {
            harness.table().all().stream().filter(spec -> spec.readsOptimistically())
                    .forEach(spec -> withTrait.add(spec.name()));
        }
        assertThat(named).isEqualTo(withTrait);
    }

    @Test
    void readsUnderAPolicyThatCounts_andOfWatchedMisses_takeTheLock() throws IOException {
        admin.command("SET", "s", "v");
        admin.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
        expect(admin, "GET s", "$1 v");
        assertThat(confirmed.get()).isZero();
        admin.command("CONFIG", "SET", "maxmemory-policy", "noeviction", "notify-keyspace-events", "Km");
        expect(admin, "GET none", "$-1");
        assertThat(confirmed.get()).isZero();
        readsWithoutALock("GET s");
    }

    /** The copy is of the time before the push, and its client is served while the reader decides about the copy. */
    @Test
    void anElementThatServesABlockedClient_meanwhile_isNotSeen() throws IOException {
        RawClient blocked = waiting("BLPOP k 0");
        pushDuringTheNextRead("k");
        expect(admin, "LLEN k", ":0");
        gets(blocked, "*2 $1 k $1 x");
    }

    /** The copy of the target is of the time before the push. */
    @Test
    void anElementMovedForABlockedClient_meanwhile_isSeen() throws IOException {
        admin.command("RPUSH", "b", "w");
        RawClient blocked = waiting("BLMOVE a b LEFT LEFT 0");
        pushDuringTheNextRead("a");
        expect(admin, "LRANGE b 0 -1", "*2 $1 x $1 w");
        gets(blocked, "$1 x");
    }

    /** A client of the other event loop pushes after the next optimistic read has begun, and gets its reply. */
    private void pushDuringTheNextRead(String key) throws IOException {
        // Connections are assigned to the event loops in turn: this one has the loop of the reader.
        connect();
        RawClient pusher = connect();
        interruption.set(() -> {
            try {
                expect(pusher, "RPUSH " + key + " x", ":1");
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        });
    }
}
