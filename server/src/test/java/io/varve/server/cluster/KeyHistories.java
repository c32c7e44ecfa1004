package io.varve.server.cluster;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.testing.RegisterHistory;

/**
 * Clients that write and read a few keys, and the history of each key. Thread-safe: guarded by its own monitor.
 *
 * <p>Each write has a value of its own, so that {@link RegisterHistory} can check the history. One more client reads
 * without WAIT, and stays with a member as long as that one answers: a member that is no primary any more must not
 * answer it. Its reads count if they returned a confirmed value, because others may be lost.
 */
final class KeyHistories implements AutoCloseable {
    private static final int CLIENTS = 3;
    private static final int MAX_PAUSE_MICROS = 4_000;

    private final List<InetSocketAddress> members;
    private final List<String> keys;
    private final long seed;
    private final Map<String, RegisterHistory> histories = new HashMap<>();
    private final Map<String, Integer> confirmedWrites = new HashMap<>();
    private final List<Thread> clients = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final Map<String, Set<String>> confirmedValues = new HashMap<>();
    private final List<PlainRead> plainReads = new ArrayList<>();
    private long confirmedReads;
    private long unknown;
    private int writes;
    private volatile boolean done;

    /** A read without WAIT. Immutable. */
    private record PlainRead(String key, String value, long invoked, long responded) {}

    KeyHistories(List<InetSocketAddress> members, List<String> keys, long seed) {
        this.members = members;
        this.keys = List.copyOf(keys);
        this.seed = seed;
        for (String key : keys) {
            RegisterHistory history = new RegisterHistory();
            history.write("(nil)", Long.MIN_VALUE, Long.MIN_VALUE);
            histories.put(key, history);
            confirmedWrites.put(key, 0);
            confirmedValues.put(key, new HashSet<>(Set.of("(nil)")));
        }
    }

    void start() {
        for (int i = 0; i < CLIENTS; i++) {
            Random random = new Random(seed + i);
            clients.add(Thread.ofPlatform().name("history-client-" + i).start(() -> run(random, this::writeOrRead)));
        }
        Random random = new Random(seed + CLIENTS);
        clients.add(Thread.ofPlatform().name("history-reader").start(() -> run(random, this::readPlainly)));
    }

    /** One operation of a client, which repeats it until the end. */
    private interface Step {
        void run(HistoryClient client, String key, Random random);
    }

    private void run(Random random, Step step) {
        try (HistoryClient client = new HistoryClient(members)) {
            while (!done) {
                step.run(client, keys.get(random.nextInt(keys.size())), random);
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(MAX_PAUSE_MICROS)));
            }
        } catch (Throwable failed) {
            synchronized (this) {
                failures.add(failed);
            }
        }
    }

    private void writeOrRead(HistoryClient client, String key, Random random) {
        if (random.nextBoolean()) {
            write(client, key);
        } else {
            read(client, key);
        }
    }

    private void readPlainly(HistoryClient client, String key, Random random) {
        long invoked = System.nanoTime();
        Optional<String> value = client.readPlainly(key);
        long responded = System.nanoTime();
        synchronized (this) {
            value.ifPresent(read -> plainReads.add(new PlainRead(key, read, invoked, responded)));
        }
    }

    private synchronized String newValue() {
        return "v" + ++writes;
    }

    private void write(HistoryClient client, String key) {
        String value = newValue();
        long invoked = System.nanoTime();
        HistoryClient.Outcome outcome = client.write(key, value);
        long responded = System.nanoTime();
        synchronized (this) {
            RegisterHistory history = history(key);
            switch (outcome) {
                case CONFIRMED -> {
                    history.write(value, invoked, responded);
                    confirmedWrites.merge(key, 1, Integer::sum);
                    confirmedValues(key).add(value);
                }
                case UNKNOWN -> {
                    history.unconfirmedWrite(value, invoked);
                    unknown++;
                }
                case REFUSED -> {
                    // It has no effect. A read of its value would be found as a read before its write.
                }
            }
        }
    }

    private boolean read(HistoryClient client, String key) {
        long invoked = System.nanoTime();
        Optional<String> value = client.read(key);
        long responded = System.nanoTime();
        synchronized (this) {
            value.ifPresent(read -> {
                history(key).read(read, invoked, responded);
                confirmedReads++;
            });
        }
        return value.isPresent();
    }

    private RegisterHistory history(String key) {
        return Objects.requireNonNull(histories.get(key), key);
    }

    private Set<String> confirmedValues(String key) {
        return Objects.requireNonNull(confirmedValues.get(key), key);
    }

    /** Confirmed writes of the key that has the fewest. */
    synchronized int fewestWrites() {
        return confirmedWrites.values().stream().mapToInt(count -> count).min().orElse(0);
    }

    /** Ends the clients. */
    @Override
    public void close() {
        done = true;
        try {
            for (Thread client : clients) {
                client.join();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reads each key. @return whether all reads were confirmed */
    boolean readAll() {
        try (HistoryClient client = new HistoryClient(members)) {
            boolean all = true;
            for (String key : keys) {
                all &= read(client, key);
            }
            return all;
        }
    }

    /** Violations of linearizability, and failures of the clients. Called once. */
    synchronized List<String> problems() {
        for (PlainRead read : plainReads) {
            if (confirmedValues(read.key).contains(read.value)) {
                history(read.key).read(read.value, read.invoked, read.responded);
            }
        }
        List<String> problems = new ArrayList<>();
        failures.forEach(failed -> problems.add(failed.toString()));
        histories.forEach((key, history) -> history.problems().forEach(problem -> problems.add(key + ": " + problem)));
        return problems;
    }

    @Override
    public synchronized String toString() {
        return confirmedWrites.values().stream().mapToInt(count -> count).sum() + " confirmed writes, "
                + confirmedReads + " confirmed reads, " + plainReads.size() + " plain reads, " + unknown
                + " writes without an answer";
    }
}
