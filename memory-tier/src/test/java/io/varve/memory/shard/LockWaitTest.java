package io.varve.memory.shard;

import java.util.List;
import java.util.concurrent.CountDownLatch;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.LockWait;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests that a thread which gives up its wait for a shard holds none. Many threads: the test's and a holder's. */
@Timeout(60)
class LockWaitTest {
    private static final int SHARDS = 4;

    private static ShardSet set(int first, int end) {
        ShardSet set = new ShardSet(SHARDS);
        for (int i = first; i < end; i++) {
            set.add(i);
        }
        return set;
    }

    @AfterEach
    void waitAgain() {
        LockWait.giveUpIf(() -> false);
    }

    @Test
    void aThreadThatGivesUp_holdsNoShard() throws InterruptedException {
        try (Cache cache = Cache.open(CacheConfig.defaults(16L << 20).withShards(SHARDS))) {
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(1);
            boolean[] freed = new boolean[SHARDS];
            Thread holder = Thread.ofPlatform().start(() -> {
                CacheSession session = cache.newSession();
                session.lock(set(2, 3));
                held.countDown();
                awaitUninterruptibly(done);
                for (int i = 0; i < SHARDS; i++) {
                    freed[i] = !session.isLocked(i);
                }
                session.unlock(set(2, 3));
            });
            held.await();
            CacheSession session = cache.newSession();
            int[] asked = {0};
            LockWait.giveUpIf(() -> ++asked[0] % 3 == 0);
            List<ThrowingCallable> waits = List.of(() -> session.lock(set(0, SHARDS)), () -> cache.flush(0),
                    cache::flushAll, () -> cache.size(0), cache::stats, () -> cache.swap(0, 1));
            for (ThrowingCallable wait : waits) {
                assertThatThrownBy(wait).isInstanceOf(LockWait.GivenUpException.class);
            }
            assertThat(asked[0]).isEqualTo(3 * waits.size());
            done.countDown();
            holder.join();
            assertThat(freed).containsExactly(true, true, false, true);
            assertThat(cache.size(0)).isZero();
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
