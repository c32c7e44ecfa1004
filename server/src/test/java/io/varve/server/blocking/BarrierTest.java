package io.varve.server.blocking;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which commands run while others wait until nothing is reserved, and which are delayed. Confined to the test's
 * thread.
 */
class BarrierTest {
    private final Barrier barrier = new Barrier();
    /** Names of those that may try again, in order. */
    private final List<String> woken = new ArrayList<>();

    private BarrierWaiter reader(String name) {
        return pass(BarrierWaiter.Kind.READ, name);
    }

    private BarrierWaiter changes(String name) {
        return pass(BarrierWaiter.Kind.CHANGE, name);
    }

    private BarrierWaiter calls(String name) {
        return pass(BarrierWaiter.Kind.CALL, name);
    }

    private BarrierWaiter pass(BarrierWaiter.Kind kind, String name) {
        BarrierWaiter barrierWaiter = new BarrierWaiter(kind);
        waits(name, barrierWaiter);
        return barrierWaiter;
    }

    private void waits(String name, BarrierWaiter barrierWaiter) {
        barrierWaiter.onRetry(() -> woken.add(name));
    }

    private void takeWoken(String... names) {
        assertThat(woken).containsExactly(names);
        woken.clear();
    }

    @Test
    void readersDelayNoCommandWhileNoKeyIsReserved() {
        BarrierWaiter a = reader("a");
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.isClosed()).isFalse();
        barrier.remove(a, true);
        takeWoken();
    }

    /** An admitted EXEC ran out of memory, and finds a reservation when it re-runs. */
    @Test
    void aCommandNotAdmittedAgainIsStillWoken() {
        BarrierWaiter a = changes("a");
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.admits(a, false)).isFalse();
        waits("a", a);
        barrier.wakeAdmissible();
        takeWoken("a");
        assertThat(barrier.admits(a, true)).isTrue();
        barrier.remove(a, true);
        assertThat(barrier.isClosed()).isFalse();
    }

    @Test
    void aWriterDelaysOthersUntilItHasRun() {
        BarrierWaiter a = changes("a");
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.isClosed()).isTrue();
        BarrierWaiter b = changes("b");
        assertThat(barrier.admits(b, true)).isFalse();
        // A look does not mind a change that is under way.
        assertThat(barrier.admits(reader("c"), true)).isTrue();
        barrier.remove(a, true);
        takeWoken("b");
        assertThat(barrier.admits(b, true)).isTrue();
        barrier.remove(b, true);
        assertThat(barrier.isClosed()).isFalse();
    }

    @Test
    void readersRunConcurrently() {
        BarrierWaiter a = reader("a");
        BarrierWaiter b = reader("b");
        assertThat(barrier.admits(a, false)).isFalse();
        assertThat(barrier.admits(b, false)).isFalse();
        barrier.wakeAdmissible();
        takeWoken("a", "b");
        assertThat(barrier.admits(b, true)).isTrue();
        assertThat(barrier.isClosed()).isTrue();
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.isClosed()).isFalse();
    }

    /** The reservations of one change are checked before the next change. */
    @Test
    void thoseThatChangeRunOneAfterTheOther() {
        BarrierWaiter reader = reader("look");
        assertThat(barrier.admits(reader, false)).isFalse();
        BarrierWaiter a = changes("a");
        BarrierWaiter b = changes("b");
        assertThat(barrier.admits(a, false)).isFalse();
        assertThat(barrier.admits(b, false)).isFalse();
        barrier.wakeAdmissible();
        takeWoken("look");
        assertThat(barrier.admits(reader, true)).isTrue();
        takeWoken("a");
        assertThat(barrier.admits(a, true)).isTrue();
        waits("b once more", b);
        barrier.wakeAdmissible();
        takeWoken();
        barrier.remove(a, false);
        takeWoken();
        assertThat(barrier.admits(b, false)).isFalse();
        barrier.wakeAdmissible();
        takeWoken("b once more");
        assertThat(barrier.admits(b, true)).isTrue();
        barrier.remove(b, true);
        assertThat(barrier.isClosed()).isFalse();
    }

    /** Neither side waits for what comes later on the other. */
    @Test
    void bothSidesTakeTurns() {
        BarrierWaiter a = changes("a");
        assertThat(barrier.admits(a, false)).isFalse();
        BarrierWaiter push = calls("push");
        BarrierWaiter otherPush = calls("other push");
        barrier.delay(push);
        barrier.delay(otherPush);
        BarrierWaiter late = changes("late");
        assertThat(barrier.admits(late, false)).isFalse();
        barrier.wakeAdmissible();
        takeWoken("a");
        assertThat(barrier.admits(a, true)).isTrue();
        barrier.remove(a, true);
        takeWoken("push", "other push");
        assertThat(barrier.isClosed()).isFalse();
        // It does not matter that others arrive before the resumed ones have run.
        BarrierWaiter last = reader("last");
        assertThat(barrier.admits(last, false)).isFalse();
        assertThat(barrier.isClosed()).isFalse();
        barrier.remove(push, false);
        assertThat(barrier.isClosed()).isFalse();
        barrier.remove(otherPush, false);
        assertThat(barrier.isClosed()).isTrue();
        takeWoken();
        barrier.wakeAdmissible();
        takeWoken("late", "last");
        assertThat(barrier.admits(late, true)).isTrue();
        barrier.remove(late, true);
        assertThat(barrier.admits(last, true)).isTrue();
        assertThat(barrier.isClosed()).isFalse();
    }

    @Test
    void aRemovedCommandAdmitsOthers() {
        BarrierWaiter a = changes("a");
        BarrierWaiter b = changes("b");
        BarrierWaiter push = calls("push");
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.admits(b, true)).isFalse();
        barrier.delay(push);
        barrier.remove(push, true);
        barrier.remove(a, true);
        takeWoken("b");
        barrier.remove(b, true);
        barrier.remove(b, true);
        assertThat(barrier.isClosed()).isFalse();
        takeWoken();
    }
}
