package io.varve.server.flash;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.varve.server.testing.FlashClients;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.server.testing.HookedStore.awaitQuietly;
import static io.varve.server.testing.ServerOverFlash.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests scripts that hold all shards and wait for a key on flash, while the workers of the flash tier need these shards
 * for other clients. Confined to the test's thread.
 */
@Timeout(60)
class ScriptsAwaitFlashTest extends FlashClients {
    /** So many that each worker has some. */
    private static final int KEYS = 20;

    /** So many that half of them are on flash. */
    private static final int MANY_KEYS = 5000;
    /** Long enough to be demoted alive. */
    private static final long LIFE_MILLIS = 1500;

    private final CountDownLatch slow = new CountDownLatch(1);
    private final AtomicInteger held = new AtomicInteger();

    private static String[] keys(String prefix) {
        return IntStream.range(0, KEYS).mapToObj(i -> prefix + i).toArray(String[]::new);
    }

    private static String[] command(String name, String... keys) {
        return Stream.concat(Stream.of(name), Stream.of(keys)).toArray(String[]::new);
    }

    private void demoted(String prefix, String... options) throws IOException {
        for (String key : keys(prefix)) {
            assertThat(client.call(Stream.concat(Stream.of("SET", key, "1"), Stream.of(options))
                    .toArray(String[]::new)).text()).isEqualTo("OK");
        }
        server.drop(keys(prefix));
        server.awaitWritten();
    }

    /** From now on, reads of the store wait for the test. */
    private void slowReads() {
        server.store().before(call -> {
            if (call.equals("get")) {
                held.incrementAndGet();
                awaitQuietly(slow);
            }
        });
    }

    /** Waits until a script waits for a key behind that of the first reader, or for the other worker. */
    private void awaitScript() {
        await(() -> held.get() == 2 || server.stats().fetchesWaiting() > 0);
    }

    /** A script that writes first, and then uses keys on flash. */
    private static String[] script(String atFirst) {
        return new String[] {"EVAL", atFirst + " redis.call('set', 'written', 1) local sum = 0 for i = 0, " + (KEYS - 1)
                + " do sum = sum + redis.call('incr', 'a' .. i) end return sum", "0"};
    }

    private void areIncremented() throws IOException {
        server.store().before(_ -> {});
        assertThat(other.call(command("MGET", keys("a"))).elements()).extracting(RawReply::text).containsOnly("2");
        assertThat(other.call(command("DEL", keys("a"))).integer()).isEqualTo(KEYS);
        assertThat(other.call(command("EXISTS", keys("a"))).integer()).isZero();
    }

    /** A worker reads a key for another client first, and needs its shard, perhaps before the script waits. */
    @ParameterizedTest
    @ValueSource(strings = {"",
            "local s = redis.call('time')[2] repeat until math.abs(redis.call('time')[2] - s) > 1e5"})
    void whileWorkersNeedShards(String atFirst) throws IOException {
        demoted("x");
        demoted("a");
        try {
            slowReads();
            other.queue("GET", "x0");
            other.flush();
            await(() -> held.get() == 1);
            client.queue(script(atFirst));
            client.flush();
            if (atFirst.isEmpty()) {
                awaitScript();
            }
            slow.countDown();
            assertThat(client.read().integer()).isEqualTo(2 * KEYS);
            assertThat(other.read().text()).isEqualTo("1");
            areIncremented();
        } finally {
            slow.countDown();
        }
    }

    /** The workers report expired keys under their shards. */
    @Test
    void whileWorkersDropKeys() throws IOException {
        long expireAt = System.currentTimeMillis() + LIFE_MILLIS;
        demoted("x", "PXAT", Long.toString(expireAt));
        demoted("a");
        await(() -> System.currentTimeMillis() > expireAt);
        try {
            slowReads();
            other.queue("GET", "x0");
            other.flush();
            await(() -> held.get() == 1);
            client.queue(script(""));
            client.flush();
            awaitScript();
            slow.countDown();
            assertThat(client.read().integer()).isEqualTo(2 * KEYS);
            assertThat(other.read().isNull()).isTrue();
            areIncremented();
        } finally {
            slow.countDown();
        }
    }

    /** Items leave memory for those that return. */
    @Test
    void whileMemoryIsFull() throws IOException {
        String value = "v".repeat(2_000);
        client.setKeys("key:", MANY_KEYS, value);
        other.queue("BLPOP", "list", "0");
        other.flush();
        await(() -> client.infoLong("blocked_clients") == 1);
        long demoted = server.stats().written();
        assertThat(client.call("EVAL", "redis.call('rpush', 'list', 'x') local sum = 0 for i = 0, " + (MANY_KEYS - 1)
                + " do sum = sum + redis.call('append', 'key:' .. i, 'x') end return sum", "0").integer())
                .isEqualTo(IntStream.range(0, MANY_KEYS).map(i -> value.length() + 1 + Integer.toString(i).length())
                        .sum());
        assertThat(server.stats().written()).isGreaterThan(demoted);
        // The list has probably left memory since.
        assertThat(other.read().elements()).extracting(RawReply::text).containsExactly("list", "x");
        for (int i = 0; i < MANY_KEYS; i++) {
            other.queue("GET", "key:" + i);
        }
        other.flush();
        for (int i = 0; i < MANY_KEYS; i++) {
            assertThat(other.read().text()).isEqualTo(value + i + "x");
        }
    }

    /** Flash loses its content, for which it needs all shards. The script's writes stay. */
    @Test
    void whileFlashFails() throws IOException {
        demoted("a");
        server.store().before(call -> {
            if (call.equals("get")) {
                throw new IllegalStateException("the store fails, for the test");
            }
        });
        assertThat(client.call(script("")).text())
                .startsWith("ERR the flash tier failed while the script read a key from it");
        server.store().before(_ -> {});
        await(() -> server.stats().invalidations() == 1);
        expect(other, "GET written", "1");
        assertThat(other.call(command("EXISTS", keys("a"))).integer()).isZero();
        // For a while after a failure flash accepts nothing.
        await(() -> {
            demoted("a");
            return server.stats().items() >= KEYS;
        });
        assertThat(client.call(script("")).integer()).isEqualTo(2 * KEYS);
    }

    /** Other clients of both event loops get errors, as with any slow script, and the script goes on. */
    @Test
    void isASlowScript() throws IOException {
        demoted("a");
        expect(client, "CONFIG SET busy-reply-threshold 1", "OK");
        try (var third = connect(); var fourth = connect()) {
            slowReads();
            client.queue(script(""));
            client.flush();
            await(() -> held.get() > 0);
            await(() -> other.call("GET", "written").text().startsWith("BUSY"));
            await(() -> third.call("GET", "written").text().startsWith("BUSY"));
            await(() -> fourth.call("GET", "written").text().startsWith("BUSY"));
            assertThat(other.call("SCRIPT", "KILL").text()).startsWith("UNKILLABLE");
            assertThat(client.isAnswered()).isFalse();
            slow.countDown();
            assertThat(client.read().integer()).isEqualTo(2 * KEYS);
            expect(other, "GET written", "1");
            areIncremented();
        } finally {
            slow.countDown();
        }
    }

    /** FLUSHALL needs all shards, and comes after the script. */
    @Test
    void whileAnotherClientFlushes() throws IOException {
        demoted("a");
        try {
            slowReads();
            client.queue(script(""));
            client.flush();
            await(() -> held.get() > 0);
            other.queue("FLUSHALL");
            other.flush();
            slow.countDown();
            assertThat(client.read().integer()).isEqualTo(2 * KEYS);
            assertThat(other.read().text()).isEqualTo("OK");
            assertThat(other.call(command("EXISTS", keys("a"))).integer()).isZero();
            expect(other, "DBSIZE", "0");
        } finally {
            slow.countDown();
        }
    }
}
