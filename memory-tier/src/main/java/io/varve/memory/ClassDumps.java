package io.varve.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntPredicate;

import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;
import io.varve.memory.shard.ShardDump;
import org.jspecify.annotations.Nullable;

/**
 * The classes whose items are falling because their valleys have come, one class after the other (pRedis, section 4). Maintenance's, but for the counts, which
 * anybody may read.
 */
final class ClassDumps {
    private static final System.Logger LOG = System.getLogger(ClassDumps.class.getName());
    private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    private final ShardContext context;
    private final Shard[] shards;
    private final AtomicLongArray begun;
    private final AtomicLongArray givenUp;
    private final AtomicLongArray items;
    private final Deque<Dump> dumps = new ArrayDeque<>();
    private volatile boolean areUnderWay;

    /** What is left of a class's items. */
    private static final class Dump {
        private final int penaltyClass;
        private final Deque<Part> parts = new ArrayDeque<>();
        /** Whether it was asked for more since a slot ended, or others had a shard for long: all but that there is no room below. */
        private boolean getsOn = true;

        private Dump(int penaltyClass, int shards) {
            this.penaltyClass = penaltyClass;
            for (int i = 0; i < shards; i++) {
                parts.add(new Part(i, new ShardDump.Walk()));
            }
        }
    }

    /** A shard that is not done with. The walk is guarded by the shard's lock. */
    private record Part(int shard, ShardDump.Walk walk) {}

    ClassDumps(ShardContext context, Shard[] shards, int classes) {
        this.context = context;
        this.shards = shards;
        begun = new AtomicLongArray(classes);
        givenUp = new AtomicLongArray(classes);
        items = new AtomicLongArray(classes);
    }

    void begin(int penaltyClass) {
        begun.incrementAndGet(penaltyClass);
        dumps.add(new Dump(penaltyClass, shards.length));
        areUnderWay = true;
    }

    /**
     * A slot has ended. Who found no room below in the whole of it, while it was his turn, does not find any: the tier below is full, and others are not to wait for that.
     */
    void endSlot() {
        Dump first = dumps.peek();
        if (first == null) {
            return;
        }
        if (!first.getsOn) {
            LOG.log(System.Logger.Level.INFO,
                    "The rest of class {0} stays in memory in its valley: flash has no room for it",
                    first.penaltyClass);
            givenUp.incrementAndGet(first.penaltyClass);
            dumps.remove();
            areUnderWay = !dumps.isEmpty();
        }
        first.getsOn = false;
    }

    /**
     * Lets some items fall.
     *
     * @param isDumped whether a class still is: what has been woken stays where it is
     * @return whether there is more to do at once
     */
    boolean slice(IntPredicate isDumped, Runnable giveWay) {
        dumps.removeIf(dump -> !isDumped.test(dump.penaltyClass));
        Dump dump = dumps.peek();
        areUnderWay = dump != null;
        if (dump == null) {
            return false;
        }
        boolean more = slice(dump, context.ticker().nanoTime() + SLICE_NANOS);
        giveWay.run();
        if (dump.parts.isEmpty()) {
            dumps.remove();
            areUnderWay = !dumps.isEmpty();
            return areUnderWay;
        }
        return more;
    }

    /** @return whether it could go on */
    private boolean slice(Dump dump, long deadlineNanos) {
        // Each shard once at the most that another thread has for long.
        for (int held = 0; held < dump.parts.size();) {
            Part part = dump.parts.remove();
            ShardDump.Progress progress = slice(dump, part, deadlineNanos);
            dump.getsOn |= progress != ShardDump.Progress.HELD_UP;
            if (progress == ShardDump.Progress.DONE) {
                continue;
            }
            if (progress == null) {
                dump.parts.addLast(part);
                held++;
            } else {
                dump.parts.addFirst(part);
                return progress == ShardDump.Progress.MORE;
            }
        }
        return false;
    }

    /** @return null if another thread has the shard for long */
    private ShardDump.@Nullable Progress slice(Dump dump, Part part, long deadlineNanos) {
        Shard shard = shards[part.shard];
        if (!shard.lockWithin(Shard.PATIENCE_NAPS, false)) {
            return null;
        }
        long before = part.walk.fallen();
        try {
            return shard.dump().slice(part.walk, dump.penaltyClass, context.ticker().wallMillis(), deadlineNanos);
        } finally {
            long fallen = part.walk.fallen() - before;
            shard.unlock();
            items.addAndGet(dump.penaltyClass, fallen);
            dump.getsOn |= fallen > 0;
        }
    }

    /** Whether items are falling, or wait for room. */
    boolean areUnderWay() {
        return areUnderWay;
    }

    /** How often a class was dumped. */
    long begun(int penaltyClass) {
        return begun.get(penaltyClass);
    }

    /** How often a part of it stayed, for there was no room below. */
    long givenUp(int penaltyClass) {
        return givenUp.get(penaltyClass);
    }

    /** How many of its items have fallen for it. */
    long items(int penaltyClass) {
        return items.get(penaltyClass);
    }
}
