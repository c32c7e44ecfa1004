package io.varve.server.pubsub;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.varve.server.resp.ArgumentMemory;

/**
 * What messages that are not delivered yet hold, of the heap and in runs, and who waits for that to become less. Many threads: atomic
 * counters and a concurrent queue.
 *
 * <p>Event loops that publish may be faster than those that deliver. So who is to publish while more than half of the memory is held waits
 * until it is less than a quarter, and only if that takes too long a message is refused. Runs are charged to maxmemory: were they not
 * counted here, the messages before those that the listeners' loops have looked at would take all of it, and who publishes would be
 * refused for the sake of listeners that are about to be cut off.
 */
final class Backlog {
    private final ArgumentMemory memory;
    private final long longBytes;
    private final long shortBytes;
    private final LongSupplier maxRunBytes;
    private final AtomicLong runBytes = new AtomicLong();
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    /** @param maxRunBytes what runs may hold before others wait, at the moment */
    Backlog(ArgumentMemory memory, LongSupplier maxRunBytes) {
        this.memory = memory;
        this.maxRunBytes = maxRunBytes;
        longBytes = memory.limitBytes() / 2;
        shortBytes = memory.limitBytes() / 4;
    }

    /** @return whether there was room; if not, nothing is taken */
    boolean take(long bytes) {
        return memory.take(bytes);
    }

    void give(long bytes) {
        memory.give(bytes);
        wakeIfShort();
    }

    /** A message holds a run, whose bytes are charged already. */
    void holdRun(long bytes) {
        runBytes.addAndGet(bytes);
    }

    void releaseRun(long bytes) {
        runBytes.addAndGet(-bytes);
        wakeIfShort();
    }

    long takenBytes() {
        return memory.takenBytes();
    }

    /** Whether to wait before more is published. */
    boolean isLong() {
        return memory.takenBytes() > longBytes || runBytes.get() > maxRunBytes.getAsLong();
    }

    /** Has something run once, by any thread, when the backlog is short: at once if it is now. */
    void whenShort(Runnable wake) {
        waiting.add(wake);
        wakeIfShort();
    }

    private void wakeIfShort() {
        if (!waiting.isEmpty() && memory.takenBytes() <= shortBytes && runBytes.get() <= maxRunBytes.getAsLong() / 2) {
            for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
                next.run();
            }
        }
    }
}
