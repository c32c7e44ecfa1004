package io.varve.flash.tier;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

import io.varve.flash.record.ItemRecord;
import io.varve.flash.store.FlashStore;
import io.varve.memory.item.ItemCapture;
import org.jspecify.annotations.Nullable;

/**
 * The point-in-time scans over the items on flash, one at a time. A scan begins under the locks of all shards; one
 * thread continues it, and the worker of each partition visits the partition's items.
 */
final class FlashCaptures {
    private final FlashPartitionQueue[] partitionQueues;
    private final CaptureWalk[] walks;
    /** Used under the locks of all shards. */
    private final SplittableRandom scanIds = new SplittableRandom(new SecureRandom().nextLong());
    private volatile @Nullable FlashCapture open;

    FlashCaptures(FlashStore store, FlashPartitionQueue[] partitionQueues) {
        this.partitionQueues = partitionQueues;
        walks = new CaptureWalk[partitionQueues.length];
        Arrays.setAll(walks, i -> new CaptureWalk(store, partitionQueues[i], i, partitionQueues.length));
    }

    CaptureWalk walk(int partition) {
        return walks[partition];
    }

    /** Begins a scan, with a number that no record on flash has. The caller holds the locks of all shards. */
    void begin(ItemCapture target, long startMillis, long[] epochs) {
        long scanId;
        do {
            scanId = scanIds.nextLong();
        } while (scanId == ItemRecord.NO_SCAN);
        open = new FlashCapture(target, startMillis, epochs, scanId);
    }

    /** The scan that is open, or null. Read under the lock of a key's shard, it is valid until the unlock. */
    @Nullable
    FlashCapture open() {
        return open;
    }

    /** Lets each worker visit some items, and waits for them. @return whether there are more */
    boolean step() {
        FlashCapture capture = open;
        if (capture == null) {
            return false;
        }
        List<CompletableFuture<Boolean>> steps = new ArrayList<>();
        for (int i = 0; i < walks.length; i++) {
            steps.add(step(capture, i));
        }
        boolean more = false;
        for (CompletableFuture<Boolean> step : steps) {
            more |= step.join();
        }
        return more;
    }

    private CompletableFuture<Boolean> step(FlashCapture capture, int partition) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        boolean submitted = partitionQueues[partition].submit(() -> {
            try {
                done.complete(walks[partition].step(capture));
            } catch (RuntimeException | Error failed) {
                done.completeExceptionally(failed);
                throw failed;
            }
        });
        if (!submitted) {
            throw new IllegalStateException("the flash tier is closed");
        }
        return done;
    }

    void end() {
        open = null;
    }
}
