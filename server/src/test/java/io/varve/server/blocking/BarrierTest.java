package io.varve.server.blocking;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Who runs while others wait until nothing is promised, and who is held up. Confined to the test's thread. */
class BarrierTest {
    private final Barrier barrier = new Barrier();
    /** Names of those that may try again, in order. */
    private final List<String> woken = new ArrayList<>();

    private Pass looks(String name) {
        return pass(Pass.Kind.LOOK, name);
    }

    private Pass changes(String name) {
        return pass(Pass.Kind.CHANGE, name);
    }

    private Pass calls(String name) {
        return pass(Pass.Kind.CALL, name);
    }

    private Pass pass(Pass.Kind kind, String name) {
        Pass pass = new Pass(kind);
        waits(name, pass);
        return pass;
    }

    private void waits(String name, Pass pass) {
        pass.again(() -> woken.add(name));
    }

    private void takeWoken(String... names) {
        assertThat(woken).containsExactly(names);
        woken.clear();
    }

    @Test
    void whileNothingIsPromisedWhoLooksHoldsNobodyUp() {
        Pass a = looks("a");
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.isDown()).isFalse();
        barrier.leave(a, true);
        takeWoken();
    }

    /** EXEC that was admitted, found no room, and finds something promised when it runs again. */
    @Test
    void whoWasAdmittedAndIsNotTheSecondTimeIsWokenAllTheSame() {
        Pass a = changes("a");
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.admits(a, false)).isFalse();
        waits("a", a);
        barrier.nothingIsPromised();
        takeWoken("a");
        assertThat(barrier.admits(a, true)).isTrue();
        barrier.leave(a, true);
        assertThat(barrier.isDown()).isFalse();
    }

    @Test
    void whoChangesHoldsOthersUpUntilItHas() {
        Pass a = changes("a");
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.isDown()).isTrue();
        Pass b = changes("b");
        assertThat(barrier.admits(b, true)).isFalse();
        // A look does not mind a change that is under way.
        assertThat(barrier.admits(looks("c"), true)).isTrue();
        barrier.leave(a, true);
        takeWoken("b");
        assertThat(barrier.admits(b, true)).isTrue();
        barrier.leave(b, true);
        assertThat(barrier.isDown()).isFalse();
    }

    @Test
    void thoseThatLookRunBesideEachOther() {
        Pass a = looks("a");
        Pass b = looks("b");
        assertThat(barrier.admits(a, false)).isFalse();
        assertThat(barrier.admits(b, false)).isFalse();
        barrier.nothingIsPromised();
        takeWoken("a", "b");
        assertThat(barrier.admits(b, true)).isTrue();
        assertThat(barrier.isDown()).isTrue();
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.isDown()).isFalse();
    }

    /** What one promises is looked at before the next one changes anything. */
    @Test
    void thoseThatChangeRunOneAfterTheOther() {
        Pass look = looks("look");
        assertThat(barrier.admits(look, false)).isFalse();
        Pass a = changes("a");
        Pass b = changes("b");
        assertThat(barrier.admits(a, false)).isFalse();
        assertThat(barrier.admits(b, false)).isFalse();
        barrier.nothingIsPromised();
        takeWoken("look");
        assertThat(barrier.admits(look, true)).isTrue();
        takeWoken("a");
        assertThat(barrier.admits(a, true)).isTrue();
        waits("b once more", b);
        barrier.nothingIsPromised();
        takeWoken();
        barrier.leave(a, false);
        takeWoken();
        assertThat(barrier.admits(b, false)).isFalse();
        barrier.nothingIsPromised();
        takeWoken("b once more");
        assertThat(barrier.admits(b, true)).isTrue();
        barrier.leave(b, true);
        assertThat(barrier.isDown()).isFalse();
    }

    /** Neither side waits for what comes later on the other. */
    @Test
    void bothSidesTakeTurns() {
        Pass a = changes("a");
        assertThat(barrier.admits(a, false)).isFalse();
        Pass push = calls("push");
        Pass otherPush = calls("other push");
        barrier.holdUp(push);
        barrier.holdUp(otherPush);
        Pass late = changes("late");
        assertThat(barrier.admits(late, false)).isFalse();
        barrier.nothingIsPromised();
        takeWoken("a");
        assertThat(barrier.admits(a, true)).isTrue();
        barrier.leave(a, true);
        takeWoken("push", "other push");
        assertThat(barrier.isDown()).isFalse();
        // It does not matter that others come before those that were let go have run.
        Pass last = looks("last");
        assertThat(barrier.admits(last, false)).isFalse();
        assertThat(barrier.isDown()).isFalse();
        barrier.leave(push, false);
        assertThat(barrier.isDown()).isFalse();
        barrier.leave(otherPush, false);
        assertThat(barrier.isDown()).isTrue();
        takeWoken();
        barrier.nothingIsPromised();
        takeWoken("late", "last");
        assertThat(barrier.admits(late, true)).isTrue();
        barrier.leave(late, true);
        assertThat(barrier.admits(last, true)).isTrue();
        assertThat(barrier.isDown()).isFalse();
    }

    @Test
    void whoGoesMakesRoomForOthers() {
        Pass a = changes("a");
        Pass b = changes("b");
        Pass push = calls("push");
        assertThat(barrier.admits(a, true)).isTrue();
        assertThat(barrier.admits(b, true)).isFalse();
        barrier.holdUp(push);
        barrier.leave(push, true);
        barrier.leave(a, true);
        takeWoken("b");
        barrier.leave(b, true);
        barrier.leave(b, true);
        assertThat(barrier.isDown()).isFalse();
        takeWoken();
    }
}
