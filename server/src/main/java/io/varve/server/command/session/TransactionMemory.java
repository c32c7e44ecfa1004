package io.varve.server.command.session;

import java.util.ArrayDeque;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.batch.Batch;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/** A pool of batches and memory blocks for transactions. Confined to its event loop. */
public final class TransactionMemory {
    private static final int SPARE_BATCHES = 4;
    /** Number of concurrent transactions that do not have to ask the system for a page. */
    private static final int SPARE_BLOCKS = 16;

    private final Cache cache;
    private final RequestHeapBudget memory;
    private final ArrayDeque<Batch> spare = new ArrayDeque<>();
    private final ArrayDeque<ValueRun> spareBlocks = new ArrayDeque<>();

    /** @param memory heap budget for the commands' heap objects */
    public TransactionMemory(Cache cache, RequestHeapBudget memory) {
        this.cache = cache;
        this.memory = memory;
    }

    /** Creates an empty transaction, which the caller ends; null if the heap budget is exhausted. */
    public @Nullable Transaction begin(int database) {
        if (!memory.tryReserve(Transaction.HEAP_BYTES)) {
            return null;
        }
        Batch batch = spare.poll();
        return new Transaction(this, batch == null ? new Batch() : batch, cache, memory, database);
    }

    /** Memory for the first arguments of a transaction; null if maxmemory is full. */
    @Nullable
    ValueRun firstBlock() {
        ValueRun block = spareBlocks.poll();
        return block == null ? cache.newRun(0, Transaction.FIRST_BLOCK_BYTES) : block;
    }

    /** Takes the batch of an ended transaction back. */
    void returnBatch(Batch batch) {
        if (spare.size() < SPARE_BATCHES && !batch.isLarge()) {
            spare.push(batch);
        }
    }

    /** Takes the blocks of a transaction back. */
    void returnBlocks(List<ValueRun> blocks) {
        for (ValueRun block : blocks) {
            if (block.length() == Transaction.FIRST_BLOCK_BYTES && spareBlocks.size() < SPARE_BLOCKS) {
                spareBlocks.push(block);
            } else {
                block.release();
            }
        }
    }

    /** Releases all blocks after the event loop and all its transactions have ended. */
    public void close() {
        spareBlocks.forEach(ValueRun::release);
        spareBlocks.clear();
    }
}
