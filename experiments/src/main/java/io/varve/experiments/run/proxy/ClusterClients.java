package io.varve.experiments.run.proxy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.cluster.map.HashSlot;
import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.ProxyLoad;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import org.HdrHistogram.Histogram;

/**
 * Clients that each send a batch of requests and wait for all replies. Confined to the thread that does the run, which
 * starts a thread for each client.
 *
 * <p>With several servers a client sends each request to the one with the key's slot, as a client of a cluster. With
 * one server, the proxy, it sends all of them there.
 */
final class ClusterClients implements AutoCloseable {
    private static final int MAX_MICROS = 60_000_000;
    private static final int DIGITS = 3;
    private static final int FILL_BATCH = 500;

    private final List<Target> servers;
    private final ProxyLoad load;
    private final Cancellation cancellation;
    private final String value;
    private final List<List<RespConnection>> clients = new ArrayList<>();
    private final ExecutorService threads;

    /** @param opsPerSecond of all clients; times of batches in microseconds; missed: reads without a value */
    record Result(long requests, double opsPerSecond, long p50Micros, long p99Micros, long missed) {}

    private record Part(long requests, Histogram micros, long missed) {}

    ClusterClients(List<Target> servers, ProxyLoad load, Cancellation cancellation) throws IOException {
        this.servers = servers;
        this.load = load;
        this.cancellation = cancellation;
        value = "v".repeat(load.valueBytes());
        threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().name("client-", 0).factory());
        for (int i = 0; i < load.connections(); i++) {
            List<RespConnection> connections = new ArrayList<>();
            clients.add(connections);
            for (Target server : servers) {
                connections.add(new RespConnection(server.host(), server.port()));
            }
        }
    }

    /** The last slot of a member, plus one, if all have equal parts. */
    static int endOfSlots(int member, int members) {
        return (int) Math.round((double) HashSlot.COUNT * (member + 1) / members);
    }

    private int server(String key) {
        int slot = HashSlot.of(key);
        int server = 0;
        while (slot >= endOfSlots(server, servers.size())) {
            server++;
        }
        return server;
    }

    private static String key(long number) {
        return "key:" + number;
    }

    private static String request(String... words) {
        StringBuilder request = new StringBuilder().append('*').append(words.length).append("\r\n");
        for (String word : words) {
            request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        return request.toString();
    }

    /** Writes each key once. */
    void fill(long keys) throws IOException {
        for (long next = 0; next < keys && !cancellation.isCancelled();) {
            Batch batch = new Batch(clients.getFirst());
            for (int i = 0; i < FILL_BATCH && next < keys; i++) {
                batch.add(key(next++), false);
            }
            batch.call();
        }
    }

    /** Runs all clients for so long. */
    Result run(KeyDistribution keys, int pipeline, long seed, long nanos) throws IOException {
        SplittableRandom seeds = new SplittableRandom(seed);
        long start = System.nanoTime();
        List<Future<Part>> parts = new ArrayList<>();
        for (List<RespConnection> client : clients) {
            SplittableRandom random = seeds.split();
            parts.add(threads.submit(() -> run(client, keys, pipeline, random, start + nanos)));
        }
        Histogram micros = new Histogram(MAX_MICROS, DIGITS);
        long requests = 0;
        long missed = 0;
        for (Future<Part> part : parts) {
            Part ended = get(part);
            micros.add(ended.micros());
            requests += ended.requests();
            missed += ended.missed();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        return new Result(requests, requests / seconds, micros.getValueAtPercentile(50),
                micros.getValueAtPercentile(99), missed);
    }

    private static Part get(Future<Part> part) throws IOException {
        try {
            return part.get();
        } catch (ExecutionException failed) {
            throw new IOException("a client failed: " + failed.getCause(), failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", interrupted);
        }
    }

    private Part run(List<RespConnection> client, KeyDistribution keys, int pipeline, SplittableRandom random, long end)
            throws IOException {
        Histogram micros = new Histogram(MAX_MICROS, DIGITS);
        long requests = 0;
        long missed = 0;
        while (System.nanoTime() < end && !cancellation.isCancelled()) {
            Batch batch = new Batch(client);
            for (int i = 0; i < pipeline; i++) {
                batch.add(key(keys.next(random)), random.nextInt(100) < load.readPercent());
            }
            long sent = System.nanoTime();
            missed += batch.call();
            micros.recordValue(Math.min(MAX_MICROS, (System.nanoTime() - sent) / 1000));
            requests += pipeline;
        }
        return new Part(requests, micros, missed);
    }

    /** Requests that a client sends together. Confined to the client's thread. */
    private final class Batch {
        private final List<RespConnection> connections;
        private final List<ByteArrayOutputStream> bytes = new ArrayList<>();
        private final int[] counts;

        Batch(List<RespConnection> connections) {
            this.connections = connections;
            counts = new int[connections.size()];
            connections.forEach(_ -> bytes.add(new ByteArrayOutputStream()));
        }

        void add(String key, boolean isRead) {
            int server = server(key);
            String request = isRead ? request("GET", key) : request("SET", key, value);
            bytes.get(server).writeBytes(request.getBytes(StandardCharsets.US_ASCII));
            counts[server]++;
        }

        /** @return the number of empty replies */
        long call() throws IOException {
            for (int i = 0; i < counts.length; i++) {
                if (counts[i] > 0) {
                    connections.get(i).send(bytes.get(i).toByteArray(), bytes.get(i).size());
                }
            }
            long empty = 0;
            for (int i = 0; i < counts.length; i++) {
                for (int reply = 0; reply < counts[i]; reply++) {
                    empty += connections.get(i).readReply().isEmpty() ? 1 : 0;
                }
            }
            return empty;
        }
    }

    @Override
    public void close() throws IOException {
        threads.shutdownNow();
        for (List<RespConnection> client : clients) {
            for (RespConnection connection : client) {
                connection.close();
            }
        }
    }
}
