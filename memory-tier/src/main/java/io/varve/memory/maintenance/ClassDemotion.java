package io.varve.memory.maintenance;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntPredicate;

import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardDemotion;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Demotes the items of penalty classes that are in a demand valley, one class after the other (pRedis, section 4). Used
 * only by the maintenance thread, except the counters, which any thread may read.
 */
public final class ClassDemotion {
    private static final System.Logger LOG = System.getLogger(ClassDemotion.class.getName());
    private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    private final ShardContext context;
    private final Shard[] shards;
    private final AtomicLongArray begun;
    private final AtomicLongArray abandoned;
    private final AtomicLongArray items;
    private final Deque<Dump> dumps = new ArrayDeque<>();
    private volatile boolean isActive;

    /** The items of one class that are still to be demoted. Used only by the maintenance thread. */
    private static final class Dump {
        private final int penaltyClass;
        private final Deque<Part> parts = new ArrayDeque<>();
        /**
         * Whether the dump made progress, was not tried, or met a held shard since the last slot ended. It is false
         * only if the secondary tier had no space during the whole slot.
         */
        private boolean isProgressing = true;

        private Dump(int penaltyClass, int shards) {
            this.penaltyClass = penaltyClass;
            for (int i = 0; i < shards; i++) {
                parts.add(new Part(i, new ShardDemotion.Walk()));
            }
        }
    }

    /** An unfinished shard. Immutable; the shard's lock guards the walk. */
    private record Part(int shard, ShardDemotion.Walk walk) {}

    public ClassDemotion(ShardContext context, Shard[] shards, int classes) {
        this.context = context;
        this.shards = shards;
        begun = new AtomicLongArray(classes);
        abandoned = new AtomicLongArray(classes);
        items = new AtomicLongArray(classes);
    }

    public void begin(int penaltyClass) {
        begun.incrementAndGet(penaltyClass);
        dumps.add(new Dump(penaltyClass, shards.length));
        isActive = true;
    }

    /**
     * Ends a demand slot. If the first dump found no space during the whole slot, the secondary tier is full: the dump
     * is given up, so that others need not wait.
     */
    public void endSlot() {
        Dump first = dumps.peek();
        if (first == null) {
            return;
        }
        if (!first.isProgressing) {
            LOG.log(System.Logger.Level.INFO,
                    "The rest of class {0} stays in memory in its valley: flash has no space for it",
                    first.penaltyClass);
            abandoned.incrementAndGet(first.penaltyClass);
            dumps.remove();
            isActive = !dumps.isEmpty();
        }
        first.isProgressing = false;
    }

    /**
     * Demotes some items.
     *
     * @param isDumped whether a class is still dumped: items of a woken class stay in memory
     * @return whether there is more to do at once
     */
    public boolean slice(IntPredicate isDumped, Runnable pause) {
        dumps.removeIf(dump -> !isDumped.test(dump.penaltyClass));
        Dump dump = dumps.peek();
        isActive = dump != null;
        if (dump == null) {
            return false;
        }
        boolean more = slice(dump, context.ticker.nanoTime() + SLICE_NANOS);
        pause.run();
        if (dump.parts.isEmpty()) {
            dumps.remove();
            isActive = !dumps.isEmpty();
            return isActive;
        }
        return more;
    }

    /** @return whether it could continue at once */
    private boolean slice(Dump dump, long deadlineNanos) {
        // Tries each shard that another thread holds for long at most once.
        for (int held = 0; held < dump.parts.size();) {
            Part part = dump.parts.remove();
            ShardDemotion.Progress progress = slice(dump, part, deadlineNanos);
            dump.isProgressing |= progress != ShardDemotion.Progress.BLOCKED;
            if (progress == ShardDemotion.Progress.DONE) {
                continue;
            }
            if (progress == null) {
                dump.parts.addLast(part);
                held++;
            } else {
                dump.parts.addFirst(part);
                return progress == ShardDemotion.Progress.MORE;
            }
        }
        return false;
    }

    /** @return null if another thread holds the shard for long */
    private ShardDemotion.@Nullable Progress slice(Dump dump, Part part, long deadlineNanos) {
        Shard shard = shards[part.shard];
        if (!shard.lockWithin(Shard.DEFAULT_NAPS, false)) {
            return null;
        }
        long before = part.walk.demoted();
        try {
            return shard.demotion().slice(part.walk, dump.penaltyClass, context.ticker.wallMillis(), deadlineNanos);
        } finally {
            long demoted = part.walk.demoted() - before;
            shard.unlock();
            items.addAndGet(dump.penaltyClass, demoted);
            dump.isProgressing |= demoted > 0;
        }
    }

    /** Whether items are being demoted, or wait for space in the secondary tier. */
    public boolean isActive() {
        return isActive;
    }

    /** How often a class was dumped. */
    public long begun(int penaltyClass) {
        return begun.get(penaltyClass);
    }

    /** How often a part of a class stayed in memory, because the secondary tier had no space. */
    public long abandoned(int penaltyClass) {
        return abandoned.get(penaltyClass);
    }

    /** The number of a class's items that dumps have demoted. */
    public long items(int penaltyClass) {
        return items.get(penaltyClass);
    }
}
