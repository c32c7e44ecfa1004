package io.varve.experiments.run.speed;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.load.SequentialLoad;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;

/**
 * Sends the requests of a {@link NumberedTest}: each connection, with a thread of its own, sends as many as the
 * pipeline holds and reads their replies. Confined to one thread, except the connections' threads.
 */
final class NumberedLoad {
    private static final int STORING_PIPELINE = 200;

    private final NumberedTest test;
    private final Target target;
    private final long requests;
    private final Cancellation cancellation;

    NumberedLoad(NumberedTest test, Target target, long requests, Cancellation cancellation) {
        this.test = test;
        this.target = target;
        this.requests = requests;
        this.cancellation = cancellation;
    }

    /** Brings the server into the state that the measurement begins with. Entries of streams are in order. */
    void prepare() throws IOException {
        try (RespConnection connection = connect()) {
            for (List<String> command : test.setUp()) {
                connection.call(command.toArray(String[]::new));
            }
            List<String> stored = test.stored();
            if (stored != null) {
                send(connection, stored, 0, new AtomicLong(1), STORING_PIPELINE);
            }
            List<String> drained = test.drained();
            if (drained != null) {
                int consumer = 0;
                for (long read = 0; read < requests; read += NumberedTest.DRAINED) {
                    connection.call(words(drained, consumer).toArray(String[]::new));
                    consumer = (consumer + 1) % NumberedTest.CONSUMERS;
                }
            }
        }
    }

    /** Sends all requests. Latencies are not measured. */
    RedisBenchmark.Result run(int connections, int pipeline) throws IOException {
        AtomicLong next = new AtomicLong(1);
        long start = System.nanoTime();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory())) {
            List<Future<?>> sent = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                int number = i;
                sent.add(threads.submit(() -> {
                    try (RespConnection connection = connect()) {
                        send(connection, test.command(), number, next, pipeline);
                    }
                    return null;
                }));
            }
            for (Future<?> each : sent) {
                await(each);
            }
        }
        return new RedisBenchmark.Result(requests * 1e9 / (System.nanoTime() - start), Double.NaN, Double.NaN);
    }

    private static void await(Future<?> sent) throws IOException {
        try {
            sent.get();
        } catch (ExecutionException failed) {
            throw new IOException("a connection of the load failed: " + failed.getCause(), failed);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the load ran", e);
        }
    }

    /** @param next the next number that no connection has sent */
    private void send(RespConnection connection, List<String> command, int number, AtomicLong next, int pipeline)
            throws IOException {
        List<String> words = words(command, number);
        SequentialLoad numbered = words.stream().anyMatch(word -> word.contains(SequentialLoad.PLACE))
                ? new SequentialLoad(words)
                : null;
        byte[] constant = numbered == null ? encoded(words) : new byte[0];
        ByteArrayOutputStream batch = new ByteArrayOutputStream();
        while (!cancellation.isCancelled()) {
            long first = next.getAndAdd(pipeline);
            int count = (int) Math.min(pipeline, requests + 1 - first);
            if (count <= 0) {
                return;
            }
            batch.reset();
            for (int i = 0; i < count; i++) {
                batch.writeBytes(numbered == null ? constant : numbered.encoded(first + i));
            }
            connection.send(batch.toByteArray(), batch.size());
            for (int i = 0; i < count; i++) {
                connection.readReply();
            }
        }
    }

    private static List<String> words(List<String> command, int connection) {
        return command.stream().map(word -> word.replace(NumberedTest.CONNECTION, String.valueOf(connection))).toList();
    }

    private static byte[] encoded(List<String> words) {
        StringBuilder text = new StringBuilder("*" + words.size() + "\r\n");
        words.forEach(word -> text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n"));
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private RespConnection connect() throws IOException {
        return new RespConnection(target.host(), target.port());
    }
}
