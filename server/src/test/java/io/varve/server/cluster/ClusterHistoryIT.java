package io.varve.server.cluster;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command;
import io.varve.server.cluster.machine.TestNetwork;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Histories of keys in a cluster whose processes die, stop, and lose each other, while slots migrate: what was
 * confirmed by WAIT is linearizable for each key, and so are reads of it without WAIT.
 *
 * <p>As root on Linux each process has a network of its own, and partitions and full disks are among the faults. With
 * {@code -Dvarve.cluster.faketime=PATH} of the library libfaketime, clocks jump, too.
 * {@code -Dvarve.cluster.histories=1000} runs more of them, {@code -Dvarve.cluster.seed=N} repeats a sequence of faults
 * (not of its interleavings), and {@code -Dvarve.cluster.fault=NAME} has only one fault happen.
 */
class ClusterHistoryIT {
    private static final Duration WAIT = Duration.ofMinutes(2);
    private static final int KEYS = 4;
    private static final int MAX_BEFORE_MILLIS = 300;
    private static final int WRITES_AFTERWARDS = 3;
    /** In one of so many runs in which slots migrate, the migrations are aborted and begun anew all the time. */
    private static final int RUNS_PER_ABORTS = 2;
    private static final int MAX_BEFORE_ABORT_MILLIS = 20;

    @TempDir
    Path folder;

    @Test
    void confirmedOperations_areLinearizable() throws Exception {
        long runs = TestBudget.of("varve.cluster.histories", 20, 200);
        long seed = TestBudget.seed("varve.cluster.seed");
        TestNetwork network = TestNetwork.allowsNamespaces() ? TestNetwork.ofNamespaces() : TestNetwork.loopback();
        try (ProcessCluster cluster = ProcessCluster.start(folder, network, ProcessCluster.LEASE_MILLIS, 3, 2, 1)) {
            // A primary whose former primary is cut off needs another replica to confirm writes.
            cluster.addReplica();
            cluster.awaitServing();
            Random seeds = new Random(seed);
            // Each fault comes once before one comes again.
            Deque<ClusterFault> faults = new ArrayDeque<>();
            for (int run = 0; run < runs; run++) {
                if (faults.isEmpty()) {
                    List<ClusterFault> all = new ArrayList<>(ClusterFault.on(network));
                    Collections.shuffle(all, seeds);
                    faults.addAll(all);
                }
                run(cluster, network, run, faults.remove(), new Random(seeds.nextLong()));
            }
        }
    }

    private static void run(ProcessCluster cluster, TestNetwork network, int run, ClusterFault fault, Random random)
            throws Exception {
        List<String> keys = IntStream.range(0, KEYS).mapToObj(i -> "{" + run + "key" + i + "}").toList();
        List<InetSocketAddress> members = IntStream.range(0, cluster.memberCount()).mapToObj(cluster::member)
                .map(member -> new InetSocketAddress(member.host(), member.port())).toList();
        boolean migrates = random.nextBoolean();
        boolean aborts = migrates && random.nextInt(RUNS_PER_ABORTS) == 0;
        String title = "run " + run + ": " + fault + (migrates ? " while slots migrate" : "")
                + (aborts ? " and migrations are aborted" : "");
        KeyHistories histories = new KeyHistories(members, keys, random.nextLong());
        try (histories) {
            histories.start();
            await().atMost(WAIT).until(() -> histories.fewestWrites() > 0);
            List<String> moving = keys.subList(0, 2);
            Aborts endless = new Aborts(cluster, moving, random.nextLong());
            if (migrates) {
                migrate(cluster, moving);
            }
            if (aborts) {
                endless.start();
            }
            try {
                pause(random, MAX_BEFORE_MILLIS);
                fault.happen(cluster, network, cluster.owner(keys.getFirst()), random);
            } finally {
                endless.stop();
            }
            cluster.awaitServing();
            int before = histories.fewestWrites();
            await(title).atMost(WAIT).until(() -> histories.fewestWrites() >= before + WRITES_AFTERWARDS);
            await(title).atMost(WAIT).until(() -> cluster.map().migrations().isEmpty());
        }
        await(title).atMost(WAIT).until(histories::readAll);
        System.out.println("ClusterHistoryIT: " + title + ": " + histories);
        assertThat(histories.problems()).as(() -> title + "\n" + errors(cluster)).isEmpty();
    }

    private static void pause(Random random, int maxMillis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(maxMillis)));
    }

    private static String errors(ProcessCluster cluster) {
        try {
            return cluster.errors();
        } catch (java.io.IOException failed) {
            return failed.toString();
        }
    }

    /** Begins to move the slots of keys to the other primary. */
    private static void migrate(ProcessCluster cluster, List<String> keys) throws Exception {
        List<Integer> primaries = cluster.primaries();
        for (String key : keys) {
            int slot = HashSlot.of(key);
            List<Integer> others = new ArrayList<>(primaries);
            others.remove((Object) cluster.owner(key));
            cluster.change(new Command.BeginMigration(List.of(new SlotRange(slot, slot)),
                    cluster.id(others.getFirst())));
        }
    }

    /** Aborts all migrations of a cluster, and begins those of some keys anew, until it is stopped. */
    private static final class Aborts {
        private final ProcessCluster cluster;
        private final List<String> keys;
        private final Random random;
        private final Thread thread = Thread.ofPlatform().unstarted(this::run);
        private volatile boolean stopped;

        Aborts(ProcessCluster cluster, List<String> keys, long seed) {
            this.cluster = cluster;
            this.keys = keys;
            random = new Random(seed);
        }

        void start() {
            thread.start();
        }

        void stop() throws InterruptedException {
            stopped = true;
            thread.join();
        }

        private void run() {
            int aborted = 0;
            Set<String> failures = new TreeSet<>();
            while (!stopped) {
                pause(random, MAX_BEFORE_ABORT_MILLIS);
                try {
                    List<SlotRange> moving = cluster.map().migrations().keySet().stream()
                            .map(slot -> new SlotRange(slot, slot)).toList();
                    if (moving.isEmpty()) {
                        migrate(cluster, keys);
                    } else {
                        cluster.change(new Command.AbortMigration(moving));
                        aborted++;
                    }
                } catch (Exception failed) {
                    // The fault may have made the controllers unreachable, or changed the members' roles.
                    failures.add(failed.toString());
                }
            }
            System.out.println("ClusterHistoryIT: " + aborted + " aborts; requests that failed: " + failures);
        }
    }
}
