package io.varve.cluster.controller;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.varve.cluster.protocol.ControllerGroup;
import io.varve.cluster.protocol.Query;
import io.varve.cluster.protocol.QueryCodec;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * Asks another controller for its term. Thread-safe.
 *
 * <p>After a failure it fails for a while without a request: each request to a dead process would make a connection.
 */
final class PeerTerms implements Supplier<CompletableFuture<Long>> {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final RaftClient client;
    private final RaftPeerId peer;
    private final Executor threads;
    private volatile long pauseUntilNanos = System.nanoTime();

    PeerTerms(RaftClient client, RaftPeerId peer, Executor threads) {
        this.client = client;
        this.peer = peer;
        this.threads = threads;
    }

    @Override
    public CompletableFuture<Long> get() {
        if (System.nanoTime() - pauseUntilNanos < 0) {
            return CompletableFuture.failedFuture(new IOException("controller " + peer + " has just failed"));
        }
        return CompletableFuture.supplyAsync(this::ask, threads);
    }

    private long ask() {
        try {
            return QueryCodec.decodeTerm(ControllerGroup.bytes(client.io()
                    .sendStaleRead(ControllerGroup.message(QueryCodec.encode(new Query.Term())), 0, peer)
                    .getMessage()));
        } catch (IOException failed) {
            pauseUntilNanos = System.nanoTime() + PAUSE_NANOS;
            throw new CompletionException(failed);
        }
    }
}
