package io.varve.server.pubsub;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.varve.server.resp.RequestHeapBudget;

/**
 * The memory that undelivered messages hold, on the heap and in runs, and the publishers that wait for it to shrink.
 * Many threads: atomic counters and a concurrent queue.
 *
 * <p>Publishing event loops may be faster than delivering ones. So a publisher waits while more than half of the memory
 * is held, until less than a quarter is. A message is refused only if that takes too long. Runs are charged to
 * maxmemory, and are counted here too. Otherwise undelivered messages would fill maxmemory before the subscribers'
 * event loops reach them. Publishers would then be refused for the sake of subscribers that are about to be
 * disconnected.
 */
final class UndeliveredBytes {
    private final RequestHeapBudget memory;
    private final long highBytes;
    private final long lowBytes;
    private final LongSupplier maxRunBytes;
    private final AtomicLong runBytes = new AtomicLong();
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    /** @param maxRunBytes current maximum of run bytes before publishers wait */
    UndeliveredBytes(RequestHeapBudget memory, LongSupplier maxRunBytes) {
        this.memory = memory;
        this.maxRunBytes = maxRunBytes;
        highBytes = memory.limitBytes() / 2;
        lowBytes = memory.limitBytes() / 4;
    }

    /** @return whether the budget sufficed; if not, nothing is taken */
    boolean tryReserve(long bytes) {
        return memory.tryReserve(bytes);
    }

    void release(long bytes) {
        memory.release(bytes);
        wakeIfDrained();
    }

    /** Counts a run that a message holds, whose bytes are charged already. */
    void holdRun(long bytes) {
        runBytes.addAndGet(bytes);
    }

    void releaseRun(long bytes) {
        runBytes.addAndGet(-bytes);
        wakeIfDrained();
    }

    long reservedBytes() {
        return memory.reservedBytes();
    }

    /** Whether publishers must wait. */
    boolean isOverLimit() {
        return memory.reservedBytes() > highBytes || runBytes.get() > maxRunBytes.getAsLong();
    }

    /** Runs a callback once, on any thread, when little is undelivered: immediately if that is so. */
    void onDrained(Runnable wake) {
        waiting.add(wake);
        wakeIfDrained();
    }

    private void wakeIfDrained() {
        if (!waiting.isEmpty() && memory.reservedBytes() <= lowBytes && runBytes.get() <= maxRunBytes.getAsLong() / 2) {
            for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
                next.run();
            }
        }
    }
}
