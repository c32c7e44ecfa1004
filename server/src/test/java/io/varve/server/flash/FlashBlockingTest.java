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
    private static final int MANY_RUNS = 140;
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

    /** Only the key that was pushed to is used, so nothing is fetched. */
    @Test
    void anotherKeyOfTheClientStaysOnFlash() throws IOException {
        RawClient pops = waiting("BLPOP a b 0");
        expect(other, "SADD b member", "1");
        server.drop("b");
        server.awaitWritten();
        AtomicInteger fetches = countFetches();
        expect(other, "RPUSH a x y", "2");
        gets(pops, "a", "x");
        expect(other, "LLEN a", "1");
        assertThat(fetches.get()).isZero();
        expect(other, "SCARD b", "1");
    }

    private AtomicInteger countFetches() {
        AtomicInteger fetches = new AtomicInteger();
        server.store().before(call -> {
            if (call.equals("get")) {
                fetches.incrementAndGet();
            }
        });
        return fetches;
    }

    /**
     * A waiting client runs its command again, because its target is on flash. The list is demoted while the target is
     * being fetched.
     */
    @Test
    void aListDemotedDuringTheFetchOfTheTarget() throws IOException {
        CountDownLatch slow = new CountDownLatch(1);
        try {
            expect(other, "RPUSH to y", "1");
            RawClient moves = waiting("BLMOVE a to LEFT LEFT 0");
            server.drop("to");
            server.awaitWritten();
            AtomicInteger held = new AtomicInteger();
            server.store().before(call -> {
                if (call.equals("get")) {
                    held.incrementAndGet();
                    awaitQuietly(slow);
                }
            });
            expect(other, "RPUSH a x", "1");
            await(() -> held.get() > 0);
            server.drop("a");
            assertThat(moves.isAnswered()).isFalse();
            slow.countDown();
            assertThat(moves.read().text()).isEqualTo("x");
            assertThat(other.call("LRANGE", "to", "0", "-1").elements()).extracting(RawReply::text)
                    .containsExactly("x", "y");
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

    /** Each time that it runs again is one of its own: it is not refused because there were many. */
    @Test
    void itMayRunAgainOften() throws IOException {
        expect(other, "RPUSH to x", "1");
        RawClient moves = waiting("BLMOVE a to LEFT LEFT 0");
        RawClient pops = waiting("BLPOP a 0");
        int runs = 0;
        for (int i = 0; runs < MANY_RUNS; i++) {
            server.drop("to");
            expect(other, "RPUSH a e" + i, "1");
            await(() -> moves.isAnswered() || pops.isAnswered());
            if (pops.isAnswered()) {
                // The move has to run again, and the client behind it is served.
                gets(pops, "a", "e" + i);
                runs++;
            } else {
                // The run before has brought the target back only now.
                assertThat(moves.read().text()).isEqualTo("e" + i);
                expect(other, "RPUSH a next", "1");
                gets(pops, "a", "next");
                moves.queue("BLMOVE", "a", "to", "LEFT", "LEFT", "0");
                moves.flush();
                await(() -> other.infoLong("blocked_clients") == 1);
            }
            pops.queue("BLPOP", "a", "0");
            pops.flush();
            await(() -> other.infoLong("blocked_clients") == 2);
        }
        assertThat(moves.isAnswered()).isFalse();
        pops.close();
        await(() -> other.infoLong("blocked_clients") == 1);
        expect(other, "RPUSH a last", "1");
        assertThat(moves.read().text()).isEqualTo("last");
    }

    /** Memory is full of what does not fall, and {@code b}, which the command makes, is too large to come up. */
    private void fillUp(String command) throws IOException {
        expect(other, "CONFIG SET maxmemory-policy volatile-lru", "OK");
        expect(other, command + " b " + "m".repeat(LARGE_BYTES), "1");
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
    }

    @Test
    void aClientIsServedAlthoughItsOtherKeyDoesNotFit() throws IOException {
        RawClient pops = waiting("BLPOP a b 0");
        fillUp("SADD");
        expect(other, "RPUSH a x", "1");
        gets(pops, "a", "x");
        expect(other, "EXISTS a", "0");
    }

    /** Otherwise it would wait for a change that may never come. */
    @Test
    void aMoveWhoseTargetDoesNotFitIsRefused() throws IOException {
        RawClient moves = waiting("BLMOVE a b LEFT LEFT 0");
        fillUp("RPUSH");
        expect(other, "RPUSH a x", "1");
        assertThat(moves.read().text()).startsWith("OOM");
        expect(other, "LLEN a", "1");
        assertThat(other.infoLong("blocked_clients")).isZero();
    }

    @Test
    void aSwapMakesClientsRunAgain() throws IOException {
        expect(other, "SELECT 1", "OK");
        expect(other, "RPUSH k x", "1");
        server.drop(1, "k");
        expect(other, "SELECT 0", "OK");
        RawClient pops = waiting("BLPOP none k 0");
        RawClient elsewhere = waiting("BLPOP other 0");
        expect(other, "SWAPDB 0 1", "OK");
        gets(pops, "k", "x");
        assertThat(elsewhere.isAnswered()).isFalse();
        expect(other, "EXISTS k", "0");
    }
}
