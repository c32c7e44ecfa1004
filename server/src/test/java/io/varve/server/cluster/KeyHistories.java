package io.varve.server.cluster;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.testing.RegisterHistory;

/**
 * Clients that write and read a few keys, and the history of each key. Thread-safe: guarded by its own monitor.
 *
 * <p>Each write has a value of its own, so that {@link RegisterHistory} can check the history.
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
    private long confirmedReads;
    private long unknown;
    private int writes;
    private volatile boolean done;

    KeyHistories(List<InetSocketAddress> members, List<String> keys, long seed) {
        this.members = members;
        this.keys = List.copyOf(keys);
        this.seed = seed;
        for (String key : keys) {
            RegisterHistory history = new RegisterHistory();
            history.write("(nil)", Long.MIN_VALUE, Long.MIN_VALUE);
            histories.put(key, history);
            confirmedWrites.put(key, 0);
        }
    }

    void start() {
        for (int i = 0; i < CLIENTS; i++) {
            Random random = new Random(seed + i);
            clients.add(Thread.ofPlatform().name("history-client-" + i).start(() -> run(random)));
        }
    }

    private void run(Random random) {
        try (HistoryClient client = new HistoryClient(members)) {
            while (!done) {
                String key = keys.get(random.nextInt(keys.size()));
                if (random.nextBoolean()) {
                    write(client, key);
                } else {
                    read(client, key);
                }
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(MAX_PAUSE_MICROS)));
            }
        } catch (Throwable failed) {
            synchronized (this) {
                failures.add(failed);
            }
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
        RegisterHistory history = histories.get(key);
        if (history == null) {
            throw new IllegalArgumentException(key);
        }
        return history;
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

    /** Violations of linearizability, and failures of the clients. */
    synchronized List<String> problems() {
        List<String> problems = new ArrayList<>();
        failures.forEach(failed -> problems.add(failed.toString()));
        histories.forEach((key, history) -> history.problems().forEach(problem -> problems.add(key + ": " + problem)));
        return problems;
    }

    @Override
    public synchronized String toString() {
        return confirmedWrites.values().stream().mapToInt(count -> count).sum() + " confirmed writes, "
                + confirmedReads + " confirmed reads, " + unknown + " writes without an answer";
    }
}
