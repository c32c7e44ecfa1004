package io.varve.cluster.controller;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Rounds of questions to peers that the test answers. Confined to the test's thread. */
final class LeadershipCheckTest {
    private static final long TERM = 4;

    private long leadingTerm = TERM;
    /** The questions to each peer, in their order. */
    private final List<List<CompletableFuture<Long>>> questions = new ArrayList<>();

    private LeadershipCheck check(int peers) {
        List<Supplier<CompletableFuture<Long>>> suppliers = IntStream.range(0, peers)
                .<Supplier<CompletableFuture<Long>>>mapToObj(peer -> {
                    questions.add(new ArrayList<>());
                    return () -> {
                        CompletableFuture<Long> question = new CompletableFuture<>();
                        questions.get(peer).add(question);
                        return question;
                    };
                }).toList();
        return new LeadershipCheck(() -> leadingTerm, suppliers);
    }

    private void answer(int peer, long term) {
        questions.get(peer).getLast().complete(term);
    }

    private void fail(int peer) {
        questions.get(peer).getLast().completeExceptionally(new IOException("it is dead"));
    }

    @Test
    void majority_confirms() {
        CompletableFuture<Long> confirmed = check(4).confirm();
        answer(0, TERM);
        fail(1);
        assertThat(confirmed).isNotDone();
        answer(3, TERM);
        assertThat(confirmed).isCompletedWithValue(TERM);
    }

    @Test
    void minority_doesNotConfirm() {
        CompletableFuture<Long> confirmed = check(4).confirm();
        answer(0, TERM);
        fail(1);
        fail(2);
        answer(3, TERM + 1);
        assertThat(confirmed).isCompletedWithValue(LeadershipCheck.NOT_CONFIRMED);
    }

    @Test
    void singleController_confirmsItself() {
        assertThat(check(0).confirm()).isCompletedWithValue(TERM);
        leadingTerm = LeadershipCheck.NOT_CONFIRMED;
        assertThat(check(0).confirm()).isCompletedWithValue(LeadershipCheck.NOT_CONFIRMED);
    }

    /** A peer whose answer was on its way may have voted for another one when the request came. */
    @Test
    void requestDuringARound_waitsForTheNextOne() {
        LeadershipCheck check = check(2);
        CompletableFuture<Long> first = check.confirm();
        CompletableFuture<Long> second = check.confirm();
        CompletableFuture<Long> third = check.confirm();
        answer(0, TERM);
        assertThat(first).isCompletedWithValue(TERM);
        assertThat(second).isNotDone();
        assertThat(questions.get(0)).hasSize(2);
        answer(1, TERM);
        assertThat(second).isCompletedWithValue(TERM);
        assertThat(third).isCompletedWithValue(TERM);
        assertThat(check.confirm()).isNotDone();
        assertThat(questions.get(0)).hasSize(3);
    }

    @Test
    void leaderThatSteppedDownMeanwhile_isNotConfirmed() {
        CompletableFuture<Long> confirmed = check(2).confirm();
        leadingTerm = TERM + 2;
        answer(0, TERM);
        assertThat(confirmed).isCompletedWithValue(LeadershipCheck.NOT_CONFIRMED);
    }
}
