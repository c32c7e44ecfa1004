package io.varve.experiments.run.load;

import java.io.Closeable;
import java.io.IOException;

import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;

/**
 * A load on two alternating connections: while the server executes one batch, the next is encoded. Confined to one
 * thread.
 *
 * <p>With one connection the server would wait while the load encodes, which would hide a slower server.
 */
public final class AlternatingLoad implements Closeable {
    private final int batchCommands;
    private final RespConnection[] connections = new RespConnection[2];
    private final SetBatch[] batches = new SetBatch[2];
    private final SetBatch.ErrorSink errors;
    private int current;

    /**
     * @param batchCommands number of commands that are sent at once
     * @param maxValueBytes maximum length of a value
     * @param keyPrefix prefix of every key
     * @param keyDigits number of digits that follow
     */
    public AlternatingLoad(Target target, int batchCommands, int maxValueBytes, String keyPrefix, int keyDigits,
            SetBatch.ErrorSink errors) throws IOException {
        this.batchCommands = batchCommands;
        this.errors = errors;
        connections[0] = new RespConnection(target.host(), target.port());
        try {
            connections[1] = new RespConnection(target.host(), target.port());
        } catch (IOException e) {
            connections[0].close();
            throw e;
        }
        for (int i = 0; i < batches.length; i++) {
            batches[i] = new SetBatch(batchCommands, maxValueBytes, keyPrefix, keyDigits);
        }
    }

    /** The batch for the next command; {@link #put} follows. */
    public SetBatch batch() {
        return batches[current];
    }

    /** Reports an added command: sends the batch if it is full. @return whether it was sent */
    public boolean put() throws IOException {
        if (batches[current].count() < batchCommands) {
            return false;
        }
        sendAndSwitch();
        return true;
    }

    private void sendAndSwitch() throws IOException {
        batches[current].send(connections[current]);
        current ^= 1;
        batches[current].receive(connections[current], errors);
    }

    /** Sends the remaining commands, and reads all replies. */
    public void finish() throws IOException {
        sendAndSwitch();
        sendAndSwitch();
    }

    @Override
    public void close() throws IOException {
        try {
            connections[0].close();
        } finally {
            connections[1].close();
        }
    }
}
