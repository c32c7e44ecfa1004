package io.varve.experiments.run;

import java.io.Closeable;
import java.io.IOException;

import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;

/**
 * Two connections that take turns: while the server works on one batch, the next is made. Confined to one thread.
 *
 * <p>With one connection the server would wait while we encode, and a slower server would be hidden behind us.
 */
final class AlternatingLoad implements Closeable {
    private final int batchCommands;
    private final RespConnection[] connections = new RespConnection[2];
    private final SetBatch[] batches = new SetBatch[2];
    private final SetBatch.ErrorSink errors;
    private int turn;

    /**
     * @param batchCommands commands that are sent at once
     * @param maxValueBytes the longest value
     * @param keyPrefix     what every key begins with
     * @param keyDigits     how many digits follow
     */
    AlternatingLoad(Target target, int batchCommands, int maxValueBytes, String keyPrefix, int keyDigits,
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

    /** Where the next command is to be put; {@link #put} follows. */
    SetBatch batch() {
        return batches[turn];
    }

    /** A command was put: sends the batch if it is full. @return whether it was sent */
    boolean put() throws IOException {
        if (batches[turn].count() < batchCommands) {
            return false;
        }
        sendAndTurn();
        return true;
    }

    private void sendAndTurn() throws IOException {
        batches[turn].send(connections[turn]);
        turn ^= 1;
        batches[turn].receive(connections[turn], errors);
    }

    /** Sends what is left, and reads all replies. */
    void finish() throws IOException {
        sendAndTurn();
        sendAndTurn();
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
