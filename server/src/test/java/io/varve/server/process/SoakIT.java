package io.varve.server.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two hundred clients connect and disconnect, with commands of all types, while items expire and are evicted, and
 * indexes grow and shrink. Confined to the test's thread, except the clients, each on its own. At the end the server
 * holds nothing of them, is intact, has logged no error, and its memory has not grown.
 *
 * <p>{@code -Dvarve.soak.seconds=1800} makes it half an hour, {@code -Dvarve.soak.seed=N} repeats the clients' draws.
 */
class SoakIT {
    private static final long SECONDS = TestBudget.of("varve.soak.seconds", 4, 900);
    /** A shorter run fills less memory, and is too short to show that it grows. */
    private static final long SHORT_SECONDS = 60;
    private static final int CLIENTS = 200;
    /** How often a client reconnects, on average: less often in a short run. */
    private static final int MIN_CONNECTIONS = CLIENTS * (SECONDS < SHORT_SECONDS ? 2 : 5);
    private static final long MB = 1 << 20;
    private static final long MAX_MEMORY_BYTES = (SECONDS < SHORT_SECONDS ? 32 : 48) * MB;
    private static final long GROWTH_BYTES = 32 * MB;
    private static final int END_SECONDS = 300;
    /** On a slow machine it takes up to so many seconds longer, until all that is to be shown has happened. */
    private static final int EXTRA_SECONDS = 120;

    /**
     * A sample of every second or so. Immutable.
     *
     * @param nanos since the start
     */
    private record Sample(long nanos, long residentBytes) {}

    @Test
    void clientsReleaseAllMemory() throws Exception {
        long seed = TestBudget.seed("varve.soak.seed");
        try (ServerProcess server = ServerProcess.start(SoakServer::commandLine, "--maxmemory",
                Long.toString(MAX_MEMORY_BYTES), "--maxmemory-policy", "allkeys-lru", "--io-threads", "2",
                "--notify-keyspace-events", "KEA")) {
            try {
                soak(server, seed);
            } catch (Throwable broken) {
                throw new AssertionError("seed " + seed + ": " + broken + "; the server said:\n" + server.errors(),
                        broken);
            }
            server.process().getOutputStream().close();
            assertThat(server.awaitEnd(END_SECONDS)).as("seed %d: %s", seed, server.errors()).isZero();
            System.out.println(server.errors());
            assertThat(server.errors()).as("seed %d", seed).doesNotContain(" ERROR ", "Exception");
        }
    }

    private static void soak(ServerProcess server, long seed) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        LongAdder commands = new LongAdder();
        List<Sample> samples = new ArrayList<>();
        Set<String> indexBytes = new HashSet<>();
        SplittableRandom random = new SplittableRandom(seed);
        long start = System.nanoTime();
        long end = start + TimeUnit.SECONDS.toNanos(SECONDS);
        long latest = start + TimeUnit.SECONDS.toNanos(SECONDS + EXTRA_SECONDS);
        try (RawClient admin = new RawClient(server.port());
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            ExecutorCompletionService<Boolean> clients = new ExecutorCompletionService<>(threads);
            for (int i = 0; i < CLIENTS; i++) {
                SoakClient client = new SoakClient(server.port(), random.nextLong(), commands);
                clients.submit(() -> {
                    client.run(over::get);
                    return true;
                });
            }
            try {
                while (System.nanoTime() < end
                        || System.nanoTime() < latest && !hasAllHappened(admin, indexBytes)) {
                    Future<Boolean> broken = clients.poll(1, TimeUnit.SECONDS);
                    assertThat(broken == null || broken.get()).isTrue();
                    assertThat(broken).as("a client that ends before its time").isNull();
                    samples.add(new Sample(System.nanoTime() - start, server.memoryBytes("VmRSS")));
                    indexBytes.add(admin.info("index_bytes"));
                }
            } finally {
                over.set(true);
            }
            for (int i = 0; i < CLIENTS; i++) {
                assertThat(clients.take().get()).isTrue();
            }
            checkPremises(admin, commands.sum(), indexBytes);
        }
        long took = samples.getLast().nanos;
        if (SECONDS >= SHORT_SECONDS) {
            checkMemory(server, samples, took / 3, took / 3 * 2);
        }
    }

    private static boolean hasAllHappened(RawClient admin, Set<String> indexBytes) throws IOException {
        return admin.infoLong("total_connections_received") > MIN_CONNECTIONS && admin.infoLong("expired_keys") > 0
                && admin.infoLong("expired_subkeys") > 0 && admin.infoLong("evicted_keys") > 0
                && admin.infoLong("cleaner_segments_cleaned") > 0 && indexBytes.size() > 1;
    }

    /** Checks the premises: without them the run proves nothing. */
    private static void checkPremises(RawClient admin, long commands, Set<String> indexBytes) throws IOException {
        System.out.println(commands + " commands, " + admin.info("total_connections_received") + " connections, "
                + admin.info("expired_keys") + " expired, " + admin.info("expired_subkeys") + " fields expired, "
                + admin.info("evicted_keys") + " evicted, "
                + indexBytes.size() + " sizes of indexes");
        assertThat(commands).isPositive();
        assertThat(hasAllHappened(admin, indexBytes)).as("connections, expiry, eviction, cleaning, rehashing").isTrue();
    }

    /**
     * The first third is to warm up: then the whole heap is resident (from the start), maxmemory is used up, and the
     * pools have what two hundred connections need. What the most of the last third is above the most of the second is
     * then what the JIT still compiles (its code may take 48 MB in all), and what leaks: 32 MB would be a small buffer
     * of each of some ten thousand connections.
     */
    private static void checkMemory(ServerProcess server, List<Sample> samples, long warm, long late)
            throws Exception {
        long before = max(samples, warm, late);
        long after = max(samples, late, Long.MAX_VALUE);
        System.out.println("resident: " + before / MB + " MB, then " + after / MB + " MB, at most "
                + server.memoryBytes("VmHWM") / MB + " MB");
        assertThat(after - before).as("growth of %d bytes by %d bytes", before, after - before)
                .isLessThan(GROWTH_BYTES);
    }

    private static long max(List<Sample> samples, long from, long to) {
        return samples.stream().filter(sample -> sample.nanos >= from && sample.nanos < to)
                .mapToLong(Sample::residentBytes).max().orElseThrow();
    }
}
