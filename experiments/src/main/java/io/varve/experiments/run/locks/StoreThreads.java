package io.varve.experiments.run.locks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;

import io.varve.experiments.run.context.Cancellation;

/**
 * Threads that use one store at full speed. Confined to the thread that does the run, which starts the others and waits
 * for them.
 *
 * <p>Each thread reads all words in its own random order, again and again. Under the read-write load it reads a word,
 * writes it and reads it again, which counts as three requests (Song and Pu, "Implementation and Evaluation of a
 * Durable Distributed Key-Value Store", sections 4.1 and 4.4).
 */
final class StoreThreads {
    /** The requests of a word under the read-write load. */
    private static final int REQUESTS_OF_A_WRITE = 3;

    /**
     * The result of one round.
     *
     * @param ops requests a second of all threads
     * @param cpuNanosPerOp CPU time of this process for one request, ns
     * @param missed number of reads that found no value
     */
    record Result(double ops, double cpuNanosPerOp, long missed) {}

    private final List<WordStore.Access> accesses = new ArrayList<>();
    private final int[][] orders;
    private final byte[] value;
    private final Cancellation cancellation;
    private volatile boolean ended;

    /**
     * @param words number of words, all of which the store has
     * @param seed determines the orders; equal for all stores
     */
    StoreThreads(WordStore store, int threads, int words, byte[] value, long seed, Cancellation cancellation) {
        this.value = value.clone();
        this.cancellation = cancellation;
        orders = new int[threads][words];
        for (int thread = 0; thread < threads; thread++) {
            accesses.add(store.open());
            SplittableRandom random = new SplittableRandom(seed + thread);
            for (int i = 0; i < words; i++) {
                int other = random.nextInt(i + 1);
                orders[thread][i] = orders[thread][other];
                orders[thread][other] = i;
            }
        }
    }

    /**
     * Runs one round.
     *
     * @param writes whether each word is also written
     * @param millis its duration
     */
    Result run(boolean writes, long millis) throws IOException {
        List<Worker> workers = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        CountDownLatch start = new CountDownLatch(1);
        ended = false;
        for (int i = 0; i < orders.length; i++) {
            workers.add(new Worker(accesses.get(i), orders[i], writes, start));
            threads.add(Thread.ofPlatform().name("store-" + i).start(workers.getLast()));
        }
        long cpuBefore = cpuNanos();
        long begin = System.nanoTime();
        start.countDown();
        cancellation.await(millis);
        ended = true;
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while threads used a store", e);
        }
        long nanos = System.nanoTime() - begin;
        long cpu = cpuNanos() - cpuBefore;
        long requests = 0;
        long missed = 0;
        for (Worker worker : workers) {
            requests += worker.requests;
            missed += worker.missed;
        }
        return new Result(requests * 1e9 / nanos, (double) cpu / Math.max(1, requests), missed);
    }

    private static long cpuNanos() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getProcessCpuTime()
                : 0;
    }

    /** One thread. Confined to it; its results are read after it has ended. */
    private final class Worker implements Runnable {
        private final WordStore.Access access;
        private final int[] order;
        private final boolean writes;
        private final CountDownLatch start;
        private long requests;
        private long missed;

        Worker(WordStore.Access access, int[] order, boolean writes, CountDownLatch start) {
            this.access = access;
            this.order = order;
            this.writes = writes;
            this.start = start;
        }

        @Override
        public void run() {
            try {
                start.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            if (writes) {
                readAndWrite();
            } else {
                read();
            }
        }

        private void read() {
            long done = 0;
            long absent = 0;
            for (int next = 0; !ended; next = next + 1 == order.length ? 0 : next + 1) {
                absent += access.read(order[next]) < 0 ? 1 : 0;
                done++;
            }
            requests = done;
            missed = absent;
        }

        private void readAndWrite() {
            byte[] own = value.clone();
            long done = 0;
            long absent = 0;
            for (int next = 0; !ended; next = next + 1 == order.length ? 0 : next + 1) {
                int word = order[next];
                int before = access.read(word);
                own[0] = (byte) (before + 1 & Byte.MAX_VALUE);
                access.write(word, own);
                absent += (before < 0 ? 1 : 0) + (access.read(word) < 0 ? 1 : 0);
                done += REQUESTS_OF_A_WRITE;
            }
            requests = done;
            missed = absent;
        }
    }
}
