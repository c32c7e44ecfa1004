package io.varve.server.flash;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.server.testing.FlashClients;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static io.varve.server.testing.HookedStore.awaitQuietly;
import static io.varve.server.testing.ServerOverFlash.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests clients that block on keys that are demoted to flash, and for which memory may have no space. Confined to the
 * test's thread.
 */
@Timeout(60)
class FlashBlockingTest extends FlashClients {
    /** More often than a command's keys are fetched. */
    private static final int MANY_CALLS = 140;
    /** Missing memory when the cache is full, and how much of it is freed: not enough. */
    private static final int LARGE_BYTES = 500_000;
    private static final int FILL_BYTES = 100_000;

    private int fills;

    /** One more client that waits. */
    private RawClient waiting(String words) throws IOException {
        long before = other.infoLong("blocked_clients");
        RawClient blockedClient = connect();
        blockedClient.queue(words.split(" "));
        blockedClient.flush();
        await(() -> other.infoLong("blocked_clients") == before + 1);
        return blockedClient;
    }

    private static void gets(RawClient blockedClient, String... texts) throws IOException {
        assertThat(blockedClient.read().elements()).extracting(RawReply::text).containsExactly(texts);
    }

    @Test
    void demotedListsServeBlockedClients() throws IOException {
        expect(other, "RPUSH l a b c d", "4");
        expect(other, "RPUSH to x", "1");
        expect(other, "ZADD z 1 one 2 two", "2");
        server.drop("l", "to", "z");
        assertThat(other.call("BLPOP", "none", "l", "0").elements()).extracting(RawReply::text).containsExactly("l",
                "a");
        server.drop("l", "to");
        expect(other, "BLMOVE l to RIGHT LEFT 0", "d");
        server.drop("l", "to");
        assertThat(other.call("BLMPOP", "0", "2", "none", "l", "LEFT", "COUNT", "2").elements().get(1).elements())
                .extracting(RawReply::text).containsExactly("b", "c");
        assertThat(other.call("BZPOPMIN", "z", "0").elements()).extracting(RawReply::text).containsExactly("z", "one",
                "1");
        server.drop("to", "z");
        assertThat(other.call("LRANGE", "to", "0", "-1").elements()).extracting(RawReply::text).containsExactly("d",
                "x");
        expect(other, "EXISTS l z", "1");
    }

    /**
     * A waiting client is woken for a list, which is demoted before the client re-runs, while another of its keys is
     * being fetched.
     */
    @Test
    void aListDemotedBeforeItsClientRetries() throws IOException {
        CountDownLatch slow = new CountDownLatch(1);
        try {
            RawClient pops = waiting("BLPOP a b 0");
            expect(other, "SADD b member", "1");
            // Behind the look of the waiter.
            expect(other, "SCARD b", "1");
            server.drop("b");
            server.awaitWritten();
            AtomicInteger held = new AtomicInteger();
            server.store().before(call -> {
                if (call.equals("get")) {
                    held.incrementAndGet();
                    awaitQuietly(slow);
                }
            });
            expect(other, "RPUSH a x y", "2");
            await(() -> held.get() > 0);
            server.drop("a");
            assertThat(pops.isAnswered()).isFalse();
            slow.countDown();
            gets(pops, "a", "x");
            expect(other, "LLEN a", "1");
            expect(other, "SCARD b", "1");
        } finally {
            slow.countDown();
        }
    }

    /** A move into a list that has fallen while it waited. */
    @Test
    void aMoveFetchesItsTarget() throws IOException {
        expect(other, "RPUSH to x", "1");
        RawClient moves = waiting("BLMOVE from to LEFT LEFT 0");
        server.drop("to");
        expect(other, "RPUSH from a", "1");
        assertThat(moves.read().text()).isEqualTo("a");
        assertThat(other.call("LRANGE", "to", "0", "-1").elements()).extracting(RawReply::text).containsExactly("a",
                "x");
    }

    /** Each time that it looks is one of its own: it is not refused because there were many. */
    @Test
    void itMayBeCalledOften() throws IOException {
        RawClient pops = waiting("BLPOP a b 0");
        expect(other, "SADD b member", "1");
        for (int i = 0; i < MANY_CALLS; i++) {
            server.drop("b");
            expect(other, "SADD a member", "1");
            expect(other, "DEL a", "1");
        }
        assertThat(pops.isAnswered()).isFalse();
        expect(other, "RPUSH a x", "1");
        gets(pops, "a", "x");
    }

    /**
     * Memory is full of what does not fall, and one key of those that are waited for is too large to come up: of two
     * that wait the first is called, and cannot look.
     */
    private AtomicInteger fillUp() throws IOException {
        expect(other, "CONFIG SET maxmemory-policy volatile-lru", "OK");
        expect(other, "SADD b " + "m".repeat(LARGE_BYTES), "1");
        expect(other, "EXPIRE b 10000", "1");
        server.drop("b");
        server.awaitWritten();
        String value = "v".repeat(FILL_BYTES);
        RawReply set;
        do {
            set = other.call("SET", "fill" + fills++, value);
        } while (!set.isError());
        assertThat(set.text()).startsWith("OOM");
        expect(other, "DEL fill0", "1");
        AtomicInteger looks = new AtomicInteger();
        server.store().before(call -> {
            if (call.equals("get")) {
                looks.incrementAndGet();
            }
        });
        expect(other, "RPUSH a x", "1");
        return looks;
    }

    private void freeMemory() throws IOException {
        for (int i = 0; i < fills; i++) {
            other.call("DEL", "fill" + i);
        }
    }

    @Test
    void aClientKeepsWaitingWhileMemoryIsFull() throws IOException {
        RawClient pops = waiting("BLPOP a b 0");
        AtomicInteger looks = fillUp();
        await(() -> looks.get() > 2);
        assertThat(pops.isAnswered()).isFalse();
        // It delays no other client.
        expect(other, "LLEN a", "1");
        assertThat(other.call("SCARD", "b").text()).startsWith("OOM");
        freeMemory();
        gets(pops, "a", "x");
        expect(other, "EXISTS a b", "1");
    }

    /** The keys of the clients behind it are in memory: a new client may take an element too. */
    @Test
    void clientsBehindADeferredOneAreServed() throws IOException {
        RawClient first = waiting("BLPOP a b 0");
        RawClient second = waiting("BLPOP a 0");
        RawClient third = waiting("BLPOP c a 0");
        AtomicInteger looks = fillUp();
        gets(second, "a", "x");
        expect(other, "RPUSH a y z", "2");
        gets(third, "a", "y");
        int before = looks.get();
        await(() -> looks.get() > before + 1);
        assertThat(first.isAnswered()).isFalse();
        expect(other, "LLEN a", "1");
        freeMemory();
        gets(first, "a", "z");
    }

    @Test
    void theNextClientIsServedIfTheFirstLeaves() throws IOException {
        RawClient leaves = waiting("BLPOP a b 0");
        RawClient stays = waiting("BLPOP a b 0");
        AtomicInteger looks = fillUp();
        await(() -> looks.get() > 1);
        int before = looks.get();
        leaves.close();
        await(() -> other.infoLong("blocked_clients") == 1 && looks.get() > before + 1);
        assertThat(stays.isAnswered()).isFalse();
        freeMemory();
        gets(stays, "a", "x");
    }

    @Test
    void itsTimeoutEndsNevertheless() throws IOException {
        RawClient unblocked = connect();
        String id = unblocked.call("CLIENT", "ID").text();
        unblocked.queue("BLPOP", "a", "b", "0");
        unblocked.flush();
        await(() -> other.infoLong("blocked_clients") == 1);
        AtomicInteger looks = fillUp();
        await(() -> looks.get() > 1);
        RawClient ends = connect();
        ends.queue("BLPOP", "b", "0.25");
        ends.flush();
        assertThat(ends.read().text()).as("a client that does not wait yet is refused").startsWith("OOM");
        await(() -> other.call("CLIENT", "UNBLOCK", id).integer() == 1);
        assertThat(unblocked.read().isNull()).isTrue();
        expect(other, "LLEN a", "1");
        expect(other, "FLUSHALL", "OK");
    }

    @Test
    void aTimeoutWhileMemoryIsFull() throws IOException {
        RawClient pops = waiting("BLPOP a b 1");
        AtomicInteger looks = fillUp();
        assertThat(pops.read().isNull()).isTrue();
        assertThat(looks.get()).isNotNegative();
        expect(other, "LLEN a", "1");
    }
}
