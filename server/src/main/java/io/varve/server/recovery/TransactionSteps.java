package io.varve.server.recovery;

import io.varve.memory.item.ValueRun;
import io.varve.server.command.batch.Batch;
import io.varve.server.resp.RequestSink;
import io.varve.server.resp.Shortage;

import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * Passes requests on to a batch that is full behind MULTI, and within a transaction behind each command. Confined to
 * the thread that replays.
 */
final class TransactionSteps implements RequestSink {
    private final Batch batch;
    private boolean isInTransaction;
    private boolean isFull;

    TransactionSteps(Batch batch) {
        this.batch = batch;
    }

    /** Whether the last request of the batch is a command of this name without arguments. */
    boolean endsWith(String name) {
        int last = batch.commandCount() - 1;
        return last >= 0 && batch.argumentCount(last) == 1
                && batch.length(batch.firstArgument(last)) == name.length()
                && name.equalsIgnoreCase(new String(batch.argumentBytes(last, 0, name.length()), US_ASCII));
    }

    /** Begins an empty batch. */
    void clear() {
        isFull = false;
    }

    @Override
    public void beginRequest(int arguments) {
        batch.beginRequest(arguments);
    }

    @Override
    public void argument(long address, int length) {
        batch.argument(address, length);
    }

    @Override
    public void runArgument(ValueRun run) {
        batch.runArgument(run);
    }

    @Override
    public void endRequest(Shortage shortage) {
        batch.endRequest(shortage);
        boolean begins = endsWith("MULTI");
        isFull = isInTransaction || begins;
        isInTransaction = begins || isInTransaction && !endsWith("EXEC") && !endsWith("DISCARD");
    }

    @Override
    public void abandonRequest() {
        batch.abandonRequest();
    }

    @Override
    public boolean isFull() {
        return isFull || batch.isFull();
    }
}
