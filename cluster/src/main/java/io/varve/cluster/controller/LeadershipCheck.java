package io.varve.cluster.controller;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Confirms that this controller led at some time after a request. Guarded by its monitor.
 *
 * <p>A round asks each other controller for its term. If a majority, this one included, has the term of this leader,
 * then no controller had been elected in a later term when the round began: its electors would have had that term.
 * Requests that come during a round wait for the next one, so that their number does not matter.
 */
final class LeadershipCheck {
    /** Completes a confirmation that failed: this controller may lead no more. */
    static final long NOT_CONFIRMED = -1;

    private final LongSupplier leadingTerm;
    private final List<Supplier<CompletableFuture<Long>>> peers;
    /** Those who wait for the round after the one that runs. */
    private @Nullable CompletableFuture<Long> waiting;
    private boolean isRunning;

    /**
     * @param leadingTerm the term that this controller leads; {@link #NOT_CONFIRMED} if it does not
     * @param peers each asks one other controller for its term
     */
    LeadershipCheck(LongSupplier leadingTerm, List<Supplier<CompletableFuture<Long>>> peers) {
        this.leadingTerm = leadingTerm;
        this.peers = List.copyOf(peers);
    }

    /** @return completes with the term in which this controller led after the call, or {@link #NOT_CONFIRMED} */
    CompletableFuture<Long> confirm() {
        CompletableFuture<Long> round;
        synchronized (this) {
            if (isRunning) {
                if (waiting == null) {
                    waiting = new CompletableFuture<>();
                }
                return waiting;
            }
            isRunning = true;
            round = new CompletableFuture<>();
        }
        run(round);
        return round;
    }

    private void run(CompletableFuture<Long> round) {
        long term = leadingTerm.getAsLong();
        // Dependents of the round run before the next one begins.
        CompletableFuture<Long> outcome = new CompletableFuture<>();
        CompletableFuture<Void> _ = outcome.thenAccept(confirmed -> {
            round.complete(confirmed >= 0 && leadingTerm.getAsLong() == confirmed ? confirmed : NOT_CONFIRMED);
            next();
        });
        int controllers = peers.size() + 1;
        AtomicInteger needed = new AtomicInteger(controllers / 2);
        AtomicInteger unanswered = new AtomicInteger(peers.size());
        if (term == NOT_CONFIRMED || needed.get() == 0) {
            outcome.complete(term);
            return;
        }
        for (Supplier<CompletableFuture<Long>> peer : peers) {
            CompletableFuture<Long> _ = peer.get().whenComplete((answer, failed) -> {
                if (failed == null && answer == term && needed.decrementAndGet() == 0) {
                    outcome.complete(term);
                }
                if (unanswered.decrementAndGet() == 0) {
                    outcome.complete(NOT_CONFIRMED);
                }
            });
        }
    }

    private void next() {
        CompletableFuture<Long> round;
        synchronized (this) {
            round = waiting;
            waiting = null;
            isRunning = round != null;
        }
        if (round != null) {
            run(round);
        }
    }
}
