package io.varve.memory;

import java.util.Arrays;

import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.item.Ticker;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardCapture;
import io.varve.memory.shard.ShardTotals;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * The {@link PointInTimeScan} of the shards, one after the other, and then of the secondary tier. Confined to one
 * thread, except {@link #detached} and what it calls.
 */
final class ShardedPointInTimeScan implements PointInTimeScan {
    private final Shard[] shards;
    private final Ticker ticker;
    private final long startMillis;
    private final ShardTotals totals;
    private final Runnable onClose;
    /** Whose items are captured too; null if there is none. */
    private final @Nullable SecondaryTier secondary;
    private final long[] secondarySizes;
    private int shard;
    /** Whether the secondary tier has captured all. */
    private volatile boolean isSecondaryDone;
    private volatile boolean aborted;

    /**
     * The caller holds the locks of all shards.
     *
     * @param onClose called by {@link #close}
     */
    ShardedPointInTimeScan(Shard[] shards, ShardContext context, ItemCapture target, Runnable onClose) {
        this.shards = shards;
        totals = ShardTotals.of(shards, context.databases);
        this.onClose = onClose;
        ticker = context.ticker;
        startMillis = ticker.wallMillis();
        target.begins(startMillis);
        for (Shard each : shards) {
            each.beginCapture(target, startMillis);
        }
        secondary = context.secondary();
        secondarySizes = new long[context.databases.count()];
        if (secondary == null) {
            isSecondaryDone = true;
            return;
        }
        long[] epochs = new long[secondarySizes.length];
        for (int i = 0; i < epochs.length; i++) {
            epochs[i] = context.databases.epoch(i);
            secondarySizes[i] = secondary.count(epochs[i]);
        }
        secondary.beginCapture(target, startMillis, epochs);
    }

    @Override
    public boolean scan(long nanos) {
        if (aborted) {
            return false;
        }
        if (shard == shards.length) {
            return scanSecondary();
        }
        Shard current = shards[shard];
        current.lock();
        try {
            ShardCapture capture = current.capture();
            if (capture == null) {
                return false;
            }
            long until = ticker.nanoTime() + nanos;
            boolean more;
            do {
                more = capture.visitNext();
            } while (more && ticker.nanoTime() - until < 0);
            if (!more) {
                current.endCapture();
                shard++;
            }
        } finally {
            current.unlock();
        }
        return shard < shards.length || !isSecondaryDone;
    }

    private boolean scanSecondary() {
        if (!isSecondaryDone && secondary != null) {
            isSecondaryDone = !secondary.capture();
        }
        return !isSecondaryDone;
    }

    @Override
    public boolean isAborted() {
        return aborted;
    }

    @Override
    public long startMillis() {
        return startMillis;
    }

    @Override
    public long size(int database) {
        return totals.items[database] + secondarySizes[database];
    }

    @Override
    public long expiringSize(int database) {
        return totals.expiringItems[database];
    }

    @Override
    public long timedHashes() {
        return Arrays.stream(totals.timedHashes).sum();
    }

    @Override
    public void close() {
        for (; shard < shards.length; shard++) {
            shards[shard].lock();
            try {
                shards[shard].endCapture();
            } finally {
                shards[shard].unlock();
            }
        }
        if (secondary != null) {
            secondary.endCapture();
        }
        onClose.run();
    }

    /**
     * A physical database is detached by a flush. Called under the locks of all shards. The scan goes on if it needs
     * none of the items.
     */
    void detached(int physical) {
        boolean isNeeded = false;
        for (Shard each : shards) {
            ShardCapture capture = each.capture();
            isNeeded |= capture != null && capture.forget(physical);
        }
        if (isNeeded) {
            abort();
        }
    }

    /** A flush ends an epoch. Called under the locks of all shards, before its new one begins. */
    void ending(long epoch) {
        if (!isSecondaryDone && secondary != null && secondary.mightHold(epoch)) {
            abort();
        }
    }

    /** Ends the scan, because items are gone that it has not visited. Called under the locks of all shards. */
    void abort() {
        aborted = true;
        for (Shard each : shards) {
            each.endCapture();
        }
        if (secondary != null) {
            secondary.endCapture();
        }
    }
}
