package io.varve.cluster.demo;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Increments counters that lie on all members, one after the other, on a thread of its own. That thread writes the
 * counts; any thread reads them.
 */
final class DemoWriter implements AutoCloseable {
    private static final int COUNTERS = 100;
    private static final int PAUSE_MILLIS = 1;

    private final DemoClient client;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = Thread.ofPlatform().daemon().name("demo-writer").unstarted(this::run);
    private final LongAdder acknowledged = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private volatile String lastError = "";

    DemoWriter(List<Integer> ports) {
        client = new DemoClient(ports);
        thread.start();
    }

    static String key(int number) {
        return "counter:" + number;
    }

    private void run() {
        try {
            for (int i = 0; !closed.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS); i++) {
                try {
                    String reply = client.call("INCR", key(i % COUNTERS));
                    if (reply.startsWith(":")) {
                        acknowledged.increment();
                    } else {
                        failed.increment();
                        lastError = reply;
                    }
                } catch (IOException unreachable) {
                    failed.increment();
                    lastError = String.valueOf(unreachable.getMessage());
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    long acknowledged() {
        return acknowledged.sum();
    }

    long failed() {
        return failed.sum();
    }

    /** The last error; empty if there was none. */
    String lastError() {
        return lastError;
    }

    @Override
    public void close() throws IOException {
        closed.countDown();
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        client.close();
    }
}
