package io.varve.experiments.run.log;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import org.jspecify.annotations.Nullable;

/**
 * Clients that write a few records each and wait for every reply, on one thread and connection each. Immutable; the
 * thread that does the run starts the others and waits for them. Source: Song and Pu, "Implementation and Evaluation of
 * a Durable Distributed Key-Value Store", section 4.3, Table 1.
 */
final class RecordWriters {
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * The result of one round.
     *
     * @param ops records a second, from the common start to the last reply
     * @param meanMillis mean time from sending a record to its reply
     */
    record Result(double ops, double meanMillis) {}

    private final int clients;
    private final int records;
    private final long keys;
    private final String value;

    /**
     * @param clients number of clients
     * @param records number of records that each writes
     * @param keys number of keys that the records are drawn from
     * @param valueBytes length of a value
     */
    RecordWriters(int clients, int records, long keys, int valueBytes) {
        this.clients = clients;
        this.records = records;
        this.keys = keys;
        this.value = "x".repeat(valueBytes);
    }

    /** @param seed determines the records; equal for all servers of a round */
    Result run(Target target, long seed) throws IOException {
        List<Client> all = new ArrayList<>();
        CyclicBarrier start = new CyclicBarrier(clients + 1);
        try {
            for (int i = 0; i < clients; i++) {
                all.add(new Client(new RespConnection(target.host(), target.port()), start, seed + i));
            }
            List<Thread> threads = new ArrayList<>();
            for (Client client : all) {
                threads.add(Thread.ofPlatform().name("writer").start(client));
            }
            start.await();
            long begin = System.nanoTime();
            for (Thread thread : threads) {
                thread.join();
            }
            return result(all, begin);
        } catch (InterruptedException | BrokenBarrierException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the writers ran", e);
        } finally {
            for (Client client : all) {
                client.connection.close();
            }
        }
    }

    private Result result(List<Client> all, long begin) throws IOException {
        long end = begin;
        long latencies = 0;
        for (Client client : all) {
            IOException fault = client.fault;
            if (fault != null) {
                throw fault;
            }
            end = Math.max(end, client.endNanos);
            latencies += client.latencyNanos;
        }
        long total = (long) clients * records;
        return new Result(total * 1e9 / (end - begin), latencies / NANOS_PER_MILLI / total);
    }

    /** One client. Confined to its thread; its results are read after the thread has ended. */
    private final class Client implements Runnable {
        private final RespConnection connection;
        private final CyclicBarrier start;
        private final List<String> keysToWrite = new ArrayList<>();
        private long latencyNanos;
        private long endNanos;
        private @Nullable IOException fault;

        Client(RespConnection connection, CyclicBarrier start, long seed) {
            this.connection = connection;
            this.start = start;
            SplittableRandom random = new SplittableRandom(seed);
            for (int i = 0; i < records; i++) {
                keysToWrite.add(String.format(Locale.ROOT, "key:%012d", random.nextLong(keys)));
            }
        }

        @Override
        public void run() {
            try {
                start.await();
                for (String key : keysToWrite) {
                    long sent = System.nanoTime();
                    connection.call("SET", key, value);
                    latencyNanos += System.nanoTime() - sent;
                }
                endNanos = System.nanoTime();
            } catch (IOException e) {
                fault = e;
            } catch (InterruptedException | BrokenBarrierException e) {
                Thread.currentThread().interrupt();
                fault = new IOException("interrupted while a writer started", e);
            }
        }
    }
}
