package io.varve.memory;

import java.util.Arrays;

import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.Ticker;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardCapture;
import io.varve.memory.shard.ShardTotals;
import io.varve.memory.shard.context.ShardContext;

/** The {@link PointInTimeScan} of the shards, one after the other. Confined to one thread, except {@link #detached}. */
final class ShardedPointInTimeScan implements PointInTimeScan {
    private final Shard[] shards;
    private final Ticker ticker;
    private final long startMillis;
    private final ShardTotals totals;
    private final Runnable onClose;
    private int shard;
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
    }

    @Override
    public boolean scan(long nanos) {
        if (shard == shards.length) {
            return false;
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
        return shard < shards.length;
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
        return totals.items[database];
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
            aborted = true;
            for (Shard each : shards) {
                each.endCapture();
            }
        }
    }
}
