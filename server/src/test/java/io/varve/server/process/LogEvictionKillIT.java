package io.varve.server.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Kills a server with {@code appendfsync always} that evicts keys while clients write: from memory, or demotes them and
 * evicts from flash. After each start, a key is
 * absent, or has the last acknowledged value or one that was sent later; never an older one. A key that was absent
 * does not come back by itself. One thread for each client, which owns its keys.
 *
 * <p>{@code -Dvarve.log.evictionkills=N} sets the number of kills, {@code -Dvarve.log.seed=N} repeats the commands.
 */
@Timeout(7200)
class LogEvictionKillIT {
    private static final int KILLS = TestBudget.ofInt("varve.log.evictionkills", 2, 200);
    private static final int CLIENTS = 2;
    private static final int PIPELINE = 32;
    /** The values of all keys take some five times the memory. */
    private static final int KEYS = 20_000;
    private static final String PADDING = "x".repeat(2_000);
    private static final String MAX_MEMORY = "16mb";
    private static final int FLASH_KEYS = 6_000;

    @Test
    void olderValues_doNotComeBack(@TempDir Path directory) throws IOException, InterruptedException {
        run(directory, "evicted_keys", 100, List.of());
    }

    @Test
    void olderValuesOfKeysOnFlash_doNotComeBack(@TempDir Path directory) throws IOException, InterruptedException {
        run(directory.resolve("dir"), "flash_evictions", FLASH_KEYS, List.of("--flash-dir",
                directory.resolve("flash").toString(), "--flash-max-items", Integer.toString(FLASH_KEYS)));
    }

    /**
     * @param counter of the evictions
     * @param least so many keys there are after each kill
     */
    private static void run(Path directory, String counter, int least, List<String> settings)
            throws IOException, InterruptedException {
        Files.createDirectories(directory);
        long seed = TestBudget.seed("varve.log.seed");
        SplittableRandom random = new SplittableRandom(seed);
        List<Writer> writers = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            writers.add(new Writer(i, random.split()));
        }
        for (int i = 0; i <= KILLS; i++) {
            List<String> all = new ArrayList<>(List.of("--dir", directory.toString(), "--appendonly", "yes",
                    "--appendfsync", "always", "--io-threads", "2", "--maxmemory", MAX_MEMORY, "--maxmemory-policy",
                    "allkeys-lru", "--auto-aof-rewrite-min-size", "4mb"));
            all.addAll(settings);
            try (ServerProcess server = ServerProcess.start(all.toArray(String[]::new))) {
                int present = 0;
                for (Writer writer : writers) {
                    present += writer.check(server.port(), "seed " + seed + ", kill " + i);
                }
                assertThat(present).as("keys after kill %s", i).isBetween(i == 0 ? 0 : least, CLIENTS * KEYS / 2);
                if (i < KILLS) {
                    kill(server, writers, counter, random);
                }
            }
        }
    }

    private static void kill(ServerProcess server, List<Writer> writers, String counter, SplittableRandom random)
            throws IOException, InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (Writer writer : writers) {
            writer.isDead = false;
            threads.add(Thread.ofPlatform().start(() -> writer.run(server.port())));
        }
        try (RawClient admin = new RawClient(server.port())) {
            while (admin.infoLong(counter) < 1_000) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
            admin.command("BGREWRITEAOF");
            long evicted = admin.infoLong(counter) + random.nextInt(4_000);
            while (admin.infoLong(counter) < evicted) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
        }
        for (Writer writer : writers) {
            writer.isDead = true;
        }
        server.process().destroyForcibly();
        for (Thread thread : threads) {
            thread.join();
        }
        for (Writer writer : writers) {
            assertThat(writer.failure).isNull();
        }
    }

    /** A command: number {@code version} of its client. A negative one deletes the key. */
    private record Sent(int key, long version) {}

    /** The values that a key may have. */
    private static final class Versions {
        /** The last version that the server has acknowledged, or that was found; 0 and negative: the key is absent. */
        private long known;
        /** Later versions. */
        private final Deque<Long> sent = new ArrayDeque<>();

        void acknowledge(long version) {
            known = version;
            sent.removeFirst();
        }

        boolean allows(long found) {
            return found > 0 && (found == known || sent.contains(found));
        }
    }

    /** A client, and a model of its keys. Confined to its thread, or to the test's while that does not run. */
    private static final class Writer {
        private final String prefix;
        private final SplittableRandom random;
        private final List<Versions> keys = new ArrayList<>();
        private long version;
        private volatile boolean isDead;
        private volatile @Nullable Throwable failure;

        Writer(int index, SplittableRandom random) {
            prefix = "client" + index + ":";
            this.random = random;
            for (int i = 0; i < KEYS; i++) {
                keys.add(new Versions());
            }
        }

        void run(int port) {
            try (RawClient client = new RawClient(port)) {
                while (true) {
                    write(client);
                }
            } catch (IOException killed) {
                if (!isDead) {
                    failure = killed;
                }
            } catch (RuntimeException | Error failed) {
                failure = failed;
            }
        }

        private void write(RawClient client) throws IOException {
            List<Sent> batch = new ArrayList<>();
            for (int i = 1 + random.nextInt(PIPELINE); i > 0; i--) {
                int key = random.nextInt(KEYS);
                version++;
                boolean deletes = random.nextInt(8) == 0;
                Sent sent = new Sent(key, deletes ? -version : version);
                batch.add(sent);
                keys.get(key).sent.addLast(sent.version);
                if (deletes) {
                    client.queue("DEL", prefix + key);
                } else {
                    client.queue("SET", prefix + key, version + ":" + PADDING);
                }
            }
            client.flush();
            for (Sent sent : batch) {
                RawReply reply = client.read();
                assertThat(reply.isError()).as(reply.text()).isFalse();
                keys.get(sent.key).acknowledge(sent.version);
            }
        }

        /** @return how many keys there are */
        int check(int port, String how) throws IOException {
            int present = 0;
            try (RawClient client = new RawClient(port)) {
                for (int from = 0; from < KEYS; from += PIPELINE) {
                    int to = Math.min(KEYS, from + PIPELINE);
                    for (int i = from; i < to; i++) {
                        client.queue("GET", prefix + i);
                    }
                    client.flush();
                    for (int i = from; i < to; i++) {
                        RawReply reply = client.read();
                        Versions key = keys.get(i);
                        if (reply.isNull()) {
                            key.known = 0;
                        } else {
                            long found = Long.parseLong(reply.text().split(":", 2)[0]);
                            assertThat(key.allows(found))
                                    .as("%s, %s%s: found version %s; acknowledged or found before %s, sent %s", how,
                                            prefix, i, found, key.known, key.sent)
                                    .isTrue();
                            key.known = found;
                            present++;
                        }
                        key.sent.clear();
                    }
                }
            }
            return present;
        }
    }
}
