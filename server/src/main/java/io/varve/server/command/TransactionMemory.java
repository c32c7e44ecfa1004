package io.varve.server.command;

import java.util.ArrayDeque;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.item.ValueRun;
import io.varve.server.resp.ArgumentMemory;
import org.jspecify.annotations.Nullable;

/** What transactions are queued in: batches and blocks of memory, a few of which are kept from one to the next. Confined to its event loop. */
public final class TransactionMemory {
    private static final int SPARE_BATCHES = 4;
    /** As many transactions as may be queued at a time without one asking the system for a page. */
    private static final int SPARE_BLOCKS = 16;

    private final Cache cache;
    private final ArgumentMemory memory;
    private final ArrayDeque<Batch> spare = new ArrayDeque<>();
    private final ArrayDeque<ValueRun> spareBlocks = new ArrayDeque<>();

    /** @param memory what is charged for what stands around the commands on the heap */
    public TransactionMemory(Cache cache, ArgumentMemory memory) {
        this.cache = cache;
        this.memory = memory;
    }

    /** A transaction with nothing queued in it, which the caller ends; null if the heap has no room for it. */
    public @Nullable Transaction begin(int database) {
        if (!memory.take(Transaction.HEAP_BYTES)) {
            return null;
        }
        Batch batch = spare.poll();
        return new Transaction(this, batch == null ? new Batch() : batch, cache, memory, database);
    }

    /** Memory for the first arguments of a transaction; null if maxmemory has no room for it. */
    @Nullable
    ValueRun firstBlock() {
        ValueRun block = spareBlocks.poll();
        return block == null ? cache.newRun(0, Transaction.FIRST_BLOCK_BYTES) : block;
    }

    /** A transaction has ended. */
    void giveBack(Batch batch) {
        if (spare.size() < SPARE_BATCHES && !batch.isLarge()) {
            spare.push(batch);
        }
    }

    /** A transaction needs its memory no more. */
    void giveBack(List<ValueRun> blocks) {
        for (ValueRun block : blocks) {
            if (block.length() == Transaction.FIRST_BLOCK_BYTES && spareBlocks.size() < SPARE_BLOCKS) {
                spareBlocks.push(block);
            } else {
                block.release();
            }
        }
    }

    /** Gives all back: the event loop has ended, and with it all transactions. */
    public void close() {
        spareBlocks.forEach(ValueRun::release);
        spareBlocks.clear();
    }
}
