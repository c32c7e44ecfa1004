package io.varve.experiments.run.load;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.server.Target;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A closed-loop load: clients that each send a request, wait for its reply and send the next, as the paper's do.
 * Confined to one thread, which runs all of them.
 *
 * <p>A single client blocks in the kernel for its reply, as a client library does; many clients share a selector. In a
 * closed loop a stalled server also stalls its own measurement. The paper uses this method; its delays are not service
 * levels.
 */
public final class ClosedLoop implements Closeable {
    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int DIGITS = 3;
    private static final long SILENCE_MILLIS = 30_000;
    /** Number of requests between two checks of a single client whether to stop. */
    private static final int CHECK_INTERVAL = 1024;

    /**
     * The result of a loop.
     *
     * @param requests number of answered requests
     * @param reads number of reads among them
     * @param missed number of reads that did not find their key
     * @param nanos time from the first request to the last reply, ns
     * @param delays times from sending a request to its whole reply, ns
     */
    public record Result(long requests, long reads, long missed, long nanos, Histogram delays) {
        public double ops() {
            return requests * 1e9 / nanos;
        }
    }

    /**
     * The requests of the clients.
     *
     * @param readPercent reads, in percent of the requests
     * @param keys distribution of keys
     * @param seed determines the requests
     * @param fillsMisses whether a client writes a missed key next, as one does that has a database behind the cache;
     *     only without pipelines
     * @param pipeline the number of requests that a client sends at once
     */
    public record Mix(int readPercent, KeyDistribution keys, long seed, boolean fillsMisses, int pipeline) {
        public Mix(int readPercent, KeyDistribution keys, long seed) {
            this(readPercent, keys, seed, false, 1);
        }

        /** A mix of the same requests, as many at once. */
        public Mix inPipelines(int requestsAtOnce) {
            return new Mix(readPercent, keys, seed, fillsMisses, requestsAtOnce);
        }
    }

    private final RequestEncoder encoder;
    private final List<WaitingClient> clients = new ArrayList<>();
    private final Cancellation cancellation;
    /** Null for a single client. */
    private @Nullable Selector selector;
    private SplittableRandom random = new SplittableRandom(0);
    private Histogram delays = new Histogram(MAX_NANOS, DIGITS);
    private long requests;
    private long reads;
    private long missed;

    public ClosedLoop(Target target, int connections, RequestSet set, long seed, Cancellation cancellation)
            throws IOException {
        this(target, connections, 1, set, seed, cancellation);
    }

    /** @param maxPipeline the longest pipeline */
    public ClosedLoop(Target target, int connections, int maxPipeline, RequestSet set, long seed,
            Cancellation cancellation) throws IOException {
        this.encoder = new RequestEncoder(set, seed);
        this.cancellation = cancellation;
        try {
            selector = connections > 1 ? Selector.open() : null;
            for (int i = 0; i < connections; i++) {
                WaitingClient client = new WaitingClient(target, maxPipeline * encoder.maxBytes());
                clients.add(client);
                if (selector != null) {
                    client.channel().configureBlocking(false);
                    client.channel().register(selector, SelectionKey.OP_READ, client);
                }
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Runs until this many requests are answered or this much time has passed, whichever is first. */
    public Result run(Mix mix, long max, long nanos) throws IOException {
        random = new SplittableRandom(mix.seed());
        delays = new Histogram(MAX_NANOS, DIGITS);
        requests = 0;
        missed = 0;
        reads = 0;
        long start = System.nanoTime();
        if (selector == null) {
            single(mix, max, start + nanos);
        } else {
            many(selector, mix, max, start + nanos);
        }
        return new Result(requests, reads, missed, System.nanoTime() - start, delays);
    }

    private void single(Mix mix, long max, long end) throws IOException {
        WaitingClient client = clients.getFirst();
        while (requests < max
                && (requests % CHECK_INTERVAL != 0 || !cancellation.isCancelled() && System.nanoTime() < end)) {
            put(mix, client);
            client.send(mix.pipeline());
            boolean whole = client.receive();
            while (!whole) {
                whole = client.receive();
            }
            answered(mix, client);
        }
    }

    private void many(Selector selector, Mix mix, long max, long end) throws IOException {
        long sent = 0;
        for (WaitingClient client : clients) {
            put(mix, client);
            client.send(mix.pipeline());
            sent += mix.pipeline();
        }
        while (requests < sent) {
            if (selector.select(SILENCE_MILLIS) == 0) {
                throw new IOException("no reply within " + SILENCE_MILLIS / 1000 + " s");
            }
            boolean going = !cancellation.isCancelled() && System.nanoTime() < end;
            for (SelectionKey key : selector.selectedKeys()) {
                WaitingClient client = (WaitingClient) key.attachment();
                if (client.receive()) {
                    answered(mix, client);
                    if (going && sent < max) {
                        put(mix, client);
                        client.send(mix.pipeline());
                        sent += mix.pipeline();
                    }
                }
            }
            selector.selectedKeys().clear();
        }
    }

    private void put(Mix mix, WaitingClient client) {
        ByteBuffer into = client.request();
        if (mix.fillsMisses() && client.reading && client.missed()) {
            client.reading = false;
            encoder.set(into, client.key, random.nextLong());
            return;
        }
        for (int i = 0; i < mix.pipeline(); i++) {
            client.key = mix.keys().next(random);
            client.reading = random.nextInt(100) < mix.readPercent();
            if (client.reading) {
                reads++;
                encoder.get(into, client.key);
            } else {
                encoder.set(into, client.key, random.nextLong());
            }
        }
    }

    private void answered(Mix mix, WaitingClient client) {
        delays.recordValueWithCount(Math.min(MAX_NANOS, System.nanoTime() - client.sentNanos), mix.pipeline());
        requests += mix.pipeline();
        missed += client.misses();
    }

    @Override
    public void close() throws IOException {
        for (WaitingClient client : clients) {
            client.close();
        }
        if (selector != null) {
            selector.close();
        }
    }
}
