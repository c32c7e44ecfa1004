package io.varve.flash.tier;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the tier's own threads under unexpected failures. Confined to the test's thread. */
class TierThreadsTest {
    private static final FlashTierSettings AMPLE = FlashTierSettings.of(100_000).withQueueBytes(1L << 30)
            .withThreads(1);

    @TempDir
    Path directory;

    private final CrashingStore device = new CrashingStore();

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("it does not come").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    /** The device's store, but that this method fails the first few times. */
    private FlashStore failing(String name, int times) {
        AtomicInteger calls = new AtomicInteger();
        return (FlashStore) Proxy.newProxyInstance(FlashStore.class.getClassLoader(), new Class<?>[] {FlashStore.class},
                (_, method, arguments) -> {
                    if (method.getName().equals(name) && calls.getAndIncrement() < times) {
                        throw new AssertionError(name + " fails, for the test");
                    }
                    try {
                        return method.invoke(device, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }

    @Test
    void workerContinuesAfterFailureOfRequester() {
        try (TierFixture fixture = new TierFixture(directory, _ -> device, AMPLE)) {
            fixture.set(0, "key", "value");
            fixture.demoteOthers(1, "one ");
            fixture.settle();
            fixture.fetch(0, "nothing", () -> {
                throw new AssertionError("for the test");
            });
            assertThat(fixture.get(0, "key")).isEqualTo("value");
            assertThat(fixture.tier.stats().invalidations()).isZero();
        }
    }

    @Test
    void filesAreCheckedAfterAnyFailure() {
        FlashStore store = failing("bytesWritten", 1);
        try (TierFixture fixture = new TierFixture(directory, _ -> store, AMPLE)) {
            fixture.set(0, "key", "value");
            fixture.demoteOthers(1, "one ");
            await(() -> fixture.tier.stats().deviceBytes() > 0);
        }
    }

    /** Such an action may lock shards, whose holder may wait for a worker, which takes the lock of the walk. */
    @Test
    void actionsAfterTheSweepRunWithoutItsLock() throws Exception {
        try (TierFixture fixture = new TierFixture(directory, _ -> device, AMPLE)) {
            fixture.set(0, "key", "value");
            fixture.demoteOthers(1, "one ");
            fixture.settle();
        }
        CountDownLatch begins = new CountDownLatch(1);
        FlashStore store = delegating("walk", cursor -> delayed((KeyCursor) cursor, begins));
        try (TierFixture fixture = new TierFixture(directory, _ -> store, AMPLE)) {
            CompletableFuture<Boolean> isFree = new CompletableFuture<>();
            fixture.tier.whenComplete(() -> isFree.complete(TierFixture.join(CompletableFuture.supplyAsync(() -> {
                fixture.tier.residency().lockWalk();
                fixture.tier.residency().unlockWalk();
                return true;
            }))));
            assertThat(isFree).isNotDone();
            begins.countDown();
            assertThat(TierFixture.join(isFree)).isTrue();
        }
    }

    private FlashStore delegating(String name, UnaryOperator<Object> replaced) {
        return (FlashStore) Proxy.newProxyInstance(FlashStore.class.getClassLoader(), new Class<?>[] {FlashStore.class},
                (_, method, arguments) -> {
                    try {
                        Object result = method.invoke(device, arguments);
                        return method.getName().equals(name) ? replaced.apply(result) : result;
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }

    private static KeyCursor delayed(KeyCursor cursor, CountDownLatch begins) {
        return new KeyCursor() {
            @Override
            public boolean next() {
                try {
                    assertThat(begins.await(1, TimeUnit.MINUTES)).isTrue();
                } catch (InterruptedException ended) {
                    throw new IllegalStateException(ended);
                }
                return cursor.next();
            }

            @Override
            public byte[] key() {
                return cursor.key();
            }

            @Override
            public void seek(byte[] from) {
                cursor.seek(from);
            }
        };
    }

    /** With no space, the state file could only be deleted: it is written as soon as that is possible. */
    @Test
    void theStateIsWrittenOnceItCanBe() throws IOException {
        MortalStore store = new MortalStore(device);
        TierFixture fixture = new TierFixture(directory, _ -> store, AMPLE);
        Path inTheWay = Files.createDirectory(directory.resolve("state.new"));
        TierFixture.join(fixture.tier.flushAll());
        assertThat(directory.resolve("state")).doesNotExist();
        fixture.set(0, "key", "value");
        fixture.demoteOthers(1, "one ");
        fixture.settle();
        assertThat(fixture.tier.stats().written()).isPositive();
        Files.delete(inTheWay);
        await(() -> Files.exists(directory.resolve("state")));
        store.kill();
        try (TierFixture next = new TierFixture(directory, _ -> device, AMPLE)) {
            assertThat(next.get(0, "key")).isEqualTo("value");
        }
    }
}
