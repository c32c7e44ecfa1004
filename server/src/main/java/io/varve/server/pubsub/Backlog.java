package io.varve.server.pubsub;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.varve.server.resp.ArgumentMemory;

/**
 * What messages that are not delivered yet hold of the heap, and who waits for that to become less. Many threads: an atomic counter and a
 * concurrent queue.
 *
 * <p>Event loops that publish may be faster than those that deliver. So who is to publish while more than half of the memory is held waits
 * until it is less than a quarter, and only if that takes too long a message is refused.
 */
final class Backlog {
    private final ArgumentMemory memory;
    private final long longBytes;
    private final long shortBytes;
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    Backlog(ArgumentMemory memory) {
        this.memory = memory;
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

    long takenBytes() {
        return memory.takenBytes();
    }

    /** Whether to wait before more is published. */
    boolean isLong() {
        return memory.takenBytes() > longBytes;
    }

    /** Has something run once, by any thread, when the backlog is short: at once if it is now. */
    void whenShort(Runnable wake) {
        waiting.add(wake);
        wakeIfShort();
    }

    private void wakeIfShort() {
        if (!waiting.isEmpty() && memory.takenBytes() <= shortBytes) {
            for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
                next.run();
            }
        }
    }
}
