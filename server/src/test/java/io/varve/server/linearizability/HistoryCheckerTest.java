package io.varve.server.linearizability;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

import io.varve.server.linearizability.RandomRequests.Mix;
import io.varve.server.linearizability.SimulatedClients.Flaw;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests histories for which it is known whether an order exists. Confined to the test's thread. */
class HistoryCheckerTest {
    private static final int CLIENTS = 4;
    private static final int REQUESTS = 8;
    private static final int HISTORIES = 400;

    private static Operation operation(int client, int from, int to, String reply, String... words) {
        return new Operation(client, Request.of(words), reply, from, to);
    }

    private static Operation transaction(int client, int from, int to, String reply, String... calls) {
        List<List<String>> words = new ArrayList<>();
        for (String call : calls) {
            words.add(List.of(call.split(" ")));
        }
        return new Operation(client, new Request(words, true), reply, from, to);
    }

    private static boolean isGood(Operation... history) {
        return HistoryChecker.findViolation(List.of(history)) == null;
    }

    @Test
    void overlappingOperationsMayBeInEitherOrder() {
        assertThat(isGood(operation(0, 0, 10, "+OK", "SET", "k", "1"), operation(1, 5, 7, "nil", "GET", "k"))).isTrue();
        assertThat(isGood(operation(0, 0, 10, "+OK", "SET", "k", "1"), operation(1, 5, 7, "$1", "GET", "k"))).isTrue();
        assertThat(isGood(operation(0, 0, 10, "+OK", "SET", "k", "1"), operation(1, 5, 7, "$2", "GET", "k"))).isFalse();
        assertThat(isGood()).isTrue();
    }

    @Test
    void aReadThatIsStaleIsSeen() {
        assertThat(isGood(operation(0, 0, 1, "+OK", "SET", "k", "1"), operation(1, 2, 3, "nil", "GET", "k"))).isFalse();
        // The value was visible, and then is not.
        assertThat(isGood(operation(0, 0, 10, "+OK", "SET", "k", "1"), operation(1, 2, 3, "$1", "GET", "k"),
                operation(2, 4, 5, "nil", "GET", "k"))).isFalse();
    }

    @Test
    void anUpdateThatIsLostIsSeen() {
        assertThat(isGood(operation(0, 0, 10, ":1", "INCR", "k"), operation(1, 0, 10, ":2", "INCR", "k"))).isTrue();
        assertThat(isGood(operation(0, 0, 10, ":1", "INCR", "k"), operation(1, 0, 10, ":1", "INCR", "k"))).isFalse();
        assertThat(isGood(operation(0, 0, 10, ":1", "SADD", "s", "a"), operation(1, 0, 10, ":1", "SADD", "s", "a")))
                .isFalse();
        assertThat(isGood(operation(0, 0, 1, ":1", "LPUSH", "l", "a"), operation(1, 2, 10, "$a", "LPOP", "l"),
                operation(2, 2, 10, "$a", "LPOP", "l"))).isFalse();
    }

    @Test
    void aTransactionThatIsTornIsSeen() {
        Operation write = transaction(0, 0, 10, "[+OK, +OK]", "SET a 1", "SET b 1");
        assertThat(isGood(write, transaction(1, 0, 10, "[$1, $1]", "GET a", "GET b"))).isTrue();
        assertThat(isGood(write, transaction(1, 0, 10, "[nil, nil]", "GET a", "GET b"))).isTrue();
        assertThat(isGood(write, transaction(1, 0, 10, "[$1, nil]", "GET a", "GET b"))).isFalse();
        assertThat(isGood(write, operation(1, 2, 3, "$1", "GET", "a"), operation(1, 4, 5, "nil", "GET", "b")))
                .isFalse();
        assertThat(isGood(write, operation(1, 2, 3, "nil", "GET", "b"), operation(1, 4, 5, "$1", "GET", "a"))).isTrue();
    }

    @Test
    void aWatchIsBrokenByAChangeAndByNothingElse() {
        Operation watch = operation(0, 0, 1, "+OK", "WATCH", "k");
        Operation change = operation(1, 2, 3, "+OK", "SET", "k", "1");
        assertThat(isGood(watch, change, transaction(0, 4, 5, "nil", "SET k 2"))).isTrue();
        assertThat(isGood(watch, change, transaction(0, 4, 5, "[+OK]", "SET k 2"))).isFalse();
        assertThat(isGood(watch, transaction(0, 4, 5, "nil", "SET k 2"))).isFalse();
        assertThat(isGood(watch, operation(1, 2, 3, ":0", "DEL", "k"), transaction(0, 4, 5, "[+OK]", "SET k 2")))
                .isTrue();
        assertThat(isGood(watch, change, transaction(0, 4, 5, "nil", "SET other 2"),
                operation(1, 6, 7, "+OK", "SET", "k", "3"), transaction(0, 8, 9, "[+OK]", "SET k 4"))).isTrue();
        // The change is before the watch, or behind the transaction.
        assertThat(isGood(operation(0, 2, 4, "+OK", "WATCH", "k"), operation(1, 3, 9, "+OK", "SET", "k", "1"),
                transaction(0, 5, 8, "[+OK]", "SET k 2"))).isTrue();
    }

    /** Operations that one client sends without waiting overlap, and run in order. */
    @Test
    void aClientsOwnOrderIsKept() {
        assertThat(isGood(operation(0, 0, 10, "+OK", "SET", "k", "1"), operation(0, 0, 10, "nil", "GET", "k")))
                .isFalse();
        assertThat(isGood(operation(0, 0, 10, "nil", "GET", "k"), operation(0, 0, 10, "+OK", "SET", "k", "1")))
                .isTrue();
    }

    @Test
    void unansweredOperationsMayHaveHappened() {
        Operation unanswered = operation(0, 0, 10, "+OK", "SET", "k", "1").unanswered();
        assertThat(isGood(unanswered, operation(1, 20, 30, "$1", "GET", "k"))).isTrue();
        assertThat(isGood(unanswered, operation(1, 20, 30, "nil", "GET", "k"))).isTrue();
        assertThat(isGood(unanswered, operation(1, 20, 30, "$1", "GET", "k"), operation(1, 40, 50, "nil", "GET", "k")))
                .isFalse();
    }

    @Test
    void keysThatNothingBringsTogetherAreSearchedOnTheirOwn() {
        List<Operation> history = new ArrayList<>();
        for (int i = 0; i < 3 * HistoryChecker.MAX_OPERATIONS; i++) {
            history.add(operation(i, 0, 1, "+OK", "SET", "k" + i % 6, "1"));
        }
        assertThat(HistoryChecker.parts(history)).hasSize(6);
        assertThat(HistoryChecker.findViolation(history)).isNull();
        history.add(transaction(500, 0, 1, "[nil, nil]", "GET k1", "GET k2"));
        assertThat(HistoryChecker.parts(history)).hasSize(5);
        history.add(operation(501, 0, 1, "[nil, nil]", "MGET", "k2", "k3"));
        assertThat(HistoryChecker.parts(history)).hasSize(4);
        assertThatThrownBy(() -> HistoryChecker.findViolation(history)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("64 are the most");
    }

    @ParameterizedTest
    @CsvSource({"WRONGTYPE,-WRONGTYPE,INCR l", "not a number,-ERR,INCR t", "any type is replaced,+OK,SET l 1",
            "any may be read together,'[$x, nil]',MGET t l", "moved,$a,RPOPLPUSH l l",
            "to the wrong type,-WRONGTYPE,RPOPLPUSH l t", "of none,nil,RPOPLPUSH none t", "whole,[$a],LRANGE l 0 -1"})
    void repliesDependOnWhatIsThere(String what, String reply, String words) {
        assertThat(isGood(operation(0, 0, 1, ":1", "LPUSH", "l", "a"), operation(0, 2, 3, "+OK", "SET", "t", "x"),
                operation(0, 4, 5, reply, words.split(" ")))).as(what).isTrue();
    }

    // --- at random

    private static List<Operation> random(SplittableRandom random, Flaw flaw, Mix mix) {
        RandomRequests requests = new RandomRequests(random, mix);
        List<List<Request>> scripts = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            scripts.add(requests.script(REQUESTS));
        }
        return new SimulatedClients(random, flaw).run(scripts);
    }

    @ParameterizedTest
    @EnumSource(Mix.class)
    void historiesOfACorrectStoreAreAccepted(Mix mix) {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < HISTORIES; i++) {
            List<Operation> history = random(random, Flaw.NONE, mix);
            assertThat(HistoryChecker.findViolation(history)).as("seed %d", seed).isNull();
        }
    }

    @ParameterizedTest
    @CsvSource({"LOST_UPDATE,KEYS", "STALE_READ,KEYS", "STALE_READ,WATCHES", "TORN_TRANSACTION,TRANSACTIONS",
            "TORN_TRANSACTION,FIELD_TIMES", "BLIND_EXEC,FIELD_TIMES",
            "BLIND_EXEC,WATCHES"})
    void everyFlawIsSeenAndWhatIsLeftOfItsHistoryShowsIt(Flaw flaw, Mix mix) {
        // The same histories each time: that a flaw is met in one of them is a matter of chance.
        SplittableRandom random = new SplittableRandom(1);
        int found = 0;
        for (int i = 0; i < HISTORIES; i++) {
            List<Operation> violation = HistoryChecker.findViolation(random(random, flaw, mix));
            if (violation != null) {
                found++;
                List<Operation> shrunk = HistoryShrinker.shrink(violation);
                assertThat(HistoryChecker.isLinearizable(shrunk)).isFalse();
                assertThat(shrunk).hasSizeLessThanOrEqualTo(violation.size());
                assertThat(HistoryShrinker.print(shrunk).lines()).hasSize(shrunk.size());
            }
        }
        assertThat(found).isGreaterThan(HISTORIES / 50);
    }

    @Test
    void irrelevantOperationsAreDroppedFromAHistory() {
        List<Operation> history = List.of(operation(0, 0, 1, "+OK", "SET", "k", "1"),
                operation(1, 0, 2, "nil", "GET", "k"), operation(2, 2, 3, ":0", "SREM", "s", "a"),
                operation(2, 4, 5, "$1", "GET", "k"), operation(0, 6, 7, ":2", "INCR", "k"),
                operation(1, 8, 9, "$1", "GET", "k"), operation(0, 10, 11, ":1", "DEL", "k"));
        List<Operation> violation = Objects.requireNonNull(HistoryChecker.findViolation(history));
        assertThat(HistoryShrinker.print(HistoryShrinker.shrink(violation)).lines()).containsExactly(
                "client 0       0 -      0 µs  SET k 1  ->  (any reply)",
                "client 0       0 -      0 µs  INCR k  ->  (any reply)",
                "client 1       0 -      0 µs  GET k  ->  $1");
    }
}
